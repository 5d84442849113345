//! The operator's first page: is everything well?

use schemars::JsonSchema;
use serde::Serialize;

use super::stats::Margin;
use crate::quota::Quota;

/// The last hour at a glance.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// The moment it was looked at, in milliseconds since 1970.
    pub now_ms: i64,
    /// Jobs that ended, by minute, the oldest first; the last one is not over yet.
    pub minutes: Vec<MinuteRow>,
    /// How long the jobs of the hour took from acceptance to the end, all but one of twenty at most.
    pub p95_ms: Option<i64>,
    /// How jobs went, by family.
    pub families: Vec<FamilyRow>,
    /// Outcomes of jobs by worker account.
    pub makers: Vec<MakerRow>,
    /// Whether there was more in the hour than was looked at.
    pub more: bool,
    /// Quota that unfinished jobs hold.
    pub held: Quota,
    /// How long the oldest waiting job has waited, in milliseconds.
    pub oldest_waiting_ms: Option<i64>,
    /// How long the oldest owed callback has been owed.
    pub oldest_callback_ms: Option<i64>,
    /// Receivers that owed callbacks have failed at.
    pub failing_receivers: i64,
    /// How long callbacks took, half of them at most.
    pub callback_p50_ms: Option<i64>,
    /// How long callbacks took, all but one of a hundred at most.
    pub callback_p99_ms: Option<i64>,
    /// Models sold at a loss in this clock hour and the one before, largest loss first.
    pub losses: Vec<Margin>,
    /// Models made in these hours at a cost that is unknown in dollars.
    pub unknown_costs: Vec<Margin>,
    /// Last act of an operator.
    pub last_act: Option<LastAct>,
    /// Bytes left where results are kept; nothing for a bucket.
    pub disk_free_bytes: Option<u64>,
    /// Bytes of the whole disk where results are kept.
    pub disk_bytes: Option<u64>,
    /// Settings that the start of this node warned of.
    pub warnings: Vec<StartWarning>,
}

/// A setting that the service works with, although not as its operator may think.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartWarning {
    /// Path of the setting, such as `base_url`.
    pub setting: String,
    /// What is wrong.
    pub cause: String,
    /// What to do.
    pub remedy: String,
}

/// How the jobs that ended in one minute went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MinuteRow {
    /// How many jobs succeeded.
    pub succeeded: u32,
    /// How many jobs failed.
    pub failed: u32,
    /// How long they took from acceptance to the end, all but one of twenty at most.
    pub p95_ms: Option<i64>,
}

/// How the jobs of a family went.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FamilyRow {
    /// Name of the family, as in paths.
    pub family: String,
    /// Name of the family, as people read it.
    pub title: String,
    /// Jobs that ended in the hour.
    pub jobs: u32,
    /// How many of them failed.
    pub failed: u32,
    /// Half of them took at most so long.
    pub p50_ms: Option<i64>,
    /// All but one of twenty took at most so long.
    pub p95_ms: Option<i64>,
    /// Quota they were charged.
    pub quota: Quota,
}

/// How the jobs of a worker account went.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MakerRow {
    /// The worker account, `back end/account`; `embedded` for the embedded engine.
    pub name: String,
    /// The families it made something of.
    pub families: Vec<String>,
    /// Jobs that ended in the hour.
    pub jobs: u32,
    /// How many of them failed.
    pub failed: u32,
    /// Half of them took at most so long.
    pub p50_ms: Option<i64>,
    /// Quota they were charged.
    pub quota: Quota,
}

/// Last act of an operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastAct {
    /// When, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub time: String,
    /// Name of the operator.
    pub actor: String,
    /// What was done, such as `account.create`.
    pub action: String,
}
