//! Threads for work that takes the processor for long. In a service they give way to the threads that answer: it
//! takes a moment longer while others call, and nobody's call waits for somebody's heavy work. Whoever asks for much gives
//! way to whoever asks for little.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, OnceLock};

use rayon::{ThreadPool, ThreadPoolBuilder};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::{JoinHandle, spawn_blocking};

/// Whose work it is and how long it takes, in the order in which the processor is given. Each has a pool of its own: a short
/// piece would wait in a pool for all parts of a long one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadPriority {
    /// Of somebody who has nothing else of its kind under way.
    Single,
    /// Of such a holder, and long.
    SingleLong,
    /// One of many pieces of the same holder.
    Crowd,
    /// One of many, and long.
    CrowdLong,
}

/// One for each kind of work, made when there is work for it; none where no threads can be had.
type Pools = [OnceLock<Option<ThreadPool>>; 4];

/// Threads that wait for what a pool works out, or for other things in the middle of heavy work.
struct BackgroundThreads {
    waiting: Runtime,
    pools: Pools,
}

/// Room for several pieces on top of each other: a thread that waits for parts of one may begin with another.
const STACK_BYTES: usize = 8 << 20;

static GIVES_WAY: AtomicBool = AtomicBool::new(false);
/// None where no threads can be had; they are not made before there is work for them.
static BACKGROUND: LazyLock<Option<BackgroundThreads>> = LazyLock::new(|| {
    let mut waiting = Builder::new_current_thread();
    waiting.on_thread_start(|| lower(ThreadPriority::Single));
    Some(BackgroundThreads {
        waiting: waiting.build().ok()?,
        pools: Pools::default(),
    })
});

impl BackgroundThreads {
    fn pool(&self, whose: ThreadPriority) -> Option<&ThreadPool> {
        let made = || {
            ThreadPoolBuilder::new()
                .thread_name(|_| "heavy".into())
                .start_handler(move |_| lower(whose))
                .stack_size(STACK_BYTES)
                .build()
                .ok()
        };
        self.pools[whose as usize].get_or_init(made).as_ref()
    }
}

/// From now on heavy work gives way. Before, and wherever time is not the real one, it runs beside everything else.
pub fn enable_low_priority() {
    GIVES_WAY.store(true, Ordering::Relaxed);
}

/// Runs a piece of heavy work. It must not start threads for others, because they would give way as well.
pub fn spawn<T: Send + 'static>(
    whose: ThreadPriority,
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let there = background();
    let there = there.and_then(|there| Some((there, there.pool(whose)?)));
    let Some((background, pool)) = there else {
        return spawn_blocking(work);
    };
    background
        .waiting
        .spawn_blocking(move || pool.install(work))
}

/// Runs a piece of heavy work that now and then waits for something, on a thread of its own.
pub fn spawn_waiting<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    let runtime = Handle::current();
    let work = move || runtime.block_on(work);
    match background() {
        Some(background) => background.waiting.spawn_blocking(work),
        None => spawn_blocking(work),
    }
}

fn background() -> Option<&'static BackgroundThreads> {
    let gives_way = GIVES_WAY.load(Ordering::Relaxed);
    gives_way.then_some(&*BACKGROUND).and_then(Option::as_ref)
}

/// Linux counts it for each thread. Of two that want all of the processor, each step of one makes a difference of a tenth.
#[cfg(target_os = "linux")]
fn lower(whose: ThreadPriority) {
    let steps = match whose {
        ThreadPriority::Single => 5,
        ThreadPriority::SingleLong => 10,
        ThreadPriority::Crowd => 15,
        ThreadPriority::CrowdLong => 19,
    };
    let _ = rustix::process::nice(steps);
}

/// Elsewhere it would be counted for the whole process.
#[cfg(not(target_os = "linux"))]
fn lower(_: ThreadPriority) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Nobody's call waits for heavy work, and no single piece of it for a crowd of them: heavy work has less of the
    /// processor than what answers.
    #[tokio::test]
    async fn heavy_work_gives_way_to_what_answers() {
        let priority = || rustix::process::nice(0).expect("a priority");
        let usual = priority();
        let before = spawn(ThreadPriority::Single, priority)
            .await
            .expect("it runs");
        assert_eq!(before, usual);
        enable_low_priority();
        let single = spawn(ThreadPriority::Single, priority)
            .await
            .expect("it runs");
        let crowd = spawn(ThreadPriority::Crowd, priority)
            .await
            .expect("it runs");
        let long = spawn(ThreadPriority::CrowdLong, priority)
            .await
            .expect("it runs");
        let expected = [5, 15, 19].map(|steps| (usual + steps).min(19));
        assert_eq!([single, crowd, long], expected);
        let attended = spawn_waiting(async move {
            tokio::task::yield_now().await;
            priority()
        });
        assert_eq!(attended.await.expect("it runs"), single);
        // What such work divides among threads gives way as well.
        let divided = spawn(ThreadPriority::Crowd, move || {
            rayon::join(priority, priority)
        });
        assert_eq!(divided.await.expect("it runs"), (crowd, crowd));
        let other = spawn_blocking(priority).await.expect("it runs");
        assert_eq!((priority(), other), (usual, usual));
    }
}
