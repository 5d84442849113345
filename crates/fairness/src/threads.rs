//! Threads for CPU work, bounded: so many pieces at once, so much memory at once, never on the async threads. Whoever
//! has most of it waits for whoever has least, and short work has a thread and memory besides that long work cannot take.

use std::any::Any;
use std::sync::Arc;

use crate::background::{self, ThreadPriority};
use crate::share::{FairPermit, FairSemaphore};

/// Threads besides, for short work alone.
const SHORT_THREADS: u64 = 1;
/// The part of the memory that short work has for itself: one in so many.
const SHORT_MEMORY: u64 = 8;

/// Why a piece of work has no result: it panicked, or its runtime ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskFailure(String);

impl std::fmt::Display for TaskFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TaskFailure {}

/// Threads and memory that all pieces of work share.
pub struct Threads {
    places: WorkCapacity,
    megabytes: WorkCapacity,
    /// How many pieces of short work each holder has.
    short: Arc<FairSemaphore>,
}

/// What all share, and what short work has besides.
struct WorkCapacity {
    all: Arc<FairSemaphore>,
    short: Arc<FairSemaphore>,
}

/// What a piece of somebody's work needs.
pub struct CpuTask<'a> {
    /// The holder whose share it counts against.
    pub whose: &'a Arc<str>,
    /// Whether it is long beside other work of the same holder.
    pub long: bool,
    /// The memory it takes; a piece larger than the whole budget still runs, alone.
    pub megabytes: u32,
    /// Its thread, if it has one already.
    pub thread: Option<FairPermit>,
}

impl WorkCapacity {
    fn try_take(&self, whose: &Arc<str>, long: bool) -> Option<FairPermit> {
        let taken = self.all.try_take(whose, 1).ok();
        taken.or_else(|| {
            (!long)
                .then(|| self.short.try_take(whose, 1).ok())
                .flatten()
        })
    }

    /// Waits for a part of either; long work has no choice.
    async fn take(&self, whose: &Arc<str>, long: bool, amount: u64) -> FairPermit {
        if long {
            return self.all.take(whose, amount).await;
        }
        tokio::select! {
            biased;
            part = self.all.take(whose, amount) => part,
            part = self.short.take(whose, amount) => part,
        }
    }
}

impl Threads {
    /// So many threads and one more for short work, and so much memory.
    pub fn new(threads: usize, megabytes: u32) -> Self {
        let (threads, megabytes) = (threads as u64, u64::from(megabytes));
        let besides = megabytes / SHORT_MEMORY;
        Self {
            places: WorkCapacity {
                // One more than one holder may have, so that nobody waits until somebody else's piece is done.
                all: FairSemaphore::fixed("threads", threads + 1, threads),
                short: FairSemaphore::elastic("threads for short work", SHORT_THREADS),
            },
            megabytes: WorkCapacity {
                all: FairSemaphore::elastic("memory", megabytes - besides),
                short: FairSemaphore::elastic("memory for short work", besides),
            },
            short: FairSemaphore::elastic("short work", u64::MAX),
        }
    }

    /// A thread for a piece of somebody's work, if one is free and nobody waits for it.
    pub fn reserve(&self, whose: &Arc<str>, long: bool) -> Option<FairPermit> {
        self.places.try_take(whose, long)
    }

    /// Runs a piece of somebody's work, once there is room for it and it is their turn. `begin` is called right before; a
    /// panic in the work is a failure of it alone.
    pub async fn run<T: Send + 'static>(
        &self,
        piece: CpuTask<'_>,
        begin: impl FnOnce(),
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, TaskFailure> {
        let CpuTask {
            whose,
            long,
            megabytes,
            thread,
        } = piece;
        let megabytes = u64::from(megabytes.max(1));
        // There is no end to what is only counted.
        let counted = (!long).then(|| self.short.try_take(whose, 1).ok());
        // Memory comes last: whoever still waits for a thread keeps none from others.
        let thread = match thread {
            Some(thread) => thread,
            None => self.places.take(whose, long, 1).await,
        };
        let memory = self.megabytes.take(whose, long, megabytes).await;
        begin();
        let kind = match (long, self.is_one_of_many(whose, long)) {
            (false, false) => ThreadPriority::Single,
            (true, false) => ThreadPriority::SingleLong,
            (false, true) => ThreadPriority::Crowd,
            (true, true) => ThreadPriority::CrowdLong,
        };
        // What was taken travels with the work: it stays taken when the waiting side is dropped and the work is not.
        let running = background::spawn(kind, move || {
            let result = work();
            drop((memory, thread, counted));
            result
        });
        running.await.map_err(|error| {
            TaskFailure(match error.try_into_panic() {
                Ok(panic) => format!("panicked: {}", panic_text(panic.as_ref())),
                Err(error) => error.to_string(),
            })
        })
    }

