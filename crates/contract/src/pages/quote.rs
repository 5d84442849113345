//! What a call would cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::body::Fields;
use crate::fields::{List, Text};
use crate::groups::GroupRule;
use crate::models::PriceLine;
use crate::quota::Quota;

/// A submit that is asked about and not made.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Question")]
pub struct QuoteRequest {
    /// The operation to price, `family.operation`.
    pub operation: Text<100>,
    /// The body of the submit.
    #[serde(default)]
    pub request: Fields,
}

/// Choices that are priced together.
const MOST_CHOICES: usize = 40;

/// A submit to be priced, with alternatives.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "PriceQuestion")]
pub struct PriceQuestion {
    /// The operation to price, `family.operation`.
    pub operation: Text<100>,
    /// The body of the submit.
    #[serde(default)]
    pub request: Fields,
    /// Fields that replace those of the body; each alternative is priced as well.
    #[serde(default)]
    pub choices: List<Fields, 0, MOST_CHOICES>,
    /// Other submits that are priced at the same moment.
    #[serde(default)]
    pub others: List<QuoteRequest, 0, MOST_CHOICES>,
}

/// Price that a submit of the same body would reserve.
#[derive(Serialize, JsonSchema)]
pub struct Quote {
    /// The operation that was priced, `family.operation`.
    pub operation: String,
    /// The quota that a submit would hold.
    pub quota: Quota,
    /// The group of the account, unless it is the one that all begin in and has no rule for this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The rule of that group that counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<GroupRule>,
    /// Lines of the price, for a model with its own price and for accounts of a group.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<PriceLine>,
    /// Price of each alternative, in order; null for one that would be rejected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Option<Quota>>,
    /// Price of each further submit, in order; null for one that would be rejected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Option<Quota>>,
}
