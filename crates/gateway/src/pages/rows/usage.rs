//! What an account consumed in a period, as its owner sees it.

use atelier_contract::Quota;
use atelier_contract::fields::Moment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The period that usage is summed up for.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(crate) struct UsageQuery {
    /// First moment; 30 days before the last one when absent.
    #[serde(default)]
    pub(crate) from: Option<Moment>,
    /// Last moment; now when absent.
    #[serde(default)]
    pub(crate) to: Option<Moment>,
}

/// What was consumed in a period.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Usage {
    /// First moment of the period.
    pub(crate) from: String,
    /// Last moment of the period.
    pub(crate) to: String,
    /// Quota consumed in the period.
    pub(crate) quota: Quota,
    /// Jobs that succeeded in the period.
    pub(crate) jobs: i64,
    /// The same by family.
    pub(crate) by_family: Vec<FamilyUsage>,
    /// The same by day.
    pub(crate) by_day: Vec<DayUsage>,
}

/// What was consumed of one family.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FamilyUsage {
    /// Name of the family.
    pub(crate) family: String,
    /// Jobs of the family that succeeded.
    pub(crate) jobs: i64,
    /// Quota that they consumed.
    pub(crate) quota: Quota,
}

/// What was consumed on one day.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DayUsage {
    /// The day in UTC, `YYYY-MM-DD`.
    pub(crate) day: String,
    /// Jobs that succeeded on this day.
    pub(crate) jobs: i64,
    /// Quota that they consumed.
    pub(crate) quota: Quota,
}
