//! Time as a parameter: the system's clock in production, a hand-turned one in tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where the time comes from.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine's clock.
    System,
    /// A clock that only moves when told to.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// A hand-turned clock that starts at a time.
    pub fn manual(start_ms: i64) -> Self {
        Self::Manual(Arc::new(AtomicI64::new(start_ms)))
    }

    /// Milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        match self {
            Self::System => system_now_ms(),
            Self::Manual(now) => now.load(Ordering::SeqCst),
        }
    }

    /// Moves a hand-turned clock; the machine's own is left alone.
    pub fn advance(&self, milliseconds: i64) {
        if let Self::Manual(now) = self {
            now.fetch_add(milliseconds, Ordering::SeqCst);
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the machine's clock"
)]
fn system_now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as i64)
}
