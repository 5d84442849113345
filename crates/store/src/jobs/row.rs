//! A job as it is stored.

use atelier_contract::{FaultKind, JobState, Quota, Speed};

use crate::attribution::Attribution;
use crate::row::{Columns, FromRow};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRow {
    pub id: String,
    pub account_id: String,
    /// Its family and its own name, as in `artgen.imagine`.
    pub operation: String,
    /// The queue whose limit it counts against.
    pub queue: String,
    pub state: JobState,
    /// How fast it was asked for.
    pub speed: Speed,
    /// In percent, 0 to 100.
    pub progress: i64,
    pub message: Option<String>,
    /// The request as JSON.
    pub request: String,
    /// The output as JSON.
    pub output: Option<String>,
    /// What was held for the job.
    pub price: Quota,
    /// What was charged; zero until it succeeded.
    pub quota: Quota,
    /// The job it follows.
    pub parent_id: Option<String>,
    /// A name by which the account may cite it.
    pub alias: Option<String>,
    /// Where the result is posted to.
    pub hook_url: Option<String>,
    /// How often posting was tried.
    pub hook_times: i64,
    /// When it was accepted.
    pub created_ms: i64,
    /// When somebody began to work on it, in the lease it has; a lease alone is no work.
    pub started_ms: Option<i64>,
    /// When it became final.
    pub finished_ms: Option<i64>,
    /// When it is failed if it has not finished.
    pub deadline_ms: i64,
    /// When anything a caller sees of it last changed.
    pub updated_ms: i64,
    /// Counts changes a caller sees.
    pub revision: i64,
    /// Counts leases; a write with an older number is refused.
    pub fence: i64,
    /// The node that runs it.
    pub lease_owner: Option<String>,
    pub lease_until_ms: Option<i64>,
    /// How many attempts were begun.
    pub tries: i64,
    pub attempt_id: Option<String>,
    /// The back end's ticket of the current attempt, as JSON.
    pub ticket: Option<String>,
    /// The back end or worker account of the current attempt.
    pub worker: Option<String>,
    /// Where it may run; empty for any back end of the operator's.
    pub lane: String,
    /// The worker account that made the job it follows.
    pub follows: Option<String>,
    /// Leases that were given back without a try, or that took up an earlier try.
    pub handed_back: i64,
    /// Why it failed, as a value.
    pub fault: Option<FaultKind>,
    /// Whether it was submitted together with others.
    pub batched: bool,
    /// The model of the catalogue that it was accepted with.
    pub model: Option<String>,
    /// The revision of that model.
    pub model_revision: Option<u32>,
    /// The lines of its price as JSON, where they are known.
    pub price_lines: Option<String>,
    /// Who spends on it.
    pub attribution: Attribution,
    /// The moment at which it counts in the windows of its keys, where that is not when it was created.
    pub counted_ms: Option<i64>,
}

impl JobRow {
    /// Where it is, to its caller: a leased job waits until somebody works on it.
    pub fn shown_state(&self) -> JobState {
        shown(self.state, self.started_ms)
    }

    /// How often the job has been begun.
    pub fn begun(&self) -> i64 {
        self.fence - self.handed_back
    }
}

/// The columns of a [`JobRow`], in its order.
pub(crate) const JOB_COLUMNS: &str = "job.id, job.account_id, job.operation, job.queue, job.state, \
     job.speed, job.progress, job.message, job.request, job.output, job.price, job.quota, \
     job.parent_id, job.alias, job.hook_url, \
     COALESCE((SELECT attempts FROM delivery WHERE delivery.job_id = job.id), 0), \
     job.created_ms, job.started_ms, job.finished_ms, job.deadline_ms, job.updated_ms, \
     job.revision, job.fence, job.lease_owner, job.lease_until_ms, job.tries, job.attempt_id, \
     (SELECT ticket FROM attempt WHERE attempt.id = job.attempt_id), job.worker, job.lane, job.follows, \
     job.handed_back, job.fault, job.batched, job.model, job.model_revision, job.price_lines, \
     job.key_id, job.key_above, job.member_id, job.used_model, job.tags, job.end_user, job.counted_ms";

impl FromRow for JobRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        let mut row = Self {
            id: columns.text()?,
            account_id: columns.text()?,
            operation: columns.text()?,
            queue: columns.text()?,
            state: state(columns.int()?)?,
            speed: Speed::from_number(columns.int()?),
            progress: columns.int()?,
            message: columns.maybe_text()?,
            request: columns.text()?,
            output: columns.maybe_text()?,
            price: columns.quota()?,
            quota: columns.quota()?,
            parent_id: columns.maybe_text()?,
            alias: columns.maybe_text()?,
            hook_url: columns.maybe_text()?,
            hook_times: columns.int()?,
            created_ms: columns.int()?,
            started_ms: columns.maybe_int()?,
            finished_ms: columns.maybe_int()?,
            deadline_ms: columns.int()?,
            updated_ms: columns.int()?,
            revision: columns.int()?,
            fence: columns.int()?,
            lease_owner: columns.maybe_text()?,
            lease_until_ms: columns.maybe_int()?,
            tries: columns.int()?,
            attempt_id: columns.maybe_text()?,
            ticket: columns.maybe_text()?,
            worker: columns.maybe_text()?,
            lane: columns.text()?,
            follows: columns.maybe_text()?,
            handed_back: columns.int()?,
            fault: columns.maybe_text()?.as_deref().map(FaultKind::from_word),
            batched: columns.maybe_int()?.is_some(),
            model: columns.maybe_text()?,
            model_revision: columns.maybe_int()?.map(|number| number as u32),
            price_lines: columns.maybe_text()?,
            attribution: Attribution::read(columns)?,
            counted_ms: columns.maybe_int()?,
        };
        // Jobs that failed before the kind was kept tell it by their message.
        if row.state == JobState::Failed && row.fault.is_none() {
            row.fault = row.message.as_deref().map(FaultKind::from_message);
        }
        Ok(row)
    }
}

/// Where a job is, to its caller.
pub(crate) fn shown(state: JobState, started_ms: Option<i64>) -> JobState {
    match state {
        JobState::Running if started_ms.is_none() => JobState::Waiting,
        other => other,
    }
}

pub(crate) fn state(number: i64) -> sqlx::Result<JobState> {
    JobState::from_number(number)
        .ok_or_else(|| sqlx::Error::Decode(format!("no job state {number}").into()))
}
