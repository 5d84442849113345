//! What the service is doing: the operator's view, and the numbers behind `/metrics`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::cost::Amount;
use crate::quota::Quota;

/// Current work of the service.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Jobs that wait for a start.
    pub waiting: i64,
    /// Jobs that run on any node.
    pub running: i64,
    /// Callbacks that are due.
    pub callbacks_due: i64,
    /// Jobs that this node works on.
    pub in_hand: usize,
    /// Jobs of this node that a vendor works on.
    pub at_vendors: usize,
    /// Waiting jobs by where they may run; `any` is every back end of the operator's.
    pub waiting_by_lane: BTreeMap<String, i64>,
    /// Every worker account that this node can use.
    pub backends: Vec<WorkerStats>,
    /// Revenue and cost of the last 30 days, for each model at each back end of the operator.
    pub margins: Vec<Margin>,
    /// How long this node has been up.
    pub up_ms: i64,
    /// Resources shared by accounts on this node, with their largest holders.
    pub shares: Vec<ShareStats>,
}

/// Revenue and cost of one model at one back end.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Margin {
    /// Name of the vendor.
    pub vendor: String,
    /// Name of the back end; null if it was removed.
    pub backend: Option<String>,
    /// Name of the family.
    pub family: String,
    /// Name of the model; null where there is none.
    pub model: Option<String>,
    /// Jobs that the vendor finished with a result.
    pub jobs: i64,
    /// Quota charged to callers.
    pub quota: Quota,
    /// The vendor's currency or unit; null if the cost is unknown.
    pub currency: Option<String>,
    /// The vendor's charge, including failed attempts.
    pub cost: Option<Amount>,
    /// Cost per unit of quota.
    pub cost_per_quota: Option<f64>,
    /// Margin in dollars; needs a cost in dollars and `prices.quota_usd`.
    pub margin_usd: Option<f64>,
}

/// Something that accounts share.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShareStats {
    /// Name of the thing that is shared.
    pub of: &'static str,
    /// How much there is of it in all.
    pub whole: u64,
    /// The most that one may have.
    pub share: u64,
    /// How much of it is in use.
    pub taken: u64,
    /// How many wait for some.
    pub waiting: usize,
    /// Its largest holders: accounts, or IP addresses whose key is not known yet.
    pub holders: Vec<ShareHolder>,
}

/// A holder of a shared resource.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ShareHolder {
    /// An account, or an IP address whose key is not known yet.
    pub who: String,
    /// How much of it is theirs.
    pub amount: u64,
    /// The most that it may have.
    pub share: u64,
}

/// State of a worker account.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerStats {
    /// Name given by its owner.
    pub name: String,
    /// Name of its back end.
    pub backend: String,
    /// Whether it is a caller's own.
    pub custody: bool,
    /// Running jobs.
    pub busy: usize,
    /// Slots.
    pub slots: usize,
    /// `well`, `untested`, `cooling`, `out_of_credit`, `banned`, `open`, `draining` or `paused`.
    pub condition: String,
    /// Whether it may be given a job.
    pub usable: bool,
    /// Seconds a job took of late, on average.
    pub average_execute: Option<f64>,
    /// Recent errors, latest first.
    pub last_errors: Vec<Outcome>,
}

/// How one piece of work at a worker account went.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Outcome {
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// `good`, or the class of the error.
    pub outcome: String,
    /// Message.
    pub detail: String,
    /// How long a good one took.
    pub took_ms: Option<i64>,
}

/// A node that shares the store.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeRow {
    /// Identifier of the node.
    pub id: String,
    /// Whether it is the one that answers.
    #[serde(rename = "self")]
    pub is_self: bool,
    /// When it started, in milliseconds since 1970.
    pub started_ms: i64,
    /// When it was last seen.
    pub seen_ms: i64,
    /// The version it runs; empty when it does not say.
    pub version: String,
    /// Jobs it works on.
    pub in_hand: usize,
    /// How far its machine's wall clock, or the database's if that is further off, is ahead of the time it goes by, in
    /// milliseconds.
    pub clock_ahead_ms: i64,
}
