//! The body that fetch and callbacks share, and that of callbacks alone.

use atelier_contract::family::{AnswerMode, Family};
use atelier_contract::models::render_job;
use atelier_contract::pages::jobs::JobView;
use atelier_contract::{Job, midjourney};
use bytes::Bytes;

/// The family of an operation.
pub(crate) fn family_of(operation: &str) -> Option<&'static Family> {
    atelier_contract::operation(operation).map(|(family, _)| family)
}

/// What is posted of a job: what the family shows of it, or the job as its own page shows it where the operation answers with
/// its result and has no fetch. Results stand in both as addresses.
pub(crate) fn callback_body(job: &Job) -> Option<Bytes> {
    let (family, submit) = atelier_contract::operation(&job.operation)?;
    // A job that was asked for in other words is told of in them.
    if let Some(other) = midjourney::callback(job) {
        return Some(Bytes::from(other.to_string()));
    }
    match submit.answers_with {
        AnswerMode::Job => Some(render(family, job)),
        AnswerMode::Answer(_) => serde_json::to_vec(&JobView::of(job)).ok().map(Bytes::from),
    }
}

/// What the family shows of a job.
pub(crate) fn render(family: &Family, job: &Job) -> Bytes {
    Bytes::from(render_job(family, job).to_string())
}
