//! Threads for work that takes the processor for long. In a service they give way to the threads that answer: a picture
//! takes a moment longer while others call, and nobody's call waits for somebody's picture.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinHandle, spawn_blocking};

/// How much they give way, as `nice` counts it: a tenth of the processor is left to them when others want all of it.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

static BACKGROUND: OnceLock<Runtime> = OnceLock::new();

/// From now on heavy work gives way. Before, and wherever time is not the real one, it runs beside everything else.
pub fn give_way() {
    let threads = Builder::new_current_thread()
        .thread_name("heavy")
        .on_thread_start(lower)
        .build();
    if let Ok(threads) = threads {
        let _ = BACKGROUND.set(threads);
    }
}

/// Runs a piece of heavy work. It must not start threads for others, because they would give way as well.
pub fn spawn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    match BACKGROUND.get() {
        Some(threads) => threads.spawn_blocking(work),
        None => spawn_blocking(work),
    }
}

/// Linux counts it for each thread.
#[cfg(target_os = "linux")]
fn lower() {
    let _ = rustix::process::nice(NICE);
}

/// Elsewhere it would be counted for the whole process.
#[cfg(not(target_os = "linux"))]
fn lower() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Nobody's call waits for somebody's picture: heavy work has less of the processor than what answers.
    #[tokio::test]
    async fn heavy_work_gives_way_to_what_answers() {
        let priority = || rustix::process::nice(0).expect("a priority");
        let usual = priority();
        let before = spawn(priority).await.expect("it runs");
        assert_eq!(before, usual);
        give_way();
        let heavy = spawn(priority).await.expect("it runs");
        assert_eq!(heavy, (usual + NICE).min(19));
        let other = spawn_blocking(priority).await.expect("it runs");
        assert_eq!((priority(), other), (usual, usual));
    }
}
