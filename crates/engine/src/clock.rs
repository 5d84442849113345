//! Time as a parameter: the clock of the shared database, the machine's own where there is none, a hand-turned one in tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where the time comes from.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine's clock.
    System,
    /// The clock of the database that nodes share: what they must agree on goes by it.
    Shared(atelier_store::Store),
    /// A clock that only moves when told to.
    Manual(Arc<AtomicI64>),
    /// A clock that goes with the runtime's own time, which is virtual in a simulation, and can be set forward or back.
    Running(Arc<AtomicI64>, tokio::time::Instant),
}

impl Clock {
    /// The clock for a store: the database's where nodes share one.
    pub fn of(store: &atelier_store::Store) -> Self {
        if store.is_postgres() {
            Self::Shared(store.clone())
        } else {
            Self::System
        }
    }

    /// How far the machine's clock is ahead of the one the nodes share.
    pub(crate) fn ahead_ms(&self) -> i64 {
        match self {
            Self::Shared(_) => system_now_ms() - self.now_ms(),
            Self::System | Self::Manual(_) | Self::Running(..) => 0,
        }
    }

    /// A hand-turned clock that starts at a time.
    pub fn manual(start_ms: i64) -> Self {
        Self::Manual(Arc::new(AtomicI64::new(start_ms)))
    }

    /// A clock that starts at a time and goes with the runtime.
    pub fn running(start_ms: i64) -> Self {
        let start_ms = Arc::new(AtomicI64::new(start_ms));
        Self::Running(start_ms, tokio::time::Instant::now())
    }

    /// Milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        match self {
            Self::System => system_now_ms(),
            Self::Shared(store) => store.database_now_ms().unwrap_or_else(system_now_ms),
            Self::Manual(now) => now.load(Ordering::SeqCst),
            Self::Running(start_ms, since) => {
                start_ms.load(Ordering::SeqCst) + since.elapsed().as_millis() as i64
            }
        }
    }

    /// Moves a clock of tests; the machine's own is left alone.
    pub fn advance(&self, milliseconds: i64) {
        if let Self::Manual(now) | Self::Running(now, _) = self {
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
