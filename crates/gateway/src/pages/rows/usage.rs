//! What an account consumed in a period, as its owner sees it.

use atelier_contract::Quota;
use schemars::JsonSchema;
use serde::Serialize;

/// Consumption in a period.
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
    /// The same grouped by `by`, largest first, at most 1,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) groups: Option<Vec<GroupUsage>>,
}

/// Consumption of one kind.
#[derive(Serialize, JsonSchema)]
pub(crate) struct GroupUsage {
    /// Its name; of a key the one that its owner gave it, null for what says nothing of it.
    pub(crate) name: Option<String>,
    /// Its identifier, to filter by.
    pub(crate) id: Option<String>,
    /// Quota that its jobs consumed.
    pub(crate) quota: Quota,
    /// Its jobs that succeeded.
    pub(crate) jobs: i64,
}

/// Consumption of one family.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FamilyUsage {
    /// Name of the family.
    pub(crate) family: String,
    /// Jobs of the family that succeeded.
    pub(crate) jobs: i64,
    /// Quota that they consumed.
    pub(crate) quota: Quota,
}

/// Consumption of one day.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DayUsage {
    /// The day in UTC, `YYYY-MM-DD`.
    pub(crate) day: String,
    /// Jobs that succeeded on this day.
    pub(crate) jobs: i64,
    /// Quota that they consumed.
    pub(crate) quota: Quota,
}
