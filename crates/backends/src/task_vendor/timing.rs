//! How long vendors of tasks are waited for, as an operator may set it: bounded in one place.

use std::time::Duration;

/// The pause between two questions.
pub(crate) fn poll_interval(given: Option<u64>, usual: u64) -> Duration {
    Duration::from_secs(given.unwrap_or(usual).clamp(1, 300))
}

/// How long one answer may take.
pub(crate) fn call_timeout(given: Option<u64>, usual: u64) -> Duration {
    Duration::from_secs(given.unwrap_or(usual).clamp(1, 3600))
}
