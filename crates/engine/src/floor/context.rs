//! What work on a job needs: the house, the vault, the pool and the register of jobs in hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Semaphore;

use crate::floor::pool::Pool;
use crate::floor::register::Register;
use crate::house::House;
use crate::vault::Vault;

/// What the steps of a job's work share.
pub(crate) struct Context {
    pub(crate) house: Arc<House>,
    pub(crate) vault: Arc<Vault>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) register: Arc<Register>,
    /// Room for results that wait for the disk after their place was given back.
    pub(crate) endings: Semaphore,
    /// Whether anybody waits for a place.
    pub(crate) line: Line,
}

/// Whether jobs wait for a place, as far as this node knows.
pub(crate) struct Line {
    /// How many have come to wait.
    came: AtomicU64,
    /// How many had come when a look found that nobody waits.
    nobody_at: AtomicU64,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            came: AtomicU64::new(0),
            nobody_at: AtomicU64::new(u64::MAX),
        }
    }
}

impl Line {
    /// A job has come to wait.
    pub(crate) fn one_more(&self) {
        self.came.fetch_add(1, Ordering::AcqRel);
    }

    /// A look begins; what it found is noted with what this gives.
    pub(crate) fn look(&self) -> u64 {
        self.came.load(Ordering::Acquire)
    }

    /// What a look found.
    pub(crate) fn looked(&self, look: u64, somebody: bool) {
        let nobody_at = if somebody { u64::MAX } else { look };
        self.nobody_at.store(nobody_at, Ordering::Release);
    }

    /// Whether the last look found nobody, and nobody has come since.
    pub(crate) fn is_empty(&self) -> bool {
        self.nobody_at.load(Ordering::Acquire) == self.came.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::Line;

    #[test]
    fn the_line_is_empty_only_when_nobody_came_after_the_look_that_found_nobody() {
        let line = Line::default();
        assert!(!line.is_empty(), "nobody has looked");
        let look = line.look();
        line.looked(look, false);
        assert!(line.is_empty());
        line.one_more();
        assert!(!line.is_empty());
        let look = line.look();
        line.one_more();
        line.looked(look, false);
        assert!(!line.is_empty(), "one came during the look");
        let look = line.look();
        line.looked(look, true);
        assert!(!line.is_empty());
    }
}
