//! Server-sent events of all jobs of an account, or of one batch. A stream opens with the jobs that are unfinished; who
//! comes back with the last event it saw is told what ended since, and perhaps once more what ended just before.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use atelier_contract::{Code, Refusal};
use atelier_engine::{BulkView, Caller, Changes, JobMark, MARKS_MOST};
use bytes::Bytes;
use futures_util::stream;
use tokio::time::{Instant, sleep, timeout_at};

use super::batches;
use super::events::{COMMENT_EVERY, LOOK_EVERY, STILL_HERE, last_event_id, told};
use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::Events;
use crate::http::pass;
use crate::http::received::Received;
use crate::http::reply;
use atelier_engine::shares::Part;

/// What ended so long before a look is looked at again: its commit may have been seen later than its time says.
const OVERLAP_MS: i64 = 10_000;
/// Looks are at least this far apart, however much happens.
const PAUSE: Duration = Duration::from_millis(100);
/// Jobs that are read at once.
const AT_ONCE: usize = 100;
/// Identifiers of events are times, with room for so many within a millisecond.
const STEP: i64 = 1000;

/// A stream that is being followed.
struct Follower {
    app: Arc<App>,
    caller: Caller,
    /// The batch, when only its jobs are followed.
    batch: Option<BulkView>,
    changes: Changes,
    /// What was shown of each job that may still have news.
    seen: HashMap<String, i64>,
    /// Nothing that ended before this is told.
    from_ms: i64,
    /// The identifier of the last event.
    last: i64,
    ready: VecDeque<Bytes>,
    over: bool,
    _place: Part,
}

/// Opens the stream of the caller's account.
pub(super) async fn follow(app: Arc<App>, received: Received, (): ()) -> Result<Events, Denial> {
    open(app, &received, None)
}

/// Opens the stream of a batch.
pub(super) async fn follow_batch(
    app: Arc<App>,
    received: Received,
    (): (),
) -> Result<Events, Denial> {
    let account = received.account()?;
    let batch = app.engine.intake().bulk(account, received.param(0)).await?;
    let seen_ms = last_event_id(&received.head.headers) / STEP;
    let ids = batches::job_ids(&batch);
    let marks = app.engine.jobs().marks_of(account, &ids).await?;
    let news = |mark: &JobMark| !mark.state.is_final() || mark.updated_ms >= seen_ms;
    if seen_ms > 0 && !marks.iter().any(news) {
        return Ok(Events(reply::nothing_more()));
    }
    open(app, &received, Some(batch))
}

fn open(app: Arc<App>, received: &Received, batch: Option<BulkView>) -> Result<Events, Denial> {
    let caller = received.caller()?.clone();
    let place = app.event_streams.try_take(received.pass.holder(), 1);
    let place =
        place.map_err(|full| pass::refused(full, "too many event streams of this account"))?;
    let last = last_event_id(&received.head.headers);
    let from_ms = if last > 0 {
        last / STEP - OVERLAP_MS
    } else if batch.is_some() {
        0
    } else {
        app.engine.now_ms()
    };
    let follower = Follower {
        changes: app.engine.jobs().account_changes(&caller.account_id),
        caller,
        batch,
        seen: HashMap::new(),
        from_ms,
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

/// The next piece of the stream, or its end.
async fn next(mut follower: Follower) -> Option<(io::Result<Bytes>, Follower)> {
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
struct News {
    /// The time of the look.
    now_ms: i64,
    /// The events, each with its job and what of it is shown.
    events: Vec<(String, i64, String)>,
    /// The jobs that may have news later.
    open: HashSet<String>,
    /// Nothing that ended before this is news any more.
    from_ms: i64,
    /// How the batch stands when its last job has ended.
    end: Option<String>,
}

impl Follower {
    /// What has changed, as soon as something has.
    async fn news(&self) -> Result<News, Refusal> {
        sleep(PAUSE).await;
        self.changes
            .until(LOOK_EVERY, || async {
                if !self
                    .app
                    .engine
                    .office()
                    .callers()
                    .still_known(&self.caller)
                    .await
                {
                    return Some(Err(Refusal::new(Code::Unauthorized, "the key is over")));
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

    async fn look(&self) -> Result<News, Refusal> {
        let (engine, account) = (&self.app.engine, &self.caller.account_id);
        let now_ms = engine.now_ms();
        let mut marks = match &self.batch {
            None => engine.jobs().marks(account, self.from_ms).await?,
            Some(batch) => {
                let ids = batches::job_ids(batch);
                engine.jobs().marks_of(account, &ids).await?
            }
        };
        let over = marks.iter().all(|mark| mark.state.is_final());
        let end = match &self.batch {
            Some(batch) if over => {
                let view = batches::view(batch.clone(), marks.clone());
                serde_json::to_string(&view).ok()
            }
            _ => None,
        };
        let open = marks.iter().map(|mark| mark.id.clone()).collect();
        let ended = marks.iter().filter(|mark| mark.state.is_final());
        // Of more than are read at once, the others are looked at from here on.
        let reached_ms = (ended.clone().count() >= MARKS_MOST)
            .then(|| ended.map(|mark| mark.updated_ms).max())
            .flatten();
        marks.retain(|mark| {
            let shown = self.seen.get(&mark.id).copied().unwrap_or(-1);
            let late = mark.state.is_final() && mark.updated_ms < self.from_ms;
            told::number(mark.revision, mark.progress) > shown && !late
        });
        marks.sort_by(|one, two| (one.updated_ms, &one.id).cmp(&(two.updated_ms, &two.id)));
        let all_shown = marks.len() <= AT_ONCE;
        marks.truncate(AT_ONCE);
        let shown_ms = marks.last().map(|mark| mark.updated_ms);
        let from_ms = shown_ms.filter(|_| !all_shown).or(reached_ms);
        let ids: Vec<String> = marks.into_iter().map(|mark| mark.id).collect();
        let jobs = engine.jobs().jobs_of(account, &ids).await?;
        let mut jobs: HashMap<String, _> = jobs
            .into_iter()
            .map(|job| (job.id.to_string(), job))
            .collect();
        let shown = |id: String| {
            let job = jobs.remove(&id)?;
            Some((
                id,
                told::number(job.revision, job.progress),
                told::data(&job),
            ))
        };
        Ok(News {
            now_ms,
            events: ids.into_iter().filter_map(shown).collect(),
            open,
            from_ms: from_ms.unwrap_or(now_ms - OVERLAP_MS),
            end: end.filter(|_| all_shown),
        })
    }

    fn take(&mut self, news: News) {
        for (id, number, data) in news.events {
            let event = self.event("job", news.now_ms, &data);
            self.ready.push_back(event);
            self.seen.insert(id, number);
        }
        self.seen.retain(|id, _| news.open.contains(id));
        if self.batch.is_none() {
            let from_ms = news.from_ms;
            // A clock that was set back dates what comes before what has been.
            self.from_ms = if self.from_ms > news.now_ms {
                from_ms
            } else {
                self.from_ms.max(from_ms)
            };
        }
        if let Some(end) = news.end {
            let event = self.event("batch", news.now_ms, &end);
            self.ready.push_back(event);
            self.over = true;
        }
    }

    fn event(&mut self, kind: &str, now_ms: i64, data: &str) -> Bytes {
        self.last = (self.last + 1).max(now_ms * STEP);
        let id = self.last;
        Bytes::from(format!("event: {kind}\nid: {id}\ndata: {data}\n\n"))
    }
}
