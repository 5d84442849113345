//! Sending callbacks again, samples and signing secrets.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::{Moment, Text};

/// Since when callbacks that were given up are sent again.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub struct RedeliverSince {
    /// Callbacks given up from this moment on are sent again.
    pub since: Moment,
}

/// How many callbacks are sent again.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Redelivered")]
pub struct RedeliveryCount {
    /// How many callbacks are due again.
    pub redelivered: u64,
}

/// Where a sample goes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(rename = "SampleWish")]
pub struct SampleRequest {
    /// URL that gets the sample.
    pub url: Text<2048>,
}

/// A sample callback as sent, and the response.
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
    /// Error, if it failed.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: u64,
    /// The start of the receiver's answer.
    pub answer: String,
}

/// Secrets that sign callbacks.
#[derive(Serialize, JsonSchema)]
pub struct CallbackSecret {
    /// The signing secret, `whsec_` and base64.
    pub secret: String,
}
