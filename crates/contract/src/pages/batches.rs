//! Many requests submitted at once, and how far they are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quote::QuoteRequest;
use crate::body::Fields;
use crate::fields::List;
use crate::ids::JobId;
use crate::quota::Quota;

/// The most requests of one batch.
pub const MOST_REQUESTS: usize = 1000;

/// Requests to be submitted together.
#[derive(Deserialize, JsonSchema)]
pub struct NewBatch {
    /// The requests: each an operation and the body of its submit.
    pub requests: List<QuoteRequest, 1, MOST_REQUESTS>,
}

/// Responses to the requests of a batch.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatchAnswers {
    /// Identifier of the batch, to ask for it later.
    pub batch_id: String,
    /// How many requests became jobs.
    pub accepted: usize,
    /// How many were refused.
    pub refused: usize,
    /// For each request, in order, the response of a submit of its own.
    pub answers: Vec<Fields>,
}

/// How far a batch is.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatchView {
    /// Identifier of the batch.
    pub batch_id: String,
    /// When it was submitted, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub created_at: String,
    /// How many requests are where.
    pub counts: BatchCounts,
    /// Whether nothing of it is unfinished.
    pub done: bool,
    /// Quota consumed so far.
    pub quota: Quota,
    /// Quota reserved until its jobs have ended.
    pub held: Quota,
    /// The requests in order.
    pub items: Vec<BatchItem>,
}

/// How many requests are where.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct BatchCounts {
    /// All requests of the batch.
    pub total: usize,
    /// Those that were refused.
    pub refused: usize,
    /// Jobs that wait for a start.
    pub waiting: usize,
    /// Jobs that are being executed.
    pub running: usize,
    /// Jobs that finished with a result.
    pub succeeded: usize,
    /// Jobs that finished without a result.
    pub failed: usize,
    /// Jobs that were deleted.
    pub deleted: usize,
}

/// One request of a batch.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatchItem {
    /// The requested operation, `family.operation`.
    pub operation: String,
    /// The job that came of it; null when it was refused.
    pub job_id: Option<JobId>,
    /// `REFUSED`, `PENDING_QUEUE`, `ON_QUEUE`, `SUCCESS`, `FAILED` or `DELETED`.
    pub status: &'static str,
    /// Progress of the job in percent, 0 to 100.
    pub progress: u8,
    /// Why it was refused.
    pub message: Option<String>,
    /// The machine word of the refusal.
    pub code: Option<&'static str>,
}
