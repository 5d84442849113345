//! Threads for CPU work, bounded: so many pieces at once, so much memory at once, never on the async threads.

use std::any::Any;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::backend::Fault;

/// Threads and memory that all pieces of work share.
pub(crate) struct Threads {
    places: Arc<Semaphore>,
    megabytes: Arc<Semaphore>,
    most_megabytes: u32,
}

impl Threads {
    pub(crate) fn new(threads: usize, megabytes: u32) -> Self {
        let most_megabytes = megabytes.max(1);
        Self {
            places: Arc::new(Semaphore::new(threads.max(1))),
            megabytes: Arc::new(Semaphore::new(most_megabytes as usize)),
            most_megabytes,
        }
    }

    /// Runs a piece of work that needs so much memory, once there is room for it; a panic in it becomes a fault.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        megabytes: u32,
        work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let closed = |_| Fault::ours("the threads are closed");
        // A piece larger than the whole budget still runs, alone.
        let megabytes = megabytes.clamp(1, self.most_megabytes);
        let memory = self.megabytes.clone().acquire_many_owned(megabytes);
        let memory = memory.await.map_err(closed)?;
        let thread = self.places.clone().acquire_owned().await.map_err(closed)?;
        // The permits travel with the work: they stay taken when the waiting side is dropped and the work is not.
        let running = spawn_blocking(move || {
            let result = work();
            drop((memory, thread));
            result
        });
        match running.await {
            Ok(result) => result,
            Err(error) => Err(match error.try_into_panic() {
                Ok(panic) => Fault::ours(format!("panicked: {}", panic_text(panic.as_ref()))),
                Err(error) => Fault::ours(error.to_string()),
            }),
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("without a word")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::backend::Class;

    #[tokio::test]
    async fn a_panic_becomes_our_fault_and_frees_its_room() {
        let threads = Threads::new(1, 10);
        for _ in 0..2 {
            let fault = threads
                .run(10, || -> Result<(), Fault> { panic!("bad brush") })
                .await
                .expect_err("a fault");
            assert_eq!(fault.class, Class::Bug);
            assert!(fault.detail.contains("bad brush"), "{}", fault.detail);
            assert!(!fault.job_message().contains("bad brush"));
        }
    }

    /// Six pieces of half the memory each: never more than two at once, though there are four threads.
    #[tokio::test]
    async fn memory_bounds_how_many_run_at_once() {
        let threads = Threads::new(4, 100);
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let pieces = (0..6).map(|_| {
            let (now, most) = (now.clone(), most.clone());
            threads.run(50, move || {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(20));
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            })
        });
        for done in futures_util::future::join_all(pieces).await {
            done.expect("the piece works");
        }
        assert_eq!(most.load(Ordering::SeqCst), 2);
    }
}
