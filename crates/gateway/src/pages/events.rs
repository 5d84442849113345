//! Server-sent events of one job: every change of state and progress, and the end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use atelier_contract::{Code, Job, JobId, Refusal};
use atelier_engine::{Caller, Changes};
use atelier_fairness::share::FairPermit;
use bytes::Bytes;
use futures_util::stream;
use hyper::header::HeaderMap;
use tokio::time::{Instant, timeout_at};

use crate::app::App;
use crate::http::admission;
use crate::http::denial::Denial;
use crate::http::page::Events;
use crate::http::reply;
use crate::http::request::IncomingRequest;

/// A silent stream says this often that it is alive.
pub(super) const COMMENT_EVERY: Duration = Duration::from_secs(15);
/// The job is looked at this often even when nothing hints at a change.
pub(super) const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Every so many times it is read even when nothing suggests that it changed.
const QUIET_ROUNDS: u32 = 10;
/// What a silent stream says.
pub(super) const STILL_HERE: Bytes = Bytes::from_static(b": still here\n\n");

/// A stream that is being followed.
struct JobStream {
    app: Arc<App>,
    caller: Caller,
    id: JobId,
    changes: Changes,
    seen: i64,
    /// Whether this node worked on the job at the last look.
    in_hand: AtomicBool,
    over: bool,
    _place: FairPermit,
}

/// Opens the stream of a job.
pub(super) async fn follow(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Events, Denial> {
    let caller = received.caller()?.clone();
    let id = JobId::new(received.param(0));
    let seen = last_event_id(&received.head.headers);
    let job = app.engine.jobs().job(&caller.account_id, &id).await?;
    if job.state.is_final() && event_id(&job) <= seen {
        return Ok(Events(reply::no_content()));
    }
    let place = app.event_streams.try_take(received.admission.holder(), 1);
    let place = place.map_err(|full| {
        admission::capacity_denial(full, "too many event streams of this account")
    })?;
    let changes = app.engine.jobs().changes(&id);
    let follower = JobStream {
        caller,
        id,
        changes,
        seen,
        in_hand: AtomicBool::new(false),
        over: false,
        app,
        _place: place,
    };
    let flow = Box::pin(stream::unfold(follower, next));
    Ok(Events(reply::events(flow)))
}

/// The next piece of the stream, or its end.
async fn next(mut follower: JobStream) -> Option<(io::Result<Bytes>, JobStream)> {
    if follower.over || follower.app.stopping.is_cancelled() {
        return None;
    }
    let news = timeout_at(Instant::now() + COMMENT_EVERY, follower.news());
    let stopping = follower.app.stopping.clone();
    let news = tokio::select! {
        news = news => news,
        () = stopping.cancelled() => return None,
    };
    let piece = match news {
        Err(_) => STILL_HERE,
        Ok(Err(_)) => return None,
        Ok(Ok(job)) => {
            follower.seen = event_id(&job);
            follower.over = job.state.is_final();
            event(&job)
        }
    };
    Some((Ok(piece), follower))
}

impl JobStream {
    /// The job as soon as it differs from what was shown.
    async fn news(&self) -> Result<Job, Refusal> {
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
            Ok(job) if event_id(&job) > self.seen => Some(Ok(job)),
            Ok(_) => None,
            // The store being away for a moment is no news about the job.
            Err(refusal) if refusal.code == Code::Overloaded => None,
            Err(refusal) => Some(Err(refusal)),
        }
    }
}

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

    /// The progress in such a number.
    pub(in crate::pages) fn progress(number: i64) -> u8 {
        u8::try_from(number.rem_euclid(STEP)).unwrap_or(u8::MAX)
    }

    /// The job without what was asked.
    pub(in crate::pages) fn data(job: &Job) -> String {
        serde_json::to_string(&JobProgress::of(job)).unwrap_or_default()
    }
}

fn event_id(job: &Job) -> i64 {
    job_event::number(job.revision, job.progress)
}

fn event(job: &Job) -> Bytes {
    let (id, shown) = (event_id(job), job_event::data(job));
    Bytes::from(format!("event: job\nid: {id}\ndata: {shown}\n\n"))
}

/// What the caller saw last; before anything when it does not say.
pub(super) fn last_event_id(headers: &HeaderMap) -> i64 {
    let given = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok());
    given
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(-1)
}
