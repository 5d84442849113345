//! What a call would cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::body::Fields;
use crate::fields::Text;
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

/// What a submit of the same body would hold.
#[derive(Serialize, JsonSchema)]
pub struct Quote {
    /// The operation that was priced, `family.operation`.
    pub operation: String,
    /// The quota that a submit would hold.
    pub quota: Quota,
    /// What it is made of, for a model with a price of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<PriceLine>,
}
