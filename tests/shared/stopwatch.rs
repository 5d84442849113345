//! Time as this machine was given it. Where the host takes the processors away for seconds, a limit of seconds says nothing
//! about what is tested.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// How often it is looked whether the machine runs.
const TICK: Duration = Duration::from_millis(10);
/// A thread that is run so much later than it asked for was kept waiting by the machine, not by a busy test.
const STALL: Duration = Duration::from_millis(60);
/// What is measured passes through more than one thread in a row, each of which has to be run.
const IN_A_ROW: u32 = 2;
/// One part of so many counts in any case, so that whoever waits for a limit comes to it.
const AT_LEAST: u32 = 4;

/// Says how long something took, without what the machine took for itself.
pub(crate) struct Stopwatch {
    begun: Instant,
    late_us: Arc<AtomicU64>,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        let late_us: Arc<AtomicU64> = Arc::default();
        let watched = Arc::downgrade(&late_us);
        std::thread::spawn(move || {
            while let Some(late_us) = watched.upgrade() {
                let before = Instant::now();
                std::thread::sleep(TICK);
                let late = before.elapsed().saturating_sub(TICK);
                if late > STALL {
                    late_us.fetch_add(late.as_micros() as u64, Ordering::Relaxed);
                }
            }
        });
        Self {
            begun: Instant::now(),
            late_us,
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        let late = Duration::from_micros(self.late_us.load(Ordering::Relaxed));
        let wall = self.begun.elapsed();
        wall.saturating_sub(late * IN_A_ROW).max(wall / AT_LEAST)
    }
}
