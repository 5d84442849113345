//! The answer of a synchronous operation that is not waited for: where it will be, until it is there.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ids::JobId;
use crate::job::{Job, JobState};

/// The path of an answer, with a placeholder for its job.
pub const ANSWER_PATH: &str = "/jobs/v1/{jobId}/answer";

/// A synchronous operation whose answer is not there yet.
#[derive(Serialize, JsonSchema)]
pub struct PendingAnswer {
    /// Identifier of the job.
    pub id: JobId,
    /// `queued` or `in_progress`.
    pub status: &'static str,
    /// Progress in percent, 0 to 100; 100 where the job was over already, so that its answer is there.
    pub progress: u8,
    /// Where the answer will be: it says the same as this until then.
    pub poll: String,
    /// Where every change of the job is told, as server-sent events.
    pub events: String,
}

impl PendingAnswer {
    /// Of a job, at a service with a public address.
    pub fn of(job: &Job, base_url: &str) -> Self {
        let id = job.id.as_str();
        Self {
            id: job.id.clone(),
            status: match job.state {
                JobState::Waiting => "queued",
                _ => "in_progress",
            },
            progress: if job.state.is_final() {
                100
            } else {
                job.progress
            },
            poll: format!("{base_url}{}", ANSWER_PATH.replace("{jobId}", id)),
            events: format!("{base_url}/jobs/v1/{id}/events"),
        }
    }
}
