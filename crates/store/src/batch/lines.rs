//! The rows that a batch writes for jobs, their attempts and what is owed for them.

use atelier_contract::{FaultKind, JobState};
use serde::Serialize;
use url::Position;

use crate::changes::accept::Acceptance;
use crate::changes::attempt::Attempt;
use crate::changes::bulk::{BulkItem, NewBulk, encode_items};
use crate::changes::delivery::Delivery;
use crate::db::{Arg, Line, args};
use crate::jobs::row::JobRow;

/// A new job's row.
pub(crate) struct JobLine<'a> {
    accept: &'a Acceptance,
    turn_ms: i64,
    /// When it counts in the windows of its keys, if that is another moment.
    counted_ms: Option<i64>,
    pub(crate) fence: i64,
    first: Option<&'a Attempt>,
}

impl<'a> JobLine<'a> {
    /// The row of a job, and of its first attempt, if that begins as well.
    pub(crate) fn new(
        accept: &'a Acceptance,
        turn_ms: i64,
        counted_ms: i64,
        first: Option<&'a Attempt>,
    ) -> Self {
        Self {
            accept,
            turn_ms,
            counted_ms: (counted_ms != accept.job.created_ms).then_some(counted_ms),
            fence: i64::from(accept.lease.is_some()),
            first,
        }
    }
}

impl Line for JobLine<'_> {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        let Acceptance {
            job,
            lease,
            working,
            ..
        } = self.accept;
        let state = if lease.is_some() {
            JobState::Running
        } else {
            JobState::Waiting
        };
        out.extend_from_slice(args![
            &job.id,
            &job.account_id,
            &job.operation,
            &job.queue,
            state.number(),
            job.speed as i64,
            &job.request,
            job.words() as i64,
            job.price.thousandths(),
            job.parent_id.as_deref(),
            &job.lane,
            job.follows.as_deref(),
            job.hook_url.as_deref(),
            job.created_ms,
            working.then_some(job.created_ms),
            job.deadline_ms,
            self.turn_ms,
            self.fence,
            lease.as_ref().map(|lease| &*lease.owner),
            lease.as_ref().map(|lease| lease.until_ms),
            i64::from(self.first.is_some()),
            self.first.map(|first| &*first.id),
            self.first.map(|first| &*first.worker),
            job.batched.then_some(1_i64),
            job.model.as_deref(),
            job.model_revision.map(i64::from),
            job.price_lines.as_deref(),
            self.counted_ms,
        ]);
        job.attribution.put(out);
    }
}

/// The row of what was submitted together.
#[derive(Serialize)]
pub(crate) struct BulkLine<'a> {
    id: &'a str,
    account_id: &'a str,
    items: String,
    /// How many bytes those have.
    pub(crate) bytes: usize,
    created_ms: i64,
}

impl<'a> BulkLine<'a> {
    pub(crate) fn new(bulk: &'a NewBulk, items: &[BulkItem]) -> Self {
        let items = encode_items(items);
        Self {
            id: &bulk.id,
            account_id: &bulk.account_id,
            bytes: items.len(),
            items,
            created_ms: bulk.created_ms,
        }
    }
}

/// What the end of a job changes of its row.
pub(crate) struct FinalLine {
    id: String,
    state: i64,
    progress: i64,
    message: Option<String>,
    output: Option<String>,
    alias: Option<String>,
    quota: i64,
    started_ms: Option<i64>,
    finished_ms: Option<i64>,
    deadline_ms: i64,
    revision: i64,
    fault: Option<&'static str>,
    attempt_id: Option<String>,
    attempt_state: &'static str,
}

impl FinalLine {
    pub(crate) fn new(row: &JobRow) -> Self {
        Self {
            id: row.id.clone(),
            state: row.state.number(),
            progress: row.progress,
            message: row.message.clone(),
            output: row.output.clone(),
            alias: row.alias.clone(),
            quota: row.quota.thousandths(),
            started_ms: row.started_ms,
            finished_ms: row.finished_ms,
            deadline_ms: row.deadline_ms,
            revision: row.revision,
            fault: row.fault.map(FaultKind::word),
            attempt_id: row.attempt_id.clone(),
            attempt_state: if row.state == JobState::Succeeded {
                "done"
            } else {
                "failed"
            },
        }
    }
}

impl Line for FinalLine {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        out.extend_from_slice(args![
            &self.id,
            self.state,
            self.progress,
            self.message.as_deref(),
            self.output.as_deref(),
            self.alias.as_deref(),
            self.quota,
            self.started_ms,
            self.finished_ms,
            self.deadline_ms,
            self.revision,
            self.fault,
        ]);
    }
}

/// The end of a job's last attempt.
pub(crate) struct AttemptEnd<'a> {
    id: &'a str,
    line: &'a FinalLine,
}

impl<'a> AttemptEnd<'a> {
    pub(crate) fn of(line: &'a FinalLine) -> Option<Self> {
        let id = line.attempt_id.as_deref()?;
        Some(Self { id, line })
    }
}

impl Line for AttemptEnd<'_> {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        out.extend_from_slice(args![
            self.id,
            self.line.attempt_state,
            self.line.finished_ms
        ]);
    }
}

/// A result owed to a caller's address.
pub(crate) struct DeliveryLine {
    id: String,
    job_id: String,
    account_id: String,
    url: String,
    host: String,
    state: &'static str,
    attempts: i64,
    next_ms: i64,
    created_ms: i64,
}

impl DeliveryLine {
    /// What a final job owes: due at once, or on its way for the first time until then.
    pub(crate) fn owed(row: &JobRow, due_ms: i64, claimed_until_ms: Option<i64>) -> Option<Self> {
        let url = row.hook_url.clone()?;
        Some(Self {
            id: format!("cb_{}", row.id),
            job_id: row.id.clone(),
            account_id: row.account_id.clone(),
            host: host(&url),
            url,
            state: claimed_until_ms.map_or("due", |_| "sending"),
            attempts: i64::from(claimed_until_ms.is_some()),
            next_ms: claimed_until_ms.unwrap_or(due_ms),
            created_ms: row.finished_ms.unwrap_or_default(),
        })
    }
}

impl Line for DeliveryLine {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        out.extend_from_slice(args![
            &self.id,
            &self.job_id,
            &self.account_id,
            &self.url,
            &self.host,
            self.state,
            self.attempts,
            self.next_ms,
            self.created_ms,
        ]);
    }
}

impl Delivery {
    /// The delivery of a job that was claimed by the commit that ended it.
    pub(crate) fn first_try(row: &JobRow, until_ms: i64) -> Option<Self> {
        let line = DeliveryLine::owed(row, 0, Some(until_ms))?;
        Some(Self {
            id: line.id,
            job_id: line.job_id,
            account_id: line.account_id,
            url: line.url,
            host: line.host,
            state: line.state.to_owned(),
            attempts: line.attempts,
            failures: 0,
            next_ms: line.next_ms,
            last_status: None,
            last_error: None,
            created_ms: line.created_ms,
            delivered_ms: None,
        })
    }
}

/// The host of an address, with its port when it is not the usual one: two receivers on one machine are two. The
/// address itself when it has none, so that it still counts against something.
fn host(address: &str) -> String {
    let parsed = url::Url::parse(address).ok();
    let host = parsed.map(|url| url[Position::BeforeHost..Position::AfterPort].to_owned());
    host.filter(|host| !host.is_empty())
        .unwrap_or_else(|| address.to_owned())
}
