//! Time that stands still while real connections are served, and passes only when a test says so: what is kept for half a
//! second is kept for as long as the machine needs.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// How often a condition is looked at, and how often at most.
const LOOK: Duration = Duration::from_millis(10);
const LOOKS: usize = 3000;

/// Stands still until it is dropped; for a test with one thread.
pub(crate) struct StillTime {
    _until_dropped: Sender<()>,
}

impl StillTime {
    pub(crate) fn begin() -> Self {
        let (until_dropped, dropped) = channel();
        // While blocking work is under way, the runtime does not skip what it would wait for.
        tokio::task::spawn_blocking(move || {
            let _ = dropped.recv();
        });
        tokio::time::pause();
        Self {
            _until_dropped: until_dropped,
        }
    }

    pub(crate) async fn pass(&self, time: Duration) {
        tokio::time::advance(time).await;
    }

    /// Waits in the time of the world, in which connections are closed and threads run.
    pub(crate) async fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        for _ in 0..LOOKS {
            if is_so() {
                return;
            }
            let slept = tokio::task::spawn_blocking(|| std::thread::sleep(LOOK)).await;
            slept.expect("it slept");
        }
        panic!("{what}");
    }
}
