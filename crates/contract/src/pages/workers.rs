//! A worker account: a credential at a back end, and what may be asked of it. One shape for the configuration, the
//! operator, callers, the documents and the store.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;

use super::cost::{Amount, CostSum};
use super::credential::Credential;
use super::hours::Hours;
use super::name::Name;
use super::patch::Patch;
use super::stats::Outcome;
use crate::body::{self, Fields};
use crate::fields::{Count, Flag, Text, words};
use crate::job::Speed;
use crate::quota::Quota;
use crate::refusal::Refusal;

/// Starts an hour, jobs at once, weight: no vendor takes more, and every start of an hour is remembered.
const MOST: i64 = 100_000;

words! {
    /// Whether a worker account is given work.
    pub WorkerState = Active {
        /// It is given work.
        Active "active",
        /// It ends what it has and gets nothing new.
        Draining "draining",
        /// It is given no work at all.
        Paused "paused",
    }
}

/// A worker account as its owner describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorkerSpec {
    /// Name given by its owner.
    pub name: Name,
    /// Its credential at the vendor; sealed at rest and never shown.
    #[serde(skip_serializing)]
    pub credential: Option<Credential>,
    /// Jobs it works on at once, on all nodes together.
    pub concurrency: Count<0, MOST, 3>,
    /// Starts in any minute; 0 for no limit.
    pub per_minute: Count<0, MOST, 0>,
    /// Starts in any hour; 0 for no limit.
    pub per_hour: Count<0, MOST, 0>,
    /// Questions about running jobs in a minute, on each node; 0 for no limit.
    pub polls_per_minute: Count<0, MOST, 600>,
    /// Its share of the work among its neighbours.
    pub weight: Count<1, MOST, 1>,
    /// The models it may serve; empty for all.
    pub models: Vec<String>,
    /// The speeds it may serve; empty for all.
    pub modes: Vec<Speed>,
    /// Its work hours; empty for always.
    pub hours: Hours,
    /// The most it may spend, in quota; null for no limit.
    #[serde(deserialize_with = "cap")]
    pub spend_cap: Option<Quota>,
    /// The most its vendor may say that it took, in what the vendor counts in; null for no limit. It closes on what is
    /// reported: jobs in hand may exceed it.
    pub cost_cap: Option<Amount>,
    /// Whether it is given work.
    pub state: WorkerState,
}

fn cap<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Quota>, D::Error> {
    let cap = Option::<Quota>::deserialize(deserializer)?;
    if cap.is_some_and(|cap| cap < Quota::ZERO) {
        return Err(de::Error::custom("must not be negative"));
    }
    Ok(cap)
}

/// What can be begun anew at a worker account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Resets {
    /// Resets its spending, in quota and in the vendor's currency.
    pub clear_spent: Flag<false>,
    /// Clears its faults, such as a ban.
    pub clear_health: Flag<false>,
}

/// Body that creates or changes a worker account of the operator; omitted fields stay.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorkerBody {
    /// What it shall be.
    #[serde(flatten)]
    pub spec: WorkerSpec,
    /// What is begun anew besides.
    #[serde(flatten)]
    pub resets: Resets,
}

/// The body that registers a worker account of a caller's.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NewOwnWorker {
    /// The vendor; it cannot be changed later.
    pub vendor: Text<100>,
    /// Where the vendor is.
    pub base_url: Text<2048>,
    /// The vendor's own settings.
    #[serde(default)]
    pub settings: Fields,
    /// The worker account to make there.
    #[serde(flatten)]
    pub worker: WorkerBody,
}

/// What is said about a worker account.
#[derive(Clone, Debug, Default)]
pub struct WorkerPatch {
    /// What it shall be.
    pub spec: Patch<WorkerSpec>,
    /// What is begun anew besides.
    pub resets: Resets,
}

impl WorkerPatch {
    /// What a body says.
    pub fn read(fields: Fields) -> Result<Self, Refusal> {
        let of_resets = |(name, value): (&String, &Value)| {
            let known = matches!(name.as_str(), "clear_spent" | "clear_health");
            (known && !value.is_null() && value != "").then(|| (name.clone(), value.clone()))
        };
        let resets = fields.iter().filter_map(of_resets).collect();
        Ok(Self {
            resets: body::read_stored(resets)?,
            spec: Patch::new(fields),
        })
    }
}

words! {
    /// How a worker account is.
    pub Condition = Well {
        /// Nothing speaks against it.
        Well "well",
        /// It was over its rate and rests.
        Cooling "cooling",
        /// It has no money or credits left.
        OutOfCredit "out_of_credit",
        /// It is banned, disabled, or its credential is wrong.
        Banned "banned",
        /// It failed too often in a row; one job at a time may show that it is well again.
        Open "open",
        /// Its owner has it end what it has.
        Draining "draining",
        /// Its owner gives it no work.
        Paused "paused",
        /// It cannot be set up as it is described.
        Misconfigured "misconfigured",
        /// It is given work, and neither a probe nor a job has shown yet that its vendor takes any.
        Untested "untested",
        /// The back end has no worker account.
        NoAccount "no_account",
    }
}

/// How a worker account is, and why.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Health {
    /// Its condition, which says whether it is given work.
    pub condition: Condition,
    /// Until when, in milliseconds since 1970, where that is known.
    pub until_ms: Option<i64>,
    /// The latest faults, newest first.
    pub last_errors: Vec<Outcome>,
    /// The latest outcomes, newest first.
    pub recent: Vec<Outcome>,
    /// Remaining balance at the vendor, if a probe returned it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balance: Option<Balance>,
}

/// Remaining balance of a worker account at its vendor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Balance {
    /// How much, and in what.
    #[serde(flatten)]
    pub left: CostSum,
    /// When the vendor said so, in milliseconds since 1970.
    pub at_ms: i64,
}

/// A worker account as its owner sees it; whether it has a credential shows, the credential never does.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Worker")]
pub struct WorkerView {
    /// Identifier of the worker account.
    pub id: String,
    /// Identifier of its back end; absent for a caller's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_id: Option<String>,
    /// What its owner set.
    #[serde(flatten)]
    pub spec: WorkerSpec,
    /// Whether it has a credential.
    pub has_credential: bool,
    /// Spending in quota.
    pub spent: Quota,
    /// Costs reported by its vendor, by currency or unit.
    pub costs: Vec<CostSum>,
    /// When it was made.
    pub created_at: String,
    /// Running jobs.
    pub busy: usize,
    /// Whether it is given work now.
    pub usable: bool,
    /// Seconds a job took of late, on average.
    pub average_execute: Option<f64>,
    /// Health and recent errors.
    pub health: Health,
}

/// A caller's own worker account, and where it is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "OwnWorker")]
pub struct OwnWorkerView {
    /// The account as its owner sees it.
    #[serde(flatten)]
    pub worker: WorkerView,
    /// Name of the vendor it is at.
    pub vendor: String,
    /// Where the vendor is.
    pub base_url: String,
    /// The vendor's own settings.
    pub settings: Fields,
}
