//! The embedded engine: paints from the brief with `studio`, offline, and serves every operation it can really do.
//!
//! The work is done inside `start`, on a bounded number of threads with a memory budget; the async threads only wait.
//! The same job always makes the same pictures, so an attempt whose outcome was lost is simply repeated.

mod anime;
mod assignment;
mod dispatch;
mod draw;
mod flags;
mod follow_ups;
mod image_files;
mod merge;
mod notes;
mod paint;
mod palette;
mod reference;
mod render;
mod repaint;
mod retouch;
mod sandbox;
mod stored_mask;
mod tempo;
mod video;
mod world;

use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use atelier_contract::brief::{Brief, Task};
use atelier_fairness::reservation::Reservation;
use atelier_fairness::threads::{CpuTask, Threads};
use serde_json::Value;

use crate::backend::{
    Backend, BoxFuture, Cost, Fault, LostSubmit, PollOutcome, StartOutcome, Work, WorkOutput,
};
use crate::hooks::WebhookRequest;
use crate::studio_settings::{StudioSettings, Tempo};
use crate::support::FieldSupport;
use assignment::Assignment;
use sandbox::SandboxDirectives;

/// A back end without a vendor: the studio, on threads of this process.
pub struct EmbeddedEngine {
    pace: Tempo,
    sandbox: bool,
    threads: Threads,
}

impl EmbeddedEngine {
    /// An engine with its own threads and memory budget.
    pub fn new(settings: &StudioSettings) -> Self {
        let threads = match settings.threads {
            0 => available_parallelism().map_or(2, usize::from),
            threads => threads,
        };
        Self {
            pace: settings.pace,
            sandbox: settings.sandbox,
            threads: Threads::new(threads, settings.memory_mib),
        }
    }

    async fn make(&self, mut work: Work) -> Result<WorkOutput, Fault> {
        // The work also stops when the caller drops this future, whose child the token is.
        let stop = work.cancelled.child_token();
        let guard = stop.clone().drop_guard();
        let wishes = if self.sandbox {
            SandboxDirectives::take(&mut work.brief)
        } else {
            SandboxDirectives::default()
        };
        let typical = self.pace.typical(&work.operation, &work.request);
        let mut thread = work.reserved.take();
        if typical + wishes.delay > Duration::ZERO || wishes.ending.is_some() {
            // It plays somebody who works for as long; the thread is another's meanwhile.
            thread = None;
            work.progress.begin();
        }
        // What only waits takes nobody's place.
        work.progress.rest(true);
        tempo::wait(typical + wishes.delay, &work.progress, &stop).await?;
        if let Some(ending) = wishes.ending {
            let Some(fault) = ending.fault() else {
                stop.cancelled().await;
                return Err(assignment::cancelled());
            };
            return Err(fault);
        }
        work.progress.rest(false);
        if work.brief.task == Task::Seed {
            return dispatch::seed(&work);
        }
        if work.parent.is_some() {
            // Files of its parent may take a while to come.
            thread = None;
        }
        let (whose, gauge, long) = (Arc::clone(&work.whose), work.progress.clone(), work.long);
        let assignment = Assignment::prepared(work, stop).await?;
        let piece = CpuTask {
            whose: &whose,
            long,
            megabytes: assignment.megabytes(),
            thread,
        };
        let made = self
            .threads
            .run(piece, || gauge.begin(), move || run_assignment(&assignment));
        let made = made.await;
        drop(guard);
        made?
    }
}

/// Does the work, and says in English what was understood of words in another language.
fn run_assignment(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    let mut made = dispatch::run(assignment)?;
    let brief = &assignment.work.brief;
    if brief.translate {
        let english = atelier_studio::translated_prompt(&brief.prompt);
        made.revised_prompt = Some(english).filter(|english| *english != brief.prompt);
    }
    Ok(made)
}

impl Backend for EmbeddedEngine {
    fn serves(&self, operation: &str) -> bool {
        // Whatever kind of work there is has its place in `tasks::done`.
        atelier_contract::operation(operation).is_some()
    }

    fn lost_submit(&self) -> LostSubmit {
        LostSubmit::Repeat
    }

    /// It is never looked up.
    fn submit_limit(&self, _: &Work) -> Duration {
        Duration::ZERO
    }

    fn takes_hints(&self) -> bool {
        true
    }

    fn support(&self, _: &str, _: &Brief) -> Vec<FieldSupport> {
        Vec::new()
    }

    fn reserve(&self, whose: &Arc<str>, brief: &Brief, long: bool) -> Option<Reservation> {
        if brief.task == Task::Seed || self.pace != Tempo::Instant {
            return Some(Reservation::default());
        }
        self.threads.reserve(whose, long).map(Reservation::thread)
    }

    fn start(&self, work: Work) -> BoxFuture<'_, Result<StartOutcome, Fault>> {
        Box::pin(async move { self.make(work).await.map(StartOutcome::Done) })
    }

    fn poll<'a>(&'a self, _: &'a Work, _: &'a Value) -> BoxFuture<'a, Result<PollOutcome, Fault>> {
        Box::pin(async { Err(Fault::ours("the embedded engine gives no tickets")) })
    }

    fn cancel<'a>(&'a self, _: &'a Value) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn look_up<'a>(
        &'a self,
        _: &'a Work,
        _: bool,
    ) -> BoxFuture<'a, Result<Option<StartOutcome>, Fault>> {
        Box::pin(async { Ok(None) })
    }

    fn probe(&self) -> BoxFuture<'_, Result<Option<Cost>, Fault>> {
        Box::pin(async { Ok(None) })
    }

    /// Nothing is signed here; the address of the hook is the proof.
    fn verify_webhook<'a>(&'a self, _: &'a WebhookRequest) -> BoxFuture<'a, bool> {
        Box::pin(async { true })
    }
}
