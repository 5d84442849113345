//! When the writer last committed, for how long it has been at what it does now, and what its commits were like.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use atelier_contract::metrics::{HistogramVec, table};
use tokio::time::Instant;

/// What others see of the writer.
#[derive(Debug)]
pub(crate) struct WriterStatus {
    beat: Mutex<WriterActivity>,
    durations: HistogramVec,
    changes: HistogramVec,
}

#[derive(Clone, Copy, Debug)]
struct WriterActivity {
    committed: Option<Instant>,
    busy_since: Option<Instant>,
}

impl Default for WriterStatus {
    fn default() -> Self {
        Self {
            beat: Mutex::new(WriterActivity {
                committed: None,
                busy_since: None,
            }),
            durations: HistogramVec::new(&table::COMMIT_DURATION, [vec![], vec![]]),
            changes: HistogramVec::new(&table::COMMIT_CHANGES, [vec![], vec![]]),
        }
    }
}

impl WriterStatus {
    fn with<T>(&self, act: impl FnOnce(&mut WriterActivity) -> T) -> T {
        act(&mut self.beat.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A batch is begun.
    pub(crate) fn begin(&self) {
        self.with(|beat| beat.busy_since = Some(Instant::now()));
    }

    pub(crate) fn committed(&self) {
        self.with(|beat| beat.committed = Some(Instant::now()));
    }

    /// The batch of so many changes is over, whatever became of it.
    pub(crate) fn end(&self, changes: usize) {
        if let Some(since) = self.with(|beat| beat.busy_since.take()) {
            let took = since.elapsed().as_micros() as u64;
            self.durations.at("", "").observe(took);
            self.changes.at("", "").observe(changes as u64);
        }
    }

    /// How long commits took, and how many changes each had.
    pub(crate) fn series(&self) -> [&HistogramVec; 2] {
        [&self.durations, &self.changes]
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
