//! Callbacks and their tries.

use atelier_contract::time::timestamp;
use atelier_engine::records::{Delivery, DeliveryTry};
use schemars::JsonSchema;
use serde::Serialize;

/// A callback and how far its delivery is.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Callback")]
pub(crate) struct CallbackRow {
    /// Identifier; also the `webhook-id`.
    pub(crate) id: String,
    /// The job it tells of.
    pub(crate) job_id: String,
    /// URL of the receiver.
    pub(crate) url: String,
    /// `due`, `sending`, `delivered`, `exhausted` or `stopped`.
    pub(crate) status: String,
    /// When it came to be owed, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) created_at: String,
    /// How many tries were made.
    pub(crate) attempts: i64,
    /// When the next try is due, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) next_attempt_at: Option<String>,
    /// HTTP status of the last try.
    pub(crate) last_status: Option<i64>,
    /// Last error.
    pub(crate) last_error: Option<String>,
}

impl From<Delivery> for CallbackRow {
    fn from(delivery: Delivery) -> Self {
        Self {
            created_at: timestamp(delivery.created_ms),
            next_attempt_at: delivery.next_attempt_ms().map(timestamp),
            id: delivery.id,
            job_id: delivery.job_id,
            url: delivery.url,
            status: delivery.state,
            attempts: delivery.attempts,
            last_status: delivery.last_status,
            last_error: delivery.last_error,
        }
    }
}

/// A callback with every try made.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CallbackLog {
    /// The callback.
    #[serde(flatten)]
    pub(crate) callback: CallbackRow,
    /// Every try, in order.
    pub(crate) log: Vec<CallbackTry>,
}

impl CallbackLog {
    /// A callback and its tries, oldest first.
    pub(crate) fn new(delivery: Delivery, tries: Vec<DeliveryTry>) -> Self {
        Self {
            callback: delivery.into(),
            log: tries.into_iter().map(CallbackTry::from).collect(),
        }
    }
}

/// One try of a callback.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallbackTry {
    /// The number of the try.
    pub(crate) attempt: i64,
    /// When it ended, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) time: String,
    /// The HTTP status, when there was one.
    pub(crate) status: Option<i64>,
    /// Error, if it failed.
    pub(crate) error: Option<String>,
    /// How long it took.
    pub(crate) duration_ms: i64,
    /// The start of the receiver's answer.
    pub(crate) answer: String,
}

impl From<DeliveryTry> for CallbackTry {
    fn from(one: DeliveryTry) -> Self {
        Self {
            attempt: one.attempt,
            time: timestamp(one.time_ms),
            status: one.status,
            error: one.error,
            duration_ms: one.duration_ms,
            answer: one.answer_start,
        }
    }
}
