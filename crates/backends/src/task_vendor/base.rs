//! The parts that every task vendor is built from: the connection, and how long the vendor is waited for.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::http::VendorHttp;

/// The longest pause between two polls.
const MOST_POLL_SECONDS: u64 = 300;
/// The longest time that one call may take.
const MOST_CALL_SECONDS: u64 = 3600;

/// The waiting times that an operator may set. Flattened into the settings of a vendor, so its fields have no comments: they
/// would be shown in every form.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct TimingSettings {
    poll_seconds: Option<u64>,
    timeout_seconds: Option<u64>,
}

impl TimingSettings {
    /// For a vendor that answers within the call, so that nothing is polled.
    pub(crate) fn of_call(timeout_seconds: Option<u64>) -> Self {
        Self {
            poll_seconds: None,
            timeout_seconds,
        }
    }
}

/// A vendor's waiting times where the operator sets none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsualTiming {
    pub(crate) poll_seconds: u64,
    pub(crate) timeout_seconds: u64,
}

/// What every task vendor holds.
pub(crate) struct TaskBase {
    /// The connection, with the worker account's credential.
    pub(crate) http: VendorHttp,
    /// The pause between two polls.
    pub(crate) poll_interval: Duration,
    /// How long a call that starts work may take.
    pub(crate) call_timeout: Duration,
}

impl TaskBase {
    /// Takes the operator's times or the vendor's usual ones, within bounds.
    pub(crate) fn new(http: VendorHttp, timing: TimingSettings, usual: UsualTiming) -> Self {
        let poll = timing.poll_seconds.unwrap_or(usual.poll_seconds);
        let call = timing.timeout_seconds.unwrap_or(usual.timeout_seconds);
        Self {
            http,
            poll_interval: Duration::from_secs(poll.clamp(1, MOST_POLL_SECONDS)),
            call_timeout: Duration::from_secs(call.clamp(1, MOST_CALL_SECONDS)),
        }
    }
}
