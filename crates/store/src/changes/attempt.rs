//! An attempt: the intent to ask a back end and its ticket, as they are written.

use serde::Serialize;

/// The intent to ask a back end, written before it is asked.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Identifier, also the token the back end sees.
    pub id: String,
    pub job_id: String,
    /// The fence of the lease.
    pub fence: i64,
    /// The back end or worker account.
    pub worker: String,
    /// What the worker may be given, on all nodes together.
    pub limits: StartLimits,
    /// The service's own time.
    pub now_ms: i64,
}

/// What a worker may be given; 0 for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartLimits {
    /// Jobs in hand at once.
    pub concurrency: i64,
    /// Starts in any minute.
    pub per_minute: i64,
    /// Starts in any hour.
    pub per_hour: i64,
}

/// What came of the wish to begin an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptStart {
    Yes,
    /// The job is another node's by now.
    Lost,
    /// The worker has as much as it may have; other nodes gave it some.
    Full,
}

/// A back end's ticket for an attempt, as it is written.
#[derive(Serialize)]
pub(crate) struct TicketReceipt {
    pub(crate) job_id: String,
    pub(crate) fence: i64,
    pub(crate) attempt_id: String,
    pub(crate) ticket: String,
    pub(crate) now_ms: i64,
}
