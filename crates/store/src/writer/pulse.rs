//! When the writer last committed, and for how long it has been at what it does now.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// What others see of the writer.
#[derive(Debug)]
pub(crate) struct Pulse(Mutex<Beat>);

#[derive(Clone, Copy, Debug)]
struct Beat {
    committed: Option<Instant>,
    busy_since: Option<Instant>,
}

impl Default for Pulse {
    fn default() -> Self {
        Self(Mutex::new(Beat {
            committed: None,
            busy_since: None,
        }))
    }
}

impl Pulse {
    fn with<T>(&self, act: impl FnOnce(&mut Beat) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A batch is begun.
    pub(crate) fn begin(&self) {
        self.with(|beat| beat.busy_since = Some(Instant::now()));
    }

    /// A batch stands.
    pub(crate) fn committed(&self) {
        self.with(|beat| beat.committed = Some(Instant::now()));
    }

    /// The batch is over, whatever became of it.
    pub(crate) fn end(&self) {
        self.with(|beat| beat.busy_since = None);
    }

    /// Whether something was committed within this time.
    pub(crate) fn is_fresh(&self, span: Duration) -> bool {
        let committed = self.with(|beat| beat.committed);
        committed.is_some_and(|at| at.elapsed() < span)
    }

    /// Whether the writer has been at one batch for longer than this.
    pub(crate) fn is_stuck(&self, span: Duration) -> bool {
        let since = self.with(|beat| beat.busy_since);
        since.is_some_and(|at| at.elapsed() > span)
    }
}
