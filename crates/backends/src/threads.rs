//! Threads for CPU work, bounded: so many pieces at once, so much memory at once, never on the async threads. Whoever
//! has most of it waits for whoever has least.

use std::any::Any;
use std::sync::Arc;

use crate::backend::Fault;
use crate::heavy::{self, Whose};
use crate::shares::Shares;

/// Threads and memory that all pieces of work share.
pub(crate) struct Threads {
    places: Arc<Shares>,
    megabytes: Arc<Shares>,
}

impl Threads {
    pub(crate) fn new(threads: usize, megabytes: u32) -> Self {
        Self {
            // One more than one account may have, so that nobody waits until somebody else's piece is done.
            places: Shares::fixed("threads", threads as u64 + 1, threads as u64),
            megabytes: Shares::elastic("memory", u64::from(megabytes)),
        }
    }

    /// Runs a piece of somebody's work that needs so much memory, once there is room for it and it is their turn; a
    /// panic in it becomes a fault.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        whose: &Arc<str>,
        megabytes: u32,
        work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        // A piece larger than the whole budget still runs, alone.
        let megabytes = u64::from(megabytes.max(1));
        // Memory comes last: whoever still waits for a thread keeps none from others.
        let thread = self.places.take(whose, 1).await;
        let memory = self.megabytes.take(whose, megabytes).await;
        // What was taken travels with the work: it stays taken when the waiting side is dropped and the work is not.
        let whose = if self.places.has_more(whose) {
            Whose::Crowd
        } else {
            Whose::Single
        };
        let running = heavy::spawn(whose, move || {
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
                .run(&"a".into(), 10, || -> Result<(), Fault> {
                    panic!("bad brush")
                })
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
        let (threads, whose) = (Threads::new(4, 100), &"a".into());
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let pieces = (0..6).map(|_| {
            let (now, most) = (now.clone(), most.clone());
            threads.run(whose, 50, move || {
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

    /// Whoever has nothing begins at once, also while another account has a piece on every thread and waits for more.
    #[tokio::test]
    async fn one_account_never_has_all_places() {
        let threads = Arc::new(Threads::new(2, 100));
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let ended = Arc::new(std::sync::Mutex::new(ended));
        let mut crowd = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let (threads, ended) = (Arc::clone(&threads), Arc::clone(&ended));
            crowd.spawn(async move {
                let work = move || {
                    let _ = ended.lock().expect("no panic").recv();
                    Ok(())
                };
                threads.run(&"crowd".into(), 1, work).await
            });
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        let whose: Arc<str> = "single".into();
        assert!(threads.places.has_more(&"crowd".into()));
        assert!(!threads.places.has_more(&whose));
        let single = threads.run(&whose, 1, || Ok(()));
        let single = tokio::time::timeout(Duration::from_secs(5), single).await;
        assert!(single.is_ok_and(|done| done.is_ok()));
        drop(end);
        let done = crowd.join_all().await;
        assert!(done.iter().all(Result::is_ok));
    }

    /// A crowd of one account's pieces waits; the next thread is another account's all the same.
    #[tokio::test]
    async fn a_crowd_of_one_account_delays_another_by_one_piece() {
        let threads = Threads::new(1, 100);
        let done = Arc::new(std::sync::Mutex::new(Vec::new()));
        let piece = |whose: &'static str| {
            let (threads, done) = (&threads, Arc::clone(&done));
            async move {
                let work = move || {
                    std::thread::sleep(Duration::from_millis(5));
                    done.lock().expect("no panic").push(whose);
                    Ok(())
                };
                threads.run(&whose.into(), 1, work).await.expect("it works");
            }
        };
        let crowd = futures_util::future::join_all((0..20).map(|_| piece("crowd")));
        let single = async {
            tokio::time::sleep(Duration::from_millis(12)).await;
            piece("single").await;
        };
        tokio::join!(crowd, single);
        let done = done.lock().expect("no panic");
        let place = done.iter().position(|who| *who == "single");
        assert!(place.is_some_and(|place| place < 6), "{done:?}");
    }
}
