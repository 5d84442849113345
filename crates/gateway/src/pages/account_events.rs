//! Server-sent events of all jobs of an account, or of one batch. A stream opens with the jobs that are unfinished; who
//! comes back with the last event it saw is told what ended since, and perhaps once more what ended just before. Ends are looked
//! for by their dates, which a clock that is set back makes earlier than those that were told.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use atelier_contract::{Code, Refusal};
use atelier_engine::records::{JobSummary, SUMMARIES_MAX};
use atelier_engine::{BulkView, Caller, Changes};
use atelier_fairness::share::FairPermit;
use bytes::Bytes;
use futures_util::stream;
use tokio::time::{Instant, sleep, timeout_at};

use super::batches;
use super::events::{COMMENT_EVERY, LOOK_EVERY, STILL_HERE, job_event, last_event_id};
use crate::app::App;
use crate::http::admission;
use crate::http::denial::Denial;
use crate::http::page::Events;
use crate::http::reply;
use crate::http::request::IncomingRequest;

/// What ended so long before a look is looked at again: its commit may have been seen later than its time says.
const OVERLAP_MS: i64 = 10_000;
/// Nodes' dates may be this far apart; what is dated further ahead was dated before a clock was set back.
const APART_MS: i64 = 2_000;
/// Who comes back with an event of a time that is yet to come is told what ended within this: a clock was set back since the
/// event, and nobody knows when.
const SET_BACK_MS: i64 = 3_600_000;
/// Looks are at least this far apart, however much happens.
const PAUSE: Duration = Duration::from_millis(100);
/// Jobs that are read at once.
const AT_ONCE: usize = 100;
/// Identifiers of events are times, with room for so many within a millisecond.
const STEP: i64 = 1000;

/// A stream that is being followed.
struct AccountStream {
    app: Arc<App>,
    caller: Caller,
    /// The batch, when only its jobs are followed.
    batch: Option<BulkView>,
    changes: Changes,
    /// What was shown of each job that may still have news.
    seen: HashMap<String, LastEvent>,
    /// Nothing that ended before this is told, unless it was shown unfinished.
    from_ms: AtomicI64,
    /// The identifier of the last event.
    last: i64,
    ready: VecDeque<Bytes>,
    over: bool,
    _place: FairPermit,
}

/// What was shown of a job.
#[derive(Clone, Copy)]
struct LastEvent {
    /// Grows with every change.
    number: i64,
    /// Whether that was its end.
    over: bool,
}

