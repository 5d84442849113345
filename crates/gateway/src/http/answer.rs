//! What a synchronous operation answers: the result of its job, or where that will be. Whoever waits for a call and whoever
//! asks for its answer later is given the same.

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::family::{AnswerMode, FinishedJob, SubmitEndpoint};
use atelier_contract::models::render_answer;
use atelier_contract::pages::answers::PendingAnswer;
use atelier_contract::{AccountId, Code, FileRole, Job, JobId, JobState, Refusal};
use atelier_engine::refusal_of;
use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use serde_json::Value;
use tokio::time::timeout;

use super::denial::Denial;
use super::reply::{self, RefusalShape, Reply};
use super::request::HandlerResult;
use crate::app::App;

const JOB_ID: HeaderName = HeaderName::from_static("x-atelier-job-id");
const PREFER: HeaderName = HeaderName::from_static("prefer");
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
const RESPOND_ASYNC: &str = "respond-async";

/// An answer is looked for again after a part of the time that such a job usually takes, within these bounds.
const LOOKS: u32 = 4;
const SOONEST_S: u32 = 1;
const LATEST_S: u32 = 10;

/// How long an answer with the bytes of its files waits until earlier ones of the account are made.
const TURN_WITHIN: Duration = Duration::from_secs(5);
const NO_TURN: &str =
    "earlier responses of this account are still being prepared; try again shortly";

/// Whether a caller prefers not to wait.
pub(super) fn prefers_later(headers: &HeaderMap) -> bool {
    let given = headers.get_all(PREFER).iter();
    let texts = given.filter_map(|value| value.to_str().ok());
    let mut preferences = texts.flat_map(|text| text.split([',', ';']));
    preferences.any(|one| one.trim().eq_ignore_ascii_case(RESPOND_ASYNC))
}

/// What becomes of a job that has finished, with the bytes of its files where they belong in it; its failure is a refusal.
pub(super) async fn finished<T>(
    app: &App,
    entry: &SubmitEndpoint,
    job: &Job,
    render: impl FnOnce(&FinishedJob<'_>) -> T,
) -> Result<T, Refusal> {
    if job.state != JobState::Succeeded {
        return Err(refusal_of(job));
    }
    let base64 = if (entry.wants_bytes)(job) {
        app.engine.assets().base64_files(job).await?
    } else {
        Vec::new()
    };
    Ok(render(&FinishedJob {
        job,
        base64: &base64,
    }))
}

/// Says that a call was accepted and where its answer will be. That is so even if the job cannot be looked at just now.
pub(super) async fn accepted(app: &App, account_id: &AccountId, id: &JobId) -> Reply {
    let job = app.engine.jobs().job(account_id, id).await.ok();
    let mut reply = pending(app, id, job.as_ref());
    let applied = HeaderValue::from_static(RESPOND_ASYNC);
    reply.headers_mut().insert(PREFERENCE_APPLIED, applied);
    reply
}

/// Says that an answer is not there yet.
fn pending(app: &App, id: &JobId, seen: Option<&Job>) -> Reply {
    let pending = PendingAnswer::of(id, seen, &app.engine.urls().base());
    let mut reply = reply::json_of(&pending);
    *reply.status_mut() = StatusCode::ACCEPTED;
    if let Ok(poll) = HeaderValue::from_str(&pending.poll) {
        reply.headers_mut().insert(LOCATION, poll);
    }
    let usual_s = seen.and_then(|job| {
        let (_, entry) = atelier_contract::operation(&job.operation)?;
        Some((entry.usual_s)(&job.request))
    });
    let again_s = usual_s.unwrap_or_default() / LOOKS;
    let again_s = again_s.clamp(SOONEST_S, LATEST_S);
    reply
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from(again_s));
    name_job(&mut reply, id.as_str());
    reply
}

/// Names the job of an answer.
pub(super) fn name_job(reply: &mut Reply, id: &str) {
    if let Ok(id) = HeaderValue::from_str(id) {
        reply.headers_mut().insert(JOB_ID, id);
    }
}

/// The answer of a job for somebody who did not wait: where it will be, and then what the call would have been answered, also
/// if that is a refusal.
pub(crate) async fn of_job(app: &App, job: &Job, holder: &Arc<str>) -> HandlerResult {
    let (_, entry) =
        atelier_contract::operation(&job.operation).ok_or_else(Refusal::job_not_found)?;
    let AnswerMode::Answer(render) = entry.answers_with else {
        let message = format!(
            "{} answers with a job and has no other answer; /jobs/v1/{} shows it",
            entry.name, job.id
        );
        return Err(Refusal::new(Code::ActionNotAvailable, message).into());
    };
    if !job.state.is_final() {
        return Ok(pending(app, &job.id, Some(job)));
    }
    let answer = kept(app, entry, job, holder, render).await;
    let shape = RefusalShape::of(entry.path);
    let mut reply = match answer {
        Ok(value) => reply::json_of(&value),
        Err(denial) => reply::denied(shape, &denial),
    };
    name_job(&mut reply, job.id.as_str());
    Ok(reply)
}

/// The same from what is still kept of a job. To read and write the bytes of its files is work, so that few of one account are
/// made at once.
async fn kept(
    app: &App,
    entry: &SubmitEndpoint,
    job: &Job,
    holder: &Arc<str>,
    render: fn(&FinishedJob<'_>) -> Value,
) -> Result<Value, Denial> {
    let now_ms = app.engine.now_ms();
    let mut files = job.files(FileRole::Main);
    if files.any(|file| file.expires_ms <= now_ms) {
        let message = "the files of this answer have expired";
        return Err(Refusal::new(Code::Expired, message).into());
    }
    let _turn = if (entry.wants_bytes)(job) {
        let turn = timeout(TURN_WITHIN, app.long_answers.take(holder, 1)).await;
        Some(turn.map_err(|_| Refusal::new(Code::Overloaded, NO_TURN))?)
    } else {
        None
    };
    let rendered = |done: &FinishedJob<'_>| render_answer(render, done);
    Ok(finished(app, entry, job, rendered).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preference_is_found_among_others_and_in_any_case() {
        let prefers = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(PREFER, HeaderValue::from_static(value));
            }
            prefers_later(&headers)
        };
        for asked in [
            &["respond-async"][..],
            &["return=minimal, Respond-Async"],
            &["respond-async; wait=10"],
            &["wait=10", "respond-async"],
        ] {
            assert!(prefers(asked), "{asked:?}");
        }
        for other in [&[][..], &["wait=10"], &["respond-asynchronously"]] {
            assert!(!prefers(other), "{other:?}");
        }
    }
}
