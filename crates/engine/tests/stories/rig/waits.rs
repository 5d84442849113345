//! Waiting: for rest, for an end, for places that are taken.

use std::time::Duration;

use atelier_contract::JobId;
use atelier_engine::Caller;

use super::Rig;

/// A thread hands over to the next in a moment in which neither runs, so one look is not enough.
const QUIET_LOOKS: u32 = 6;

/// Whether another thread of this process runs, waits for a processor or waits for the disk. A machine that is busy with others
/// makes this take longer, not wrong.
fn others_run() -> bool {
    let own = std::fs::read_link("/proc/thread-self").expect("Linux");
    let threads = std::fs::read_dir("/proc/self/task").expect("Linux");
    threads.flatten().any(|thread| {
        // One that has ended meanwhile does nothing.
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        own.file_name() != Some(thread.file_name().as_os_str()) && state.starts_with(['R', 'D'])
    })
}

impl Rig {
    /// Works until nothing moves any more but the clock.
    pub(crate) async fn rest(&self) {
        for _ in 0..3 {
            self.engine.runner().run_step().await.expect("a step");
            self.clock.advance(100);
            self.engine.runner().poll_step();
            self.until_quiet().await;
        }
    }

    /// Waits until nothing in this process has anything to do: every task has ended or waits, for the vendor or for the clock.
    pub(crate) async fn until_quiet(&self) {
        let mut quiet = 0;
        for _ in 0..20_000 {
            // The tasks of this thread have their turn before it sleeps.
            tokio::time::sleep(Duration::from_millis(1)).await;
            quiet = if others_run() { 0 } else { quiet + 1 };
            if quiet == QUIET_LOOKS {
                return;
            }
        }
        panic!("the process did not come to rest");
    }

    /// Lets time pass until a job is final.
    pub(crate) async fn until_final(&self, caller: &Caller, id: &JobId) {
        for _ in 0..2_000 {
            if self.state(caller, id).await.is_final() {
                return;
            }
            self.engine.runner().run_step().await.expect("a step");
            self.engine.runner().poll_step();
            self.engine.runner().sweep_step().await.expect("swept");
            self.until_quiet().await;
            self.clock.advance(2_000);
            // Leases are renewed as long as the node lives.
            self.engine.renew_step().await.expect("renewed");
        }
        panic!("the job never ended");
    }

    /// Lets everything happen that can happen without time passing.
    pub(crate) async fn settle_down(&self) {
        let mut quiet = 0;
        for _ in 0..15_000 {
            let leased = self.engine.runner().run_step().await.expect("a step");
            if self.engine.runner().poll_step().0 == 0 {
                self.clock.advance(1);
            }
            // A slot may become free between the step and the look, so one quiet look is not rest.
            quiet = if leased == 0 && self.busy().await == 0 && self.in_hand().await == 0 {
                quiet + 1
            } else {
                0
            };
            if quiet == 3 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        panic!("the service did not come to rest");
    }

    /// Waits until a number of slots are busy.
    pub(crate) async fn until_busy(&self, slots: u64) {
        for _ in 0..15_000 {
            self.engine.runner().run_step().await.expect("a step");
            if self.busy().await == slots {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        panic!("{slots} slots never became busy");
    }

    pub(crate) async fn busy(&self) -> u64 {
        let stats = self.engine.admin().reports().stats().await.expect("stats");
        stats.backends[0].busy as u64
    }

    /// How many jobs are in hand, with a place or waiting for the disk.
    async fn in_hand(&self) -> u64 {
        let stats = self.engine.admin().reports().stats().await.expect("stats");
        stats.in_hand as u64
    }
}
