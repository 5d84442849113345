//! The time of day, where a vendor's interface needs it: in signed tokens, and against how long it keeps its files.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970 by the machine's wall clock.
#[expect(
    clippy::disallowed_methods,
    reason = "vendors go by the real time, whatever clock the service goes by"
)]
pub(crate) fn seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs())
}
