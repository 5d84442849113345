//! What happened lately, and to one job: for those who look, never for those who work.

use atelier_contract::{JobState, Quota};

use super::row::state;
use crate::Result;
use crate::db::args;
use crate::jobs::attempt::Attempts;
use crate::jobs::statistics::Statistics;
use crate::row::{Columns, FromRow};

/// One attempt at a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptRow {
    /// The back end or worker account.
    pub worker: String,
    /// How it is or how it ended.
    pub state: String,
    /// Why it ended so.
    pub why: Option<String>,
    pub began_ms: i64,
    /// When the vendor had taken it.
    pub submitted_ms: Option<i64>,
    pub ended_ms: Option<i64>,
    /// What the vendor took, in millionths of the currency, where it said so.
    pub cost: Option<i64>,
    /// What the vendor counts in.
    pub currency: Option<String>,
}

impl FromRow for AttemptRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            worker: columns.text()?,
            state: columns.text()?,
            why: columns.maybe_text()?,
            began_ms: columns.int()?,
            submitted_ms: columns.maybe_int()?,
            ended_ms: columns.maybe_int()?,
            cost: columns.maybe_int()?,
            currency: columns.maybe_text()?,
        })
    }
}

/// A job that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedJobRow {
    pub operation: String,
    pub state: JobState,
    /// Who made it; nobody's name for what is made inside the process.
    pub worker: Option<String>,
    /// When it was accepted.
    pub created_ms: i64,
    /// When it first started.
    pub started_ms: Option<i64>,
    pub finished_ms: i64,
    /// What it was charged.
    pub quota: Quota,
}

impl FromRow for FinishedJobRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            operation: columns.text()?,
            state: state(columns.int()?)?,
            worker: columns.maybe_text()?,
            created_ms: columns.int()?,
            started_ms: columns.maybe_int()?,
            finished_ms: columns.int()?,
            quota: columns.quota()?,
        })
    }
}

/// What is owed at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Quota that unfinished jobs hold.
    pub held: Quota,
    /// When the job that waits longest was accepted.
    pub oldest_waiting_ms: Option<i64>,
    /// When the unfinished job that is oldest was accepted, and its quota held.
    pub oldest_held_ms: Option<i64>,
    /// When the callback that is owed longest was first owed.
    pub oldest_callback_ms: Option<i64>,
    /// Receivers that owed callbacks have failed at.
    pub failing_receivers: i64,
}

impl FromRow for Backlog {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            held: columns.quota()?,
            oldest_waiting_ms: columns.maybe_int()?,
            oldest_held_ms: columns.maybe_int()?,
            oldest_callback_ms: columns.maybe_int()?,
            failing_receivers: columns.int()?,
        })
    }
}

impl Attempts<'_> {
    /// The attempts at a job, oldest first; read for an account, or for an operator when it is none's.
    pub async fn list(self, account_id: Option<&str>, job_id: &str) -> Result<Vec<AttemptRow>> {
        let sql = "SELECT worker, state, why, began_ms, submitted_ms, ended_ms, cost, currency FROM attempt \
             WHERE job_id = $1 ORDER BY began_ms, id";
        self.0.db.of(account_id).all(sql, args![job_id]).await
    }
}

impl Statistics<'_> {
    /// Jobs of all accounts that ended since a time, the latest first. They are found by what they moved in the
    /// ledger, which is kept in the order of time.
    pub async fn ended_since(self, from_ms: i64, limit: i64) -> Result<Vec<FinishedJobRow>> {
        let sql = "SELECT job.operation, job.state, job.worker, job.created_ms, job.started_ms, job.finished_ms, \
             job.quota FROM ledger JOIN job ON job.id = ledger.job_id \
             WHERE ledger.time_ms >= $1 AND ledger.kind IN ('capture', 'release') AND job.state >= 2 \
             ORDER BY ledger.time_ms DESC, ledger.id DESC LIMIT $2";
        self.0.db.all(sql, args![from_ms, limit]).await
    }

    /// How long callbacks took that were delivered since a time, in milliseconds, the latest first.
    pub async fn callback_lags(self, from_ms: i64, limit: i64) -> Result<Vec<i64>> {
        let sql = "SELECT delivery.delivered_ms - delivery.created_ms FROM delivery_log \
             JOIN delivery ON delivery.id = delivery_log.delivery_id \
             WHERE delivery_log.time_ms >= $1 AND delivery.delivered_ms IS NOT NULL \
             AND delivery_log.attempt = delivery.attempts \
             ORDER BY delivery_log.time_ms DESC LIMIT $2";
        self.0.db.all(sql, args![from_ms, limit]).await
    }

    /// What is owed to callers now.
    pub async fn backlog(self) -> Result<Backlog> {
        let sql = "SELECT (SELECT CAST(COALESCE(SUM(price), 0) AS BIGINT) FROM job WHERE state < 2), \
             (SELECT MIN(created_ms) FROM job WHERE state = 0), \
             (SELECT MIN(created_ms) FROM job WHERE state < 2), \
             (SELECT MIN(created_ms) FROM delivery WHERE state IN ('due', 'sending')), \
             (SELECT COUNT(DISTINCT host) FROM delivery WHERE state IN ('due', 'sending') AND failures > 0)";
        self.0.db.one(sql, &[]).await
    }
}
