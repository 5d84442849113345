//! The embedded engine: paints from the brief with `media`, offline, and serves every operation it can really do.
//!
//! The work is done inside `start`, on a bounded pool of threads with a memory budget; the async threads only wait.
//! The same job always makes the same bytes, so an attempt whose outcome was lost is simply repeated.

mod album;
mod cel;
mod desk;
mod draw;
mod film;
mod flags;
mod follow;
mod merge;
mod notes;
mod pace;
mod paint;
mod palette;
mod reference;
mod repaint;
mod retouch;
mod sandbox;
mod stencil;
mod tasks;
mod world;

use std::thread::available_parallelism;

use serde_json::Value;

use crate::backend::{Backend, Fault, Later, LostSubmit, Made, Progress, Started, Work};
use crate::threads::Threads;
use desk::Desk;
pub use pace::Pace;
use sandbox::Wishes;

/// How the embedded engine works.
#[derive(Clone, Copy, Debug)]
pub struct EmbeddedSettings {
    /// Pieces of CPU work at once.
    pub threads: usize,
    /// Megabytes all work together may take.
    pub memory_megabytes: u32,
    /// How fast it seems.
    pub pace: Pace,
}

impl Default for EmbeddedSettings {
    fn default() -> Self {
        Self {
            threads: available_parallelism().map_or(2, usize::from),
            memory_megabytes: 1024,
            pace: Pace::Instant,
        }
    }
}

/// The embedded engine.
pub struct Embedded {
    settings: EmbeddedSettings,
    pool: Threads,
}

impl Embedded {
    /// An engine with its own threads and memory budget.
    pub fn new(settings: EmbeddedSettings) -> Self {
        Self {
            settings,
            pool: Threads::new(settings.threads, settings.memory_megabytes),
        }
    }

    async fn make(&self, mut work: Work) -> Result<Made, Fault> {
        // The work also stops when the caller drops this future, whose child the token is.
        let stop = work.cancelled.child_token();
        let guard = stop.clone().drop_guard();
        let wishes = Wishes::take(&mut work.brief);
        let typical = self.settings.pace.typical(&work.operation, &work.request);
        pace::wait(typical + wishes.delay, &work.progress, &stop).await?;
        if let Some(ending) = wishes.ending {
            let Some(fault) = ending.fault() else {
                stop.cancelled().await;
                return Err(desk::cancelled());
            };
            return Err(fault);
        }
        let desk = Desk::lay(work, stop).await?;
        let made = self.pool.run(desk.megabytes(), move || tasks::done(&desk));
        let made = made.await;
        drop(guard);
        made
    }
}

impl Backend for Embedded {
    fn serves(&self, operation: &str) -> bool {
        // Whatever kind of work there is has its place in `tasks::done`.
        atelier_contract::operation(operation).is_some()
    }

    fn lost_submit(&self) -> LostSubmit {
        LostSubmit::Repeat
    }

    fn takes_hints(&self) -> bool {
        true
    }

    fn start(&self, work: Work) -> Later<'_, Result<Started, Fault>> {
        Box::pin(async move { self.make(work).await.map(Started::Done) })
    }

    fn poll<'a>(&'a self, _: &'a Work, _: &'a Value) -> Later<'a, Result<Progress, Fault>> {
        Box::pin(async { Err(Fault::ours("the embedded engine gives no tickets")) })
    }

    fn cancel<'a>(&'a self, _: &'a Value) -> Later<'a, ()> {
        Box::pin(async {})
    }

    fn look_up<'a>(&'a self, _: &'a Work) -> Later<'a, Result<Option<Started>, Fault>> {
        Box::pin(async { Ok(None) })
    }

    fn probe(&self) -> Later<'_, Result<(), Fault>> {
        Box::pin(async { Ok(()) })
    }
}
