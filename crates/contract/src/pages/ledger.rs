//! Movements of quota, and what they come to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::Moment;
use crate::quota::Quota;

/// A movement of quota.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LedgerRow {
    /// Identifier.
    pub id: String,
    /// When it happened, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub time: String,
    /// `grant`, `hold`, `capture`, `release` or `adjust`.
    pub kind: String,
    /// How much.
    pub amount: Quota,
    /// The job it belongs to.
    pub job_id: Option<String>,
    /// Balance afterwards.
    pub balance: Quota,
    /// Held quota afterwards.
    pub freeze_balance: Quota,
    /// Why.
    pub reason: String,
    /// Whose quota; operators see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
}

/// The period that usage is summed up for.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub struct UsageQuery {
    /// First moment; 30 days before the last one when absent.
    #[serde(default)]
    pub from: Option<Moment>,
    /// Last moment; now when absent.
    #[serde(default)]
    pub to: Option<Moment>,
}

/// What was consumed in a period.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// First moment.
    pub from: String,
    /// Last moment.
    pub to: String,
    /// Quota consumed.
    pub quota: Quota,
    /// Jobs that succeeded.
    pub jobs: i64,
    /// The same by family.
    pub by_family: Vec<FamilyUsage>,
    /// The same by day.
    pub by_day: Vec<DayUsage>,
}

/// What was consumed of one family.
#[derive(Serialize, JsonSchema)]
pub struct FamilyUsage {
    /// The family.
    pub family: String,
    /// Jobs that succeeded.
    pub jobs: i64,
    /// Quota consumed.
    pub quota: Quota,
}

/// What was consumed on one day.
#[derive(Serialize, JsonSchema)]
pub struct DayUsage {
    /// `YYYY-MM-DD`.
    pub day: String,
    /// Jobs that succeeded.
    pub jobs: i64,
    /// Quota consumed.
    pub quota: Quota,
}
