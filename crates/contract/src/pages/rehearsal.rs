//! Rehearsals: what back ends would have made of requests that others answered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cost::Amount;
use crate::fields::words;

words! {
    /// Whether a back end gets copies of requests.
    pub RehearsalState = Running {
        /// It gets its share of them.
        Running "running",
        /// Its copies have cost what they may.
        CapSpent "cap_spent",
        /// Its vendor was slow, and it is left alone for a while.
        Slow "slow",
        /// It is switched off.
        Off "off",
    }
}

/// A back end that is rehearsed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Rehearsal {
    /// Identifier of the back end.
    pub id: String,
    /// What the operator calls it.
    pub name: String,
    /// The share of requests that it gets a copy of.
    pub share: f64,
    /// What its copies may cost, in dollars.
    pub cap: Amount,
    /// What they have cost, in dollars, with those under way.
    pub spent: Amount,
    /// Whether it gets copies.
    pub state: RehearsalState,
    /// Until when a slow vendor is left alone.
    pub paused_until: Option<String>,
    /// When its first copy was made.
    pub since: Option<String>,
    /// Copies that were compared.
    pub calls: i64,
    /// Those that came out alike: both with as many results of the same size, or both with none.
    pub alike: i64,
    /// Copies that this node did not make, by reason.
    pub missed: RehearsalMissed,
    /// What was compared, by operation and model.
    pub sums: Vec<RehearsalSum>,
    /// The latest calls that did not come out alike, newest first.
    pub latest: Vec<RehearsedCall>,
}

/// Copies that were not made, since this node was started.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct RehearsalMissed {
    /// Too many waited.
    pub waiting: u64,
    /// No worker account took work.
    pub no_account: u64,
    /// Nobody says what they cost: enter a unit cost.
    pub no_cost: u64,
    /// The cap was spent.
    pub cap_spent: u64,
    /// The vendor was slow.
    pub slow: u64,
    /// Their inputs were gone.
    pub no_inputs: u64,
}

/// What was compared of an operation with a model.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RehearsalSum {
    /// The operation.
    pub operation: String,
    /// The model; empty where the operation has none.
    pub model: String,
    /// Copies that were compared.
    pub calls: i64,
    /// Those that came out alike.
    pub alike: i64,
    /// Those of which one succeeded and the other failed.
    pub status: i64,
    /// Those that made more or fewer results.
    pub count: i64,
    /// Those whose results have another size.
    pub size: i64,
    /// How callers were answered.
    pub answered: RehearsalSide,
    /// How the copies ended.
    pub copied: RehearsalSide,
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct RehearsalSide {
    /// Calls that succeeded.
    pub succeeded: i64,
    /// What those cost of which it is known, in dollars.
    pub cost: Amount,
    /// Of how many it is known.
    pub costed: i64,
    /// Seconds that they took in the mean.
    pub seconds: f64,
    /// Seconds that the slowest took.
    pub slowest: f64,
}

/// A call and its copy that did not come out alike.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RehearsedCall {
    /// The job of the caller.
    pub job_id: String,
    /// Its operation.
    pub operation: String,
    /// The model; empty where the operation has none.
    pub model: String,
    /// When they were compared, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub at: String,
    /// What is different: `status`, `count`, `size`.
    pub differs: Vec<String>,
    /// How the caller was answered.
    pub answered: RehearsedSide,
    /// How the copy ended.
    pub copied: RehearsedSide,
    /// What the vendor of the copy said, where it failed.
    pub said: Option<String>,
}

/// How a call ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RehearsedSide {
    /// The back end; empty of the embedded engine.
    pub backend: String,
    /// Whether it succeeded.
    pub succeeded: bool,
    /// How many results came.
    pub count: u32,
    /// Width and height of the first result.
    pub size: Option<String>,
    /// What it cost, in dollars.
    pub cost: Option<Amount>,
    /// Seconds that it took.
    pub seconds: f64,
}
