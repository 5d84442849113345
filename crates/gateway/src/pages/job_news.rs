//! The news of one job for somebody who follows it: every change of state and progress until its end, and now and then that there
//! is none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use atelier_contract::{Code, Job, JobId, Refusal};
use atelier_engine::{Caller, Changes};
use atelier_fairness::share::FairPermit;
use tokio::time::{Instant, timeout_at};

use crate::app::App;

/// A silent stream says this often that it is alive.
pub(super) const COMMENT_EVERY: Duration = Duration::from_secs(15);
/// The job is looked at this often even when nothing hints at a change.
pub(super) const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Every so many times it is read even when nothing suggests that it changed.
const QUIET_ROUNDS: u32 = 10;

/// What is told of a job.
pub(super) mod job_event {
    use atelier_contract::Job;
    use atelier_contract::pages::jobs::JobProgress;

    /// Progress is below this, so that state changes and progress together count upwards.
    const STEP: i64 = 1000;

    /// Grows with every change of a job that a caller sees.
    pub(in crate::pages) fn number(revision: i64, progress: u8) -> i64 {
        revision * STEP + i64::from(progress)
    }

    /// The number of a job as it is.
    pub(in crate::pages) fn id(job: &Job) -> i64 {
        number(job.revision, job.progress)
    }

    /// The progress in such a number.
    pub(in crate::pages) fn progress(number: i64) -> u8 {
        u8::try_from(number.rem_euclid(STEP)).unwrap_or(u8::MAX)
    }

    /// The job without what was asked.
    pub(in crate::pages) fn data(job: &Job) -> String {
        serde_json::to_string(&JobProgress::of(job)).unwrap_or_default()
    }
}

/// A job that is being followed.
pub(super) struct JobNews {
    pub(super) app: Arc<App>,
    caller: Caller,
    pub(super) id: JobId,
    changes: Changes,
    seen: i64,
    /// Whether this node worked on the job at the last look.
    in_hand: AtomicBool,
    over: bool,
    _place: FairPermit,
}

/// What is heard of it.
pub(super) enum JobUpdate {
    /// Nothing for a while.
    Silence,
    /// It changed.
    Changed(Box<Job>),
}

impl JobNews {
    /// Follows a job from a number of [`job_event`] on.
    pub(super) fn new(
        app: Arc<App>,
        caller: Caller,
        id: JobId,
        seen: i64,
        place: FairPermit,
    ) -> Self {
        let changes = app.engine.jobs().changes(&id);
        Self {
            app,
            caller,
            id,
            changes,
            seen,
            in_hand: AtomicBool::new(false),
            over: false,
            _place: place,
        }
    }

    /// What is heard next; nothing when the job is over, may not be seen any more, or the service stops.
    pub(super) async fn next(&mut self) -> Option<JobUpdate> {
        if self.over || self.app.stopping.is_cancelled() {
            return None;
        }
        let news = timeout_at(Instant::now() + COMMENT_EVERY, self.change());
        let stopping = self.app.stopping.clone();
        let news = tokio::select! {
            news = news => news,
            () = stopping.cancelled() => return None,
        };
        match news {
            Err(_) => Some(JobUpdate::Silence),
            Ok(Err(_)) => None,
            Ok(Ok(job)) => {
                self.seen = job_event::id(&job);
                self.over = job.state.is_final();
                Some(JobUpdate::Changed(Box::new(job)))
            }
        }
    }

    /// The job as soon as it differs from what was shown.
    async fn change(&self) -> Result<Job, Refusal> {
        let shown = job_event::progress(self.seen);
        let rounds = AtomicU32::new(0);
        self.changes
            .until_hinted(LOOK_EVERY, |hinted| {
                let round = rounds.fetch_add(1, Ordering::Relaxed);
                self.look(shown, hinted || round.is_multiple_of(QUIET_ROUNDS))
            })
            .await
    }

    /// The job if it differs from what was shown. One that this node works on, and that is no further than it was, needs
    /// no look for as long as no hint comes.
    async fn look(&self, shown: u8, in_any_case: bool) -> Option<Result<Job, Refusal>> {
        let engine = &self.app.engine;
        if !engine.admin().callers().still_known(&self.caller).await {
            return Some(Err(Refusal::new(
                Code::Unauthorized,
                "the key has expired or was revoked",
            )));
        }
        let here = engine.jobs().progress_here(&self.id);
        // What has come into this node's hands since the last look has become something else by that.
        let before = self.in_hand.swap(here.is_some(), Ordering::Relaxed);
        if before && here == Some(shown) && !in_any_case {
            return None;
        }
        match engine.jobs().job(&self.caller.account_id, &self.id).await {
            Ok(job) if job_event::id(&job) > self.seen => Some(Ok(job)),
            Ok(_) => None,
            // The store being away for a moment is no news about the job.
            Err(refusal) if refusal.code == Code::Overloaded => None,
            Err(refusal) => Some(Err(refusal)),
        }
    }
}