/// Opens the stream of the caller's account.
pub(super) async fn follow(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Events, Denial> {
    open(app, &received, None)
}

/// Opens the stream of a batch.
pub(super) async fn follow_batch(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Events, Denial> {
    let account = received.account()?;
    let batch = app.engine.intake().bulk(account, received.param(0)).await?;
    let seen_ms = last_event_id(&received.head.headers) / STEP;
    let ids = batches::job_ids(&batch);
    let summaries = app.engine.jobs().summaries_of(account, &ids).await?;
    let news = |summary: &JobSummary| !summary.state.is_final() || summary.updated_ms >= seen_ms;
    // After an event of a time that is yet to come, dates do not say what was told.
    let known = seen_ms > 0 && !is_to_come(seen_ms, app.engine.now_ms());
    if known && !summaries.iter().any(news) {
        return Ok(Events(reply::no_content()));
    }
    open(app, &received, Some(batch))
}

fn open(
    app: Arc<App>,
    received: &IncomingRequest,
    batch: Option<BulkView>,
) -> Result<Events, Denial> {
    let caller = received.caller()?.clone();
    let place = app.event_streams.try_take(received.admission.holder(), 1);
    let place = place.map_err(|full| {
        admission::capacity_denial(full, "too many event streams of this account")
    })?;
    let last = last_event_id(&received.head.headers);
    let from_ms = first_ms(last, batch.is_some(), app.engine.now_ms());
    let follower = AccountStream {
        changes: app.engine.jobs().account_changes(&caller.account_id),
        caller,
        batch,
        seen: HashMap::new(),
        from_ms: AtomicI64::new(from_ms),
        last,
        ready: VecDeque::new(),
        over: false,
        app,
        _place: place,
    };
    // What is said at once tells the caller that the stream is open, whether or not there is news.
    let mut follower = follower;
    follower.ready.push_back(Bytes::from_static(b": open\n\n"));
    let flow = Box::pin(stream::unfold(follower, next));
    Ok(Events(reply::events(flow)))
}

/// Whether a date is of a time that is yet to come, so that a clock was set back since.
fn is_to_come(at_ms: i64, now_ms: i64) -> bool {
    at_ms > now_ms.saturating_add(APART_MS)
}

/// From when on ends are told, after the last event that was seen.
fn first_ms(last: i64, of_batch: bool, now_ms: i64) -> i64 {
    let seen_ms = last / STEP;
    if last > 0 && !is_to_come(seen_ms, now_ms) {
        seen_ms - OVERLAP_MS
    } else if of_batch {
        0
    } else if last > 0 {
        now_ms - SET_BACK_MS
    } else {
        now_ms
    }
}

/// The next piece of the stream, or its end.
async fn next(mut follower: AccountStream) -> Option<(io::Result<Bytes>, AccountStream)> {
    if let Some(piece) = follower.ready.pop_front() {
        return Some((Ok(piece), follower));
    }
    if follower.over || follower.app.stopping.is_cancelled() {
        return None;
    }
    let stopping = follower.app.stopping.clone();
    let news = timeout_at(Instant::now() + COMMENT_EVERY, follower.news());
    let news = tokio::select! {
        news = news => news,
        () = stopping.cancelled() => return None,
    };
    match news {
        Err(_) => return Some((Ok(STILL_HERE), follower)),
        Ok(Err(_)) => return None,
        Ok(Ok(news)) => follower.take(news),
    }
    let piece = follower.ready.pop_front()?;
    Some((Ok(piece), follower))
}

/// What a look has found.
struct StreamUpdate {
    /// The time of the look.
    now_ms: i64,
    /// The events, each with its job and what of it is shown.
    events: Vec<(String, LastEvent, String)>,
    /// The jobs that may have news later.
    open: HashSet<String>,
    /// Nothing that ended before this is news any more.
    from_ms: i64,
    /// How the batch stands when its last job has ended.
    end: Option<String>,
}

impl AccountStream {
    /// What has changed, as soon as something has.
    async fn news(&self) -> Result<StreamUpdate, Refusal> {
        sleep(PAUSE).await;
        self.changes
            .until(LOOK_EVERY, || async {
                if !self
                    .app
                    .engine
                    .admin()
                    .callers()
                    .still_known(&self.caller)
                    .await
                {
                    return Some(Err(Refusal::new(
                        Code::Unauthorized,
                        "the key has expired or was revoked",
                    )));
                }
                match self.look().await {
                    Ok(news) if news.events.is_empty() && news.end.is_none() => None,
                    Ok(news) => Some(Ok(news)),
                    // The store being away for a moment is no news about jobs.
                    Err(refusal) if refusal.code == Code::Overloaded => None,
                    Err(refusal) => Some(Err(refusal)),
                }
            })
            .await
    }

    /// From when on ends are looked for.
    fn begin_ms(&self, now_ms: i64) -> i64 {
        let from_ms = self.from_ms.load(Ordering::Relaxed);
        if !is_to_come(from_ms, now_ms) {
            return from_ms;
        }
        // A clock that was set back dates what ends from here on before what has ended.
        let from_ms = now_ms - OVERLAP_MS;
        self.from_ms.store(from_ms, Ordering::Relaxed);
        from_ms
    }

    /// The jobs of the account that are unfinished or ended since, and those that were shown unfinished and have ended,
    /// whatever their date: that of another node, or of a clock that was set back, may be before what is looked for.
    async fn account_summaries(&self, from_ms: i64) -> Result<Vec<JobSummary>, Refusal> {
        let (jobs, account) = (self.app.engine.jobs(), &self.caller.account_id);
        let mut summaries = jobs.summaries(account, from_ms).await?;
        let missing: Vec<String> = {
            let read: HashSet<&str> = summaries
                .iter()
                .map(|summary| summary.id.as_str())
                .collect();
            let open = self.seen.iter().filter(|(_, shown)| !shown.over);
            let missing = open.filter(|(id, _)| !read.contains(id.as_str()));
            missing.map(|(id, _)| id.clone()).collect()
        };
        if !missing.is_empty() {
            summaries.extend(jobs.summaries_of(account, &missing).await?);
        }
        Ok(summaries)
    }

    async fn look(&self) -> Result<StreamUpdate, Refusal> {
        let (engine, account) = (&self.app.engine, &self.caller.account_id);
        let now_ms = engine.now_ms();
        let from_ms = self.begin_ms(now_ms);
        let mut summaries = match &self.batch {
            None => self.account_summaries(from_ms).await?,
            Some(batch) => {
                let ids = batches::job_ids(batch);
                engine.jobs().summaries_of(account, &ids).await?
            }
        };
        let over = summaries.iter().all(|summary| summary.state.is_final());
        let end = match &self.batch {
            Some(batch) if over => {
                let view = batches::view(batch.clone(), summaries.clone());
                serde_json::to_string(&view).ok()
            }
            _ => None,
        };
        let open = summaries.iter().map(|summary| summary.id.clone()).collect();
        let ended = summaries.iter().filter(|summary| summary.state.is_final());
        // Of more than are read at once, the others are looked at from here on.
        let reached_ms = (ended.clone().count() >= SUMMARIES_MAX)
            .then(|| ended.map(|summary| summary.updated_ms).max())
            .flatten();
        summaries.retain(|summary| {
            let shown = self.seen.get(&summary.id);
            let late = shown.is_none() && summary.state.is_final() && summary.updated_ms < from_ms;
            let number = shown.map_or(-1, |shown| shown.number);
            job_event::number(summary.revision, summary.progress) > number && !late
        });
        summaries.sort_by(|one, two| (one.updated_ms, &one.id).cmp(&(two.updated_ms, &two.id)));
        let all_shown = summaries.len() <= AT_ONCE;
        summaries.truncate(AT_ONCE);
        let shown_ms = summaries.last().map(|summary| summary.updated_ms);
        let next_ms = shown_ms.filter(|_| !all_shown).or(reached_ms);
        let ids: Vec<String> = summaries.into_iter().map(|summary| summary.id).collect();
        let jobs = engine.jobs().jobs_of(account, &ids).await?;
        let mut jobs: HashMap<String, _> = jobs
            .into_iter()
            .map(|job| (job.id.to_string(), job))
            .collect();
        let shown = |id: String| {
            let job = jobs.remove(&id)?;
            let shown = LastEvent {
                number: job_event::number(job.revision, job.progress),
                over: job.state.is_final(),
            };
            Some((id, shown, job_event::data(&job)))
        };
        Ok(StreamUpdate {
            now_ms,
            events: ids.into_iter().filter_map(shown).collect(),
            open,
            from_ms: next_ms.unwrap_or(now_ms - OVERLAP_MS),
            end: end.filter(|_| all_shown),
        })
    }

    fn take(&mut self, news: StreamUpdate) {
        for (id, shown, data) in news.events {
            let event = self.event("job", news.now_ms, &data);
            self.ready.push_back(event);
            self.seen.insert(id, shown);
        }
        self.seen.retain(|id, _| news.open.contains(id));
        if self.batch.is_none() {
            let from_ms = self.from_ms.get_mut();
            *from_ms = news.from_ms.max(*from_ms);
        }
        if let Some(end) = news.end {
            let event = self.event("batch", news.now_ms, &end);
            self.ready.push_back(event);
            self.over = true;
        }
    }

    fn event(&mut self, kind: &str, now_ms: i64, data: &str) -> Bytes {
        // Who comes back says by this when it left, so a clock that was set back has events go back with it.
        self.last = if is_to_come(self.last / STEP, now_ms) {
            now_ms * STEP
        } else {
            (self.last + 1).max(now_ms * STEP)
        };
        let id = self.last;
        Bytes::from(format!("event: {kind}\nid: {id}\ndata: {data}\n\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: i64 = 1_800_000_000_000;

    /// The promise: who comes back is told what ended since, also when a clock was set back since it left.
    #[test]
    fn an_event_of_a_time_to_come_does_not_hide_what_ended_since() {
        let after = |seen_ms: i64, of_batch| first_ms(seen_ms * STEP, of_batch, NOW_MS);
        for of_batch in [false, true] {
            let ordinary = after(NOW_MS - 60_000, of_batch);
            assert_eq!(ordinary, NOW_MS - 60_000 - OVERLAP_MS);
        }
        let to_come = NOW_MS + 3_600_000;
        assert!(after(to_come, false) < NOW_MS - OVERLAP_MS);
        assert_eq!(after(to_come, true), 0, "all of a batch");
        assert_eq!(first_ms(-1, false, NOW_MS), NOW_MS, "from here on");
        assert_eq!(first_ms(-1, true, NOW_MS), 0);
    }
}
