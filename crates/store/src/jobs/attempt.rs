//! Attempts: what was asked of a back end, and how far it is. Every write carries the fence.

use crate::{Result, Store};

/// The intent to ask a back end, written before it is asked.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Identifier, also the token the back end sees.
    pub id: String,
    /// The job.
    pub job_id: String,
    /// The fence of the lease.
    pub fence: i64,
    /// The back end or worker account.
    pub worker: String,
    /// The time.
    pub now_ms: i64,
}

/// How far a job is.
#[derive(Clone, Debug)]
pub struct ProgressNote {
    /// The job.
    pub job_id: String,
    /// The fence of the lease.
    pub fence: i64,
    /// 0 to 100.
    pub progress: i64,
}

/// The wish to give a running job back to the queue.
#[derive(Clone, Debug)]
pub struct Requeue {
    /// The job.
    pub job_id: String,
    /// The fence of the lease.
    pub fence: i64,
    /// Not to be leased before.
    pub not_before_ms: i64,
    /// In words, kept with the attempt.
    pub why: String,
    /// The time.
    pub now_ms: i64,
    /// How the attempt ended: lost, rejected…
    pub attempt_state: &'static str,
}

impl Store {
    /// Records the intent to ask a back end; false when the fence moved on.
    pub async fn begin_attempt(&self, _attempt: Attempt) -> Result<bool> {
        Err(crate::Error::NotFound)
    }
    /// Records the back end's ticket; false when the fence moved on.
    pub async fn record_ticket(
        &self,
        _job_id: &str,
        _fence: i64,
        _attempt_id: &str,
        _ticket: &str,
        _now_ms: i64,
    ) -> Result<bool> {
        Err(crate::Error::NotFound)
    }
    /// Records how far jobs are; never goes down within an attempt.
    pub async fn write_progress(&self, _notes: Vec<ProgressNote>, _now_ms: i64) -> Result<()> {
        Err(crate::Error::NotFound)
    }
    /// Gives a running job back to the queue; false when the fence moved on.
    pub async fn requeue(&self, _requeue: Requeue) -> Result<bool> {
        Err(crate::Error::NotFound)
    }
}