    /// Whether a holder has more work of a kind under way, or waits for it: its short work is none the slower for long work.
    fn is_one_of_many(&self, whose: &Arc<str>, long: bool) -> bool {
        if long {
            self.places.all.has_more(whose)
        } else {
            self.short.held(whose) > 1
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

    /// A piece of somebody's long work.
    async fn run<T: Send + 'static>(
        threads: &Threads,
        whose: &str,
        megabytes: u32,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, TaskFailure> {
        let piece = CpuTask {
            whose: &whose.into(),
            long: true,
            megabytes,
            thread: None,
        };
        threads.run(piece, || (), work).await
    }

    #[tokio::test]
    async fn a_panic_is_a_failure_and_frees_its_room() {
        fn bad() {
            panic!("bad brush")
        }
        let threads = Threads::new(1, 10);
        for _ in 0..2 {
            let failure = run(&threads, "a", 10, bad).await.expect_err("a failure");
            assert_eq!(failure.to_string(), "panicked: bad brush");
        }
    }

    /// Pieces of one account that work until they are told to end.
    struct Crowd {
        end: std::sync::mpsc::Sender<()>,
        pieces: tokio::task::JoinSet<Result<(), TaskFailure>>,
    }

    impl Crowd {
        /// Four pieces on two threads: two work, and two wait.
        async fn begin(threads: &Arc<Threads>, whose: &'static str, megabytes: u32) -> Self {
            let (end, ended) = std::sync::mpsc::channel::<()>();
            let ended = Arc::new(std::sync::Mutex::new(ended));
            let mut pieces = tokio::task::JoinSet::new();
            for _ in 0..4 {
                let (threads, ended) = (Arc::clone(threads), Arc::clone(&ended));
                pieces.spawn(async move {
                    let work = move || {
                        let _ = ended.lock().expect("no panic").recv();
                    };
                    run(&threads, whose, megabytes, work).await
                });
            }
            while threads.places.all.usage().waiting < 2 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Self { end, pieces }
        }

        async fn end(self) {
            drop(self.end);
            let done = self.pieces.join_all().await;
            assert!(done.iter().all(Result::is_ok));
        }
    }

    /// Six pieces of half the memory each: never more than two at once, though there are four threads.
    #[tokio::test]
    async fn memory_bounds_how_many_run_at_once() {
        let threads = Threads::new(4, 115);
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let both = Arc::new(std::sync::Barrier::new(2));
        let pieces = (0..6).map(|_| {
            let (now, most, both) = (now.clone(), most.clone(), Arc::clone(&both));
            run(&threads, "a", 50, move || {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                both.wait();
                // A third would show itself.
                std::thread::sleep(Duration::from_millis(20));
                now.fetch_sub(1, Ordering::SeqCst);
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
        let crowd = Crowd::begin(&threads, "crowd", 1).await;
        let whose: Arc<str> = "single".into();
        assert!(threads.is_one_of_many(&"crowd".into(), true));
        assert!(!threads.is_one_of_many(&whose, true));
        let single = run(&threads, &whose, 1, || ());
        let single = tokio::time::timeout(Duration::from_secs(30), single).await;
        assert!(single.is_ok_and(|done| done.is_ok()));
        crowd.end().await;
    }

    /// A crowd of one account's pieces waits; the next thread is another account's all the same.
    #[tokio::test]
    async fn a_crowd_of_one_account_delays_another_by_one_piece() {
        let threads = Threads::new(1, 100);
        let began = std::cell::RefCell::new(Vec::new());
        let piece = |whose: &'static str| {
            let (threads, began) = (&threads, &began);
            async move {
                let piece = CpuTask {
                    whose: &whose.into(),
                    long: true,
                    megabytes: 1,
                    thread: None,
                };
                let work = || std::thread::sleep(Duration::from_millis(5));
                let done = threads.run(piece, || began.borrow_mut().push(whose), work);
                done.await.expect("it works");
            }
        };
        let crowd = futures_util::future::join_all((0..20).map(|_| piece("crowd")));
        let single = async {
            while began.borrow().len() < 2 {
                tokio::task::yield_now().await;
            }
            piece("single").await;
        };
        tokio::join!(crowd, single);
        let began = began.into_inner();
        let place = began.iter().position(|who| *who == "single");
        assert!(place.is_some_and(|place| place < 6), "{began:?}");
    }

    /// Short work begins at once, also while long work of the same account has every thread and all memory it may have.
    #[tokio::test]
    async fn short_work_has_a_thread_and_memory_besides() {
        let threads = Arc::new(Threads::new(2, 80));
        let crowd = Crowd::begin(&threads, "a", 35).await;
        let whose: Arc<str> = "a".into();
        assert!(threads.reserve(&whose, true).is_none());
        let thread = threads.reserve(&whose, false);
        assert!(thread.is_some() && threads.reserve(&whose, false).is_none());
        for thread in [thread, None] {
            let mut began = false;
            let piece = CpuTask {
                whose: &whose,
                long: false,
                megabytes: 50,
                thread,
            };
            let short = threads.run(piece, || began = true, || ());
            let short = tokio::time::timeout(Duration::from_secs(30), short).await;
            assert!(short.is_ok_and(|done| done.is_ok()));
            assert!(began);
        }
        crowd.end().await;
    }
}
