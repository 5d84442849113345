//! Whether the service can take work.

use schemars::JsonSchema;
use serde::Serialize;

/// It can, and this is who works.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Ready")]
pub struct Readiness {
    /// Always `ready`: a service that is not ready answers with an error.
    pub state: &'static str,
    /// Jobs that vendors work on.
    pub at_vendors: usize,
    /// The operator's worker accounts; strangers of a public service are shown none.
    pub backends: Vec<WorkerReadiness>,
    /// How far the machine's wall clock, or the database's if that is further off, is ahead of the time the service goes by,
    /// in milliseconds; more than 2,000 is worth a look.
    pub clock_ahead_ms: i64,
}

/// Summary of a worker account.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReadyWorker")]
pub struct WorkerReadiness {
    /// Back end and account, as operators named them.
    pub name: String,
    /// Running jobs.
    pub busy: usize,
    /// Slots.
    pub slots: usize,
    /// Its condition, such as `well` or `paused`.
    pub condition: String,
}
