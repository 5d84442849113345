//! Writing a decided batch: one statement for each table.

use atelier_contract::JobState;
use serde::Serialize;

use crate::assets;
use crate::batch::decide::Decisions;
use crate::batch::json;
use crate::db::{Conn, args};
use crate::jobs::JobRow;
use crate::jobs::accept::Accept;
use crate::{Error, Result};

/// A new job's row.
#[derive(Serialize)]
pub(crate) struct JobLine {
    id: String,
    account_id: String,
    operation: String,
    queue: String,
    state: i64,
    speed: i64,
    request: String,
    price: i64,
    parent_id: Option<String>,
    hook_url: Option<String>,
    created_ms: i64,
    started_ms: Option<i64>,
    deadline_ms: i64,
    turn_ms: i64,
    pub(crate) fence: i64,
    lease_owner: Option<String>,
    lease_until_ms: Option<i64>,
}

impl JobLine {
    pub(crate) fn new(accept: &Accept, turn_ms: i64) -> Self {
        let job = accept.job.clone();
        let lease = accept.lease.clone();
        let state = if lease.is_some() {
            JobState::Running
        } else {
            JobState::Waiting
        };
        Self {
            id: job.id,
            account_id: job.account_id,
            operation: job.operation,
            queue: job.queue,
            state: state.number(),
            speed: job.speed as i64,
            request: job.request,
            price: job.price.thousandths(),
            parent_id: job.parent_id,
            hook_url: job.hook_url,
            created_ms: job.created_ms,
            started_ms: lease.as_ref().map(|_| job.created_ms),
            deadline_ms: job.deadline_ms,
            turn_ms,
            fence: i64::from(lease.is_some()),
            lease_until_ms: lease.as_ref().map(|lease| lease.until_ms),
            lease_owner: lease.map(|lease| lease.owner),
        }
    }
}

/// What the end of a job changes of its row.
#[derive(Serialize)]
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

/// The host of an address; the address itself when it has none, so that it still counts against something.
fn host(address: &str) -> String {
    let parsed = url::Url::parse(address).ok();
    parsed
        .and_then(|url| url.host_str().map(str::to_owned))
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
pub(crate) async fn all(conn: &mut Conn, decisions: &Decisions) -> Result<()> {
    if !decisions.new_jobs.is_empty() {
        conn.run(INSERT_JOBS, args![&json(&decisions.new_jobs)])
            .await?;
    }
    decisions.books.write(conn).await?;
    calls(conn, decisions).await?;
    finals(conn, decisions).await?;
    assets::upsert(conn, &decisions.assets).await
}

async fn calls(conn: &mut Conn, decisions: &Decisions) -> Result<()> {
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

async fn finals(conn: &mut Conn, decisions: &Decisions) -> Result<()> {
    if decisions.finals.is_empty() {
        return Ok(());
    }
    let lines = json(&decisions.finals);
    let changed = conn.run(UPDATE_FINALS, args![&lines]).await?;
    if changed != decisions.finals.len() as u64 {
        return Err(Error::Conflict("a job to be settled is not there".into()));
    }
    conn.run(END_ATTEMPTS, args![&lines]).await?;
    if !decisions.deliveries.is_empty() {
        conn.run(INSERT_DELIVERIES, args![&json(&decisions.deliveries)])
            .await?;
    }
    Ok(())
}

const INSERT_JOBS: &str = "INSERT INTO job (id, account_id, operation, queue, state, speed, progress, \
     request, price, quota, parent_id, hook_url, created_ms, started_ms, deadline_ms, updated_ms, \
     revision, turn_ms, not_before_ms, fence, lease_owner, lease_until_ms, tries) \
     SELECT v.id, v.account_id, v.operation, v.queue, v.state, v.speed, 0, v.request, v.price, 0, \
     v.parent_id, v.hook_url, v.created_ms, v.started_ms, v.deadline_ms, v.created_ms, 1, v.turn_ms, \
     0, v.fence, v.lease_owner, v.lease_until_ms, 0 \
     FROM {rows:$1 id text, account_id text, operation text, queue text, state bigint, speed bigint, \
     request text, price bigint, parent_id text, hook_url text, created_ms bigint, started_ms bigint, \
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
     FROM {rows:$1 id text, state bigint, progress bigint, message text, output text, alias text, \
     quota bigint, finished_ms bigint, revision bigint} WHERE job.id = v.id";

const END_ATTEMPTS: &str = "UPDATE attempt SET state = v.attempt_state, ended_ms = v.finished_ms \
     FROM {rows:$1 attempt_id text, attempt_state text, finished_ms bigint} \
     WHERE attempt.id = v.attempt_id AND attempt.ended_ms IS NULL";

const INSERT_DELIVERIES: &str = "INSERT INTO delivery (id, job_id, account_id, url, host, state, \
     attempts, next_ms, created_ms) \
     SELECT v.id, v.job_id, v.account_id, v.url, v.host, 'due', 0, v.created_ms, v.created_ms \
     FROM {rows:$1 id text, job_id text, account_id text, url text, host text, created_ms bigint}";
