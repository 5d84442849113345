//! Writing a decided batch: one statement for each table.

use atelier_contract::JobState;
use serde::Serialize;
use url::Position;

use crate::assets;
use crate::batch::decide::Decisions;
use crate::batch::json;
use crate::db::{Arg, Conn, Line, args};
use crate::jobs::JobRow;
use crate::jobs::accept::Accept;
use crate::{Error, Result};

/// A new job's row.
pub(crate) struct JobLine<'a> {
    accept: &'a Accept,
    turn_ms: i64,
    pub(crate) fence: i64,
}

impl<'a> JobLine<'a> {
    pub(crate) fn new(accept: &'a Accept, turn_ms: i64) -> Self {
        Self {
            accept,
            turn_ms,
            fence: i64::from(accept.lease.is_some()),
        }
    }
}

impl Line for JobLine<'_> {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        let Accept { job, lease, .. } = self.accept;
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
            job.price.thousandths(),
            job.parent_id.as_deref(),
            &job.lane,
            job.follows.as_deref(),
            job.hook_url.as_deref(),
            job.created_ms,
            lease.as_ref().map(|_| job.created_ms),
            job.deadline_ms,
            self.turn_ms,
            self.fence,
            lease.as_ref().map(|lease| &*lease.owner),
            lease.as_ref().map(|lease| lease.until_ms),
        ]);
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
    finished_ms: Option<i64>,
    revision: i64,
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
            finished_ms: row.finished_ms,
            revision: row.revision,
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
            self.finished_ms,
            self.revision,
        ]);
    }
}

/// The end of a job's last attempt.
struct AttemptEnd<'a> {
    id: &'a str,
    line: &'a FinalLine,
}

impl<'a> AttemptEnd<'a> {
    fn of(line: &'a FinalLine) -> Option<Self> {
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
#[derive(Serialize)]
pub(crate) struct DeliveryLine {
    id: String,
    job_id: String,
    account_id: String,
    url: String,
    host: String,
    created_ms: i64,
}

impl DeliveryLine {
    pub(crate) fn owed(row: &JobRow, now_ms: i64) -> Option<Self> {
        let url = row.hook_url.clone()?;
        Some(Self {
            id: format!("cb_{}", row.id),
            job_id: row.id.clone(),
            account_id: row.account_id.clone(),
            host: host(&url),
            url,
            created_ms: now_ms,
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

#[derive(Serialize)]
struct CallLine<'a> {
    account_id: &'a str,
    key: &'a str,
    fingerprint: &'a str,
    job_id: &'a str,
    created_ms: i64,
}

/// Writes everything a batch decided.
pub(crate) async fn all(conn: &mut Conn, decisions: &Decisions<'_>) -> Result<()> {
    if !decisions.new_jobs.is_empty() {
        conn.run_lines(INSERT_JOBS, &decisions.new_jobs).await?;
    }
    decisions.books.write(conn).await?;
    calls(conn, decisions).await?;
    finals(conn, decisions).await?;
    assets::upsert(conn, &decisions.assets).await
}

async fn calls(conn: &mut Conn, decisions: &Decisions<'_>) -> Result<()> {
    let lines: Vec<CallLine<'_>> = decisions
        .new_calls
        .iter()
        .filter_map(|key| {
            let call = decisions.call(key)?;
            Some(CallLine {
                account_id: &key.0,
                key: &key.1,
                fingerprint: &call.fingerprint,
                job_id: &call.job_id,
                created_ms: call.created_ms,
            })
        })
        .collect();
    if !lines.is_empty() {
        conn.run(INSERT_CALLS, args![&json(&lines)]).await?;
    }
    Ok(())
}

async fn finals(conn: &mut Conn, decisions: &Decisions<'_>) -> Result<()> {
    if decisions.finals.is_empty() {
        return Ok(());
    }
    let changed = conn.run_lines(UPDATE_FINALS, &decisions.finals).await?;
    if changed != decisions.finals.len() as u64 {
        return Err(Error::Conflict("a job to be settled is not there".into()));
    }
    let ends: Vec<AttemptEnd<'_>> = decisions.finals.iter().filter_map(AttemptEnd::of).collect();
    if !ends.is_empty() {
        conn.run_lines(END_ATTEMPTS, &ends).await?;
    }
    if !decisions.deliveries.is_empty() {
        conn.run(INSERT_DELIVERIES, args![&json(&decisions.deliveries)])
            .await?;
    }
    Ok(())
}

const INSERT_JOBS: &str = "INSERT INTO job (id, account_id, operation, queue, state, speed, progress, \
     request, price, quota, parent_id, lane, follows, hook_url, created_ms, started_ms, deadline_ms, updated_ms, \
     revision, turn_ms, not_before_ms, fence, lease_owner, lease_until_ms, tries) \
     SELECT v.id, v.account_id, v.operation, v.queue, v.state, v.speed, 0, v.request, v.price, 0, \
     v.parent_id, v.lane, v.follows, v.hook_url, v.created_ms, v.started_ms, v.deadline_ms, v.created_ms, 1, v.turn_ms, \
     0, v.fence, v.lease_owner, v.lease_until_ms, 0 \
     FROM {lines:id text, account_id text, operation text, queue text, state bigint, speed bigint, \
     request text, price bigint, parent_id text, lane text, follows text, hook_url text, created_ms bigint, started_ms bigint, \
     deadline_ms bigint, turn_ms bigint, fence bigint, lease_owner text, lease_until_ms bigint}";

const INSERT_CALLS: &str = "INSERT INTO idempotency (account_id, key, fingerprint, job_id, created_ms) \
     SELECT v.account_id, v.key, v.fingerprint, v.job_id, v.created_ms \
     FROM {rows:$1 account_id text, key text, fingerprint text, job_id text, created_ms bigint} \
     WHERE TRUE ON CONFLICT (account_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, \
     job_id = excluded.job_id, created_ms = excluded.created_ms";

const UPDATE_FINALS: &str = "UPDATE job SET state = v.state, progress = v.progress, \
     message = v.message, output = v.output, alias = v.alias, quota = v.quota, \
     finished_ms = v.finished_ms, updated_ms = v.finished_ms, revision = v.revision, \
     lease_owner = NULL, lease_until_ms = NULL \
     FROM {lines:id text, state bigint, progress bigint, message text, output text, alias text, \
     quota bigint, finished_ms bigint, revision bigint} WHERE job.id = v.id";

const END_ATTEMPTS: &str = "UPDATE attempt SET state = v.attempt_state, ended_ms = v.finished_ms \
     FROM {lines:attempt_id text, attempt_state text, finished_ms bigint} \
     WHERE attempt.id = v.attempt_id AND attempt.ended_ms IS NULL";

const INSERT_DELIVERIES: &str = "INSERT INTO delivery (id, job_id, account_id, url, host, state, \
     attempts, next_ms, created_ms) \
     SELECT v.id, v.job_id, v.account_id, v.url, v.host, 'due', 0, v.created_ms, v.created_ms \
     FROM {rows:$1 id text, job_id text, account_id text, url text, host text, created_ms bigint}";
