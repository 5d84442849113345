//! What fetch shows of a job, and what its callback posts.

use atelier_contract::Job;
use atelier_contract::family::{AnswerMode, Family};
use atelier_contract::models::render_job;
use atelier_contract::own_callbacks::own_callback;
use atelier_contract::pages::jobs::JobView;
use bytes::Bytes;

/// The family of an operation.
pub(crate) fn family_of(operation: &str) -> Option<&'static Family> {
    atelier_contract::operation(operation).map(|(family, _)| family)
}

/// What is posted of a job: the body of the family's fetch, or that of `/jobs/v1/{jobId}` where the operation answers with its
/// result and has no fetch. Both name results by their URLs.
pub(crate) fn callback_body(job: &Job) -> Option<Bytes> {
    let (family, submit) = atelier_contract::operation(&job.operation)?;
    // A job from a compatibility API with callbacks of its own gets that API's body.
    if let Some(other) = own_callback(job) {
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
