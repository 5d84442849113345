//! The body that fetch and callbacks share.

use atelier_contract::Job;
use atelier_contract::family::Family;
use atelier_contract::models::render_job;
use bytes::Bytes;

/// The family of an operation.
pub(crate) fn family_of(operation: &str) -> Option<&'static Family> {
    atelier_contract::operation(operation).map(|(family, _)| family)
}

/// What the family shows of a job.
pub(crate) fn render(family: &Family, job: &Job) -> Bytes {
    Bytes::from(render_job(family, job).to_string())
}
