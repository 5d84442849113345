//! Whether back ends still do what is expected of them: one cheap job for each of their routes, and what came of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cost::{Amount, CostSum};
use crate::fields::{Count, Flag, words};

words! {
    /// What came of the job of a route.
    pub VerifyOutcome {
        /// It was made as expected.
        Good "good",
        /// The vendor answered otherwise than expected.
        Changed "changed",
        /// It was not made, for a reason that the vendor names.
        Failed "failed",
        /// It was not ordered.
        Skipped "skipped",
        /// It would be ordered.
        Planned "planned",
    }
}

/// The body that has the routes of a back end tried.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VerifyBody {
    /// The most that the jobs may take together, in dollars, by the unit costs of the operator; null for 1.
    pub spend: Option<Amount>,
    /// Seconds that one job may take.
    pub seconds: Count<1, 300, 300>,
    /// The only route to try; null for all.
    pub route: Option<String>,
    /// Whether nothing is ordered, and the routes are only named.
    pub plan: Flag<false>,
}

/// Results of the routes of a back end.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// Name of the back end.
    pub backend: String,
    /// Name of the vendor.
    pub vendor: String,
    /// Finding of the probe; null if the vendor is healthy.
    pub problem: Option<String>,
    /// Upper bound of the jobs' cost in dollars: expected or reported, whichever is more.
    pub spent: Amount,
    /// The routes.
    pub routes: Vec<VerifiedRoute>,
}

/// Result of one route.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedRoute {
    /// The route: a model of the catalogue, or an operation that the back end maps itself.
    pub route: String,
    /// The operation of its job.
    pub operation: String,
    /// Result.
    pub outcome: VerifyOutcome,
    /// Expected cost of the job in dollars; null if unknown.
    pub expected_usd: Option<Amount>,
    /// Cost, if known.
    pub cost: Option<CostSum>,
    /// How long it took, in milliseconds.
    pub took_ms: Option<i64>,
    /// Why it is not good.
    pub about: Option<String>,
}
