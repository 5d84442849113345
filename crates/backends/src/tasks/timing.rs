//! How long vendors of tasks are waited for, as an operator may set it: bounded in one place.

use std::time::Duration;

/// The pause between two questions.
pub(crate) fn pause(given: Option<u64>, usual: u64) -> Duration {
    Duration::from_secs(given.unwrap_or(usual).clamp(1, 300))
}

/// How long one answer may take.
pub(crate) fn patience(given: Option<u64>, usual: u64) -> Duration {
    Duration::from_secs(given.unwrap_or(usual).clamp(1, 3600))
}
