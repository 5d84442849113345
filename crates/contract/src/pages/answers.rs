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
    /// URL of the job's changes as server-sent events.
    pub events: String,
}

impl PendingAnswer {
    /// Of a job, as far as it has been seen, at a service with a public address.
    pub fn of(id: &JobId, seen: Option<&Job>, base_url: &str) -> Self {
        let waits = seen.is_none_or(|job| job.state == JobState::Waiting);
        Self {
            id: id.clone(),
            status: if waits { "queued" } else { "in_progress" },
            progress: seen.map_or(0, |job| match job.state {
                JobState::Succeeded | JobState::Failed => 100,
                JobState::Waiting | JobState::Running => job.progress,
            }),
            poll: format!("{base_url}{}", ANSWER_PATH.replace("{jobId}", id.as_str())),
            events: format!("{base_url}/jobs/v1/{id}/events"),
        }
    }
}
