//! Callbacks and how they went.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::{Moment, Text};

/// A callback.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Callback")]
pub struct CallbackRow {
    /// Identifier; also the `webhook-id`.
    pub id: String,
    /// The job it tells of.
    pub job_id: String,
    /// Where it goes.
    pub url: String,
    /// `due`, `sending`, `delivered`, `exhausted` or `stopped`.
    pub status: String,
    /// Tries made.
    pub attempts: i64,
    /// When the next try is due, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub next_attempt_at: Option<String>,
    /// HTTP status of the last try.
    pub last_status: Option<i64>,
    /// What went wrong last.
    pub last_error: Option<String>,
}

/// A callback with every try made.
#[derive(Serialize, JsonSchema)]
pub struct CallbackLog {
    /// The callback.
    #[serde(flatten)]
    pub callback: CallbackRow,
    /// Its tries.
    pub log: Vec<CallbackTry>,
}

/// One try of a callback.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallbackTry {
    /// The number of the try.
    pub attempt: i64,
    /// When it ended.
    pub time: String,
    /// The HTTP status, when there was one.
    pub status: Option<i64>,
    /// What went wrong.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: i64,
    /// The start of the receiver's answer.
    pub answer: String,
}

/// Since when callbacks that were given up are sent again.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub struct RedeliverSince {
    /// The first moment.
    pub since: Moment,
}

/// How many callbacks are sent again.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Redelivered")]
pub struct RedeliveryCount {
    /// Their number.
    pub redelivered: u64,
}

/// Where a sample goes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(rename = "SampleWish")]
pub struct SampleRequest {
    /// The receiver's address.
    pub url: Text<2048>,
}

/// A sample callback as it was sent, and what came back.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sample {
    /// The headers it was signed with.
    pub headers: BTreeMap<String, String>,
    /// The body, byte for byte as it was signed.
    pub body: String,
    /// Whether the receiver took it.
    pub delivered: bool,
    /// The HTTP status, when there was one.
    pub status: Option<u16>,
    /// What went wrong.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: u64,
    /// The start of the receiver's answer.
    pub answer: String,
}

/// What callbacks are signed with.
#[derive(Serialize, JsonSchema)]
pub struct CallbackSecret {
    /// The secret, `whsec_…`.
    pub secret: String,
}
