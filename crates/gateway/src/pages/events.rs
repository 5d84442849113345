//! Server-sent events of one job: every change of state and progress, and the end.

use std::io;
use std::sync::Arc;

use atelier_contract::{Job, JobId};
use bytes::Bytes;
use futures_util::stream;
use hyper::header::HeaderMap;

use super::job_news::{JobNews, JobUpdate, job_event};
use crate::app::App;
use crate::http::admission;
use crate::http::denial::Denial;
use crate::http::page::Events;
use crate::http::reply;
use crate::http::request::IncomingRequest;

/// What a silent stream says.
pub(super) const STILL_HERE: Bytes = Bytes::from_static(b": still here\n\n");

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
    if job.state.is_final() && job_event::id(&job) <= seen {
        return Ok(Events(reply::no_content()));
    }
    let place = app.event_streams.try_take(received.admission.holder(), 1);
    let place = place.map_err(|full| {
        admission::capacity_denial(full, "too many event streams of this account")
    })?;
    let news = JobNews::new(app, caller, id, seen, place);
    let flow = Box::pin(stream::unfold(news, next));
    Ok(Events(reply::events(flow)))
}

/// The next piece of the stream, or its end.
async fn next(mut news: JobNews) -> Option<(io::Result<Bytes>, JobNews)> {
    let piece = match news.next().await? {
        JobUpdate::Silence => STILL_HERE,
        JobUpdate::Changed(job) => event(&job),
    };
    Some((Ok(piece), news))
}

fn event(job: &Job) -> Bytes {
    let (id, shown) = (job_event::id(job), job_event::data(job));
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
