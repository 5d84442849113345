//! What happened to a job: the attempts at it, and the tries of its callback.

use atelier_contract::pages::cost::{Amount, CostSum};
use atelier_contract::time::timestamp;
use atelier_engine::records::{AttemptRow, Delivery, DeliveryTry};
use schemars::JsonSchema;
use serde::Serialize;

use super::callbacks::CallbackLog;

/// History of a job.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Trail {
    /// Attempts, oldest first; none for the embedded engine.
    pub(crate) attempts: Vec<TrailAttempt>,
    /// When the receiver accepted its callback.
    pub(crate) delivered_at: Option<String>,
    /// Its callback, if there is one.
    pub(crate) callback: Option<CallbackLog>,
}

impl Trail {
    /// The attempts at a job and its callback; only the `whole` trail says who was asked and what they said.
    pub(crate) fn new(
        attempts: Vec<AttemptRow>,
        callback: Option<(Delivery, Vec<DeliveryTry>)>,
        whole: bool,
    ) -> Self {
        let taken = |one: &&DeliveryTry| {
            one.status
                .is_some_and(|status| (200..300).contains(&status))
        };
        let log = callback.as_ref().map(|(_, tries)| tries);
        let delivered = log.and_then(|tries| tries.iter().rev().find(taken));
        let attempts = attempts.into_iter();
        Self {
            delivered_at: delivered.map(|one| timestamp(one.time_ms)),
            attempts: attempts.map(|one| TrailAttempt::new(one, whole)).collect(),
            callback: callback.map(|(delivery, tries)| CallbackLog::new(delivery, tries)),
        }
    }
}

/// One attempt at a job.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrailAttempt {
    /// When it began, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) began_at: String,
    /// When the vendor accepted it.
    pub(crate) submitted_at: Option<String>,
    /// When it ended; null while it runs.
    pub(crate) ended_at: Option<String>,
    /// How it is or how it ended.
    pub(crate) state: String,
    /// Cause; shown to operators only, like the worker account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    /// The back end and worker account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) worker: Option<String>,
    /// Cost reported by the vendor; shown to operators only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<CostSum>,
}

impl TrailAttempt {
    fn new(attempt: AttemptRow, whole: bool) -> Self {
        let cost = attempt.cost.map(|micros| CostSum {
            currency: attempt.currency.unwrap_or_default(),
            amount: Amount::from_micros(micros),
        });
        Self {
            began_at: timestamp(attempt.began_ms),
            submitted_at: attempt.submitted_ms.map(timestamp),
            ended_at: attempt.ended_ms.map(timestamp),
            state: attempt.state,
            why: attempt.why.filter(|_| whole),
            worker: whole.then_some(attempt.worker),
            cost: cost.filter(|_| whole),
        }
    }
}
