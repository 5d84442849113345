//! Rows in the order of their index, a page at a time, for whoever takes all of them. No statement is long, and nobody has a connection
//! between two pages.

pub(crate) mod runs;

use atelier_contract::families::prompt_fields;
use atelier_contract::pages::jobs::JobCursor;
use atelier_contract::{JobState, Quota};

use crate::Result;
use crate::db::args;
use crate::jobs::row::{shown, state};
use crate::ledger_place::first_at;
use crate::readers::Reader;
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// A job, as far as a table tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobExport {
    pub id: String,
    pub operation: String,
    pub model: Option<String>,
    /// Where it is, to its caller.
    pub state: JobState,
    pub created_ms: i64,
    pub started_ms: Option<i64>,
    pub finished_ms: Option<i64>,
    /// What was charged.
    pub quota: Quota,
    /// What was held for it.
    pub price: Quota,
    pub key_id: Option<String>,
    pub member_id: Option<String>,
    pub user: Option<String>,
    /// As a JSON object of texts.
    pub tags: Option<String>,
    pub parent_id: Option<String>,
    pub message: Option<String>,
    pub prompt: String,
    /// Whether its owner has removed it.
    pub is_deleted: bool,
}

impl FromRow for JobExport {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        let mut row = Self {
            id: columns.text()?,
            operation: columns.text()?,
            model: columns.maybe_text()?,
            state: state(columns.int()?)?,
            created_ms: columns.int()?,
            started_ms: columns.maybe_int()?,
            finished_ms: columns.maybe_int()?,
            quota: columns.quota()?,
            price: columns.quota()?,
            key_id: columns.maybe_text()?,
            member_id: columns.maybe_text()?,
            user: columns.maybe_text()?,
            tags: columns.maybe_text()?,
            parent_id: columns.maybe_text()?,
            message: columns.maybe_text()?,
            prompt: columns.maybe_text()?.unwrap_or_default(),
            is_deleted: columns.maybe_int()?.is_some(),
        };
        row.state = shown(row.state, row.started_ms);
        Ok(row)
    }
}

/// A movement of quota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerExport {
    /// Its place in the ledger of its account.
    pub number: i64,
    pub id: String,
    pub job_id: Option<String>,
    pub kind: String,
    pub cause: Option<String>,
    pub amount: Quota,
    pub balance_delta: Quota,
    pub frozen_delta: Quota,
    pub balance_after: Quota,
    pub frozen_after: Quota,
    pub reason: String,
    pub time_ms: i64,
    pub key_id: Option<String>,
    pub member_id: Option<String>,
    pub model: Option<String>,
    /// Of its job, where that was asked for.
    pub tags: Option<String>,
    pub user: Option<String>,
}

impl FromRow for LedgerExport {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            number: columns.int()?,
            id: columns.text()?,
            job_id: columns.maybe_text()?,
            kind: columns.text()?,
            cause: columns.maybe_text()?,
            amount: columns.quota()?,
            balance_delta: columns.quota()?,
            frozen_delta: columns.quota()?,
            balance_after: columns.quota()?,
            frozen_after: columns.quota()?,
            reason: columns.text()?,
            time_ms: columns.int()?,
            key_id: columns.maybe_text()?,
            member_id: columns.maybe_text()?,
            model: columns.maybe_text()?,
            tags: columns.maybe_text()?,
            user: columns.maybe_text()?,
        })
    }
}

/// What was consumed in an hour, and by what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageExport {
    /// Counted from 1970.
    pub hour: i64,
    /// Empty where it is not known.
    pub key_id: String,
    pub member_id: String,
    pub model: String,
    pub operation: String,
    pub jobs: i64,
    pub quota: Quota,
}

impl FromRow for UsageExport {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            hour: columns.int()?,
            key_id: columns.text()?,
            member_id: columns.text()?,
            model: columns.text()?,
            operation: columns.text()?,
            jobs: columns.int()?,
            quota: columns.quota()?,
        })
    }
}

/// A job that consumed something, with what it is filtered by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobUse {
    pub id: String,
    pub finished_ms: i64,
    pub key_id: Option<String>,
    pub member_id: Option<String>,
    pub model: Option<String>,
    pub operation: String,
    pub quota: Quota,
    pub tags: Option<String>,
    pub user: Option<String>,
}

impl FromRow for JobUse {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            finished_ms: columns.int()?,
            key_id: columns.maybe_text()?,
            member_id: columns.maybe_text()?,
            model: columns.maybe_text()?,
            operation: columns.text()?,
            quota: columns.quota()?,
            tags: columns.maybe_text()?,
            user: columns.maybe_text()?,
        })
    }
}

/// Some rows of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerSpan {
    /// Behind this number…
    pub after: i64,
    /// …up to this one.
    pub until: i64,
}

/// Whose rows are taken, and on whose behalf.
#[derive(Clone, Copy, Debug)]
pub struct ExportOwner<'a> {
    pub account_id: &'a str,
    /// Whether it is the account itself that takes them, which has its share of reads.
    pub is_own: bool,
}

/// Rows in the order of their index.
#[derive(Clone, Copy, Debug)]
pub struct Exports<'a>(pub(crate) &'a StoreCore);

impl Exports<'_> {
    /// The next accounts, in the order of their identifiers.
    pub async fn accounts(self, after: &str, limit: i64) -> Result<Vec<String>> {
        let sql = "SELECT id FROM account WHERE id > $1 ORDER BY id LIMIT $2";
        self.0.db.all(sql, args![after, limit]).await
    }

    /// The next jobs of an account behind a place, up to a moment, oldest first.
    pub async fn jobs(
        self,
        owner: ExportOwner<'_>,
        after: &JobCursor,
        to_ms: i64,
        limit: i64,
    ) -> Result<Vec<JobExport>> {
        let sql = format!(
            "SELECT job.id, job.operation, job.used_model, job.state, job.created_ms, job.started_ms, job.finished_ms, job.quota, \
             job.price, job.key_id, job.member_id, job.end_user, job.tags, job.parent_id, job.message, {{first:job.request {}}}, \
             job.deleted_ms FROM job WHERE job.account_id = $1 AND (job.created_ms, job.id) > ($2, $3) AND job.created_ms < $4 \
             ORDER BY job.created_ms, job.id LIMIT $5",
            prompt_fields().join(" ")
        );
        let values = args![owner.account_id, after.created_ms, &after.id, to_ms, limit];
        self.reader(owner).all(&sql, values).await
    }

    /// The rows of an account's ledger that are of a period: those behind this number, up to that one.
    pub async fn ledger_span(
        self,
        owner: ExportOwner<'_>,
        from_ms: Option<i64>,
        to_ms: Option<i64>,
    ) -> Result<LedgerSpan> {
        let (reader, account_id) = (self.reader(owner), owner.account_id);
        let sql = "SELECT entries FROM account WHERE id = $1";
        let entries: Option<i64> = reader.maybe(sql, args![account_id]).await?;
        let entries = entries.unwrap_or(0);
        let until = match to_ms {
            Some(to_ms) => first_at(&reader, account_id, to_ms, entries).await? - 1,
            None => entries,
        };
        let after = match from_ms {
            Some(from_ms) => first_at(&reader, account_id, from_ms, entries).await? - 1,
            None => 0,
        };
        Ok(LedgerSpan { after, until })
    }

    /// The next rows of an account's ledger behind one and up to another, with what their jobs are tagged with where that is wanted.
    pub async fn ledger(
        self,
        owner: ExportOwner<'_>,
        span: LedgerSpan,
        with_jobs: bool,
        limit: i64,
    ) -> Result<Vec<LedgerExport>> {
        let sql = "SELECT ledger.number, ledger.id, ledger.job_id, ledger.kind, ledger.cause, ledger.amount, ledger.balance_delta, \
             ledger.frozen_delta, ledger.balance_after, ledger.frozen_after, ledger.reason, ledger.time_ms, ledger.key_id, \
             ledger.member_id, ledger.used_model, job.tags, job.end_user \
             FROM ledger LEFT JOIN job ON job.id = ledger.job_id AND CAST($4 AS BIGINT) = 1 \
             WHERE ledger.account_id = $1 AND ledger.number > $2 AND ledger.number <= $3 ORDER BY ledger.number LIMIT $5";
        let values = args![
            owner.account_id,
            span.after,
            span.until,
            i64::from(with_jobs),
            limit
        ];
        self.reader(owner).all(sql, values).await
    }

    /// What an account consumed by hour, key, member, model and operation, behind one of those and before an hour.
    pub async fn usage(
        self,
        owner: ExportOwner<'_>,
        after: &UsageExport,
        to_hour: i64,
        limit: i64,
    ) -> Result<Vec<UsageExport>> {
        let sql = "SELECT hour, key_id, member_id, model, operation, CAST(SUM(jobs) AS BIGINT), CAST(SUM(quota) AS BIGINT) FROM used \
             WHERE account_id = $1 AND (hour, key_id, member_id, model, operation) > ($2, $3, $4, $5, $6) AND hour < $7 \
             GROUP BY hour, key_id, member_id, model, operation ORDER BY hour, key_id, member_id, model, operation LIMIT $8";
        let values = args![
            owner.account_id,
            after.hour,
            &after.key_id,
            &after.member_id,
            &after.model,
            &after.operation,
            to_hour,
            limit
        ];
        self.reader(owner).all(sql, values).await
    }

    /// The rest of what it consumed: of jobs that say nothing of keys and members, which are added up by hour and operation alone.
    pub async fn unnamed_usage(
        self,
        owner: ExportOwner<'_>,
        after: &UsageExport,
        to_hour: i64,
        limit: i64,
    ) -> Result<Vec<UsageExport>> {
        let named = |what: &str| {
            format!(
                "COALESCE((SELECT CAST(SUM(used.{what}) AS BIGINT) FROM used WHERE used.account_id = spent.account_id \
                 AND used.hour = spent.hour AND used.operation = spent.operation), 0)"
            )
        };
        let sql = format!(
            "SELECT hour, '', '', '', operation, jobs - {}, quota - {} FROM spent \
             WHERE account_id = $1 AND (hour, operation) > ($2, $3) AND hour < $4 ORDER BY hour, operation LIMIT $5",
            named("jobs"),
            named("quota")
        );
        let values = args![
            owner.account_id,
            after.hour,
            &after.operation,
            to_hour,
            limit
        ];
        self.reader(owner).all(&sql, values).await
    }

    /// The next jobs of an account that consumed something, behind a place and up to a moment, in the order in which they ended.
    pub async fn used_jobs(
        self,
        owner: ExportOwner<'_>,
        after: &JobCursor,
        to_ms: i64,
        limit: i64,
    ) -> Result<Vec<JobUse>> {
        let sql = "SELECT id, finished_ms, key_id, member_id, used_model, operation, quota, tags, end_user FROM job \
             WHERE account_id = $1 AND finished_ms IS NOT NULL AND state = 2 AND (finished_ms, id) > ($2, $3) AND finished_ms < $4 \
             ORDER BY finished_ms, id LIMIT $5";
        let values = args![owner.account_id, after.created_ms, &after.id, to_ms, limit];
        self.reader(owner).all(sql, values).await
    }

    fn reader<'a>(self, owner: ExportOwner<'a>) -> Reader<'a>
    where
        Self: 'a,
    {
        self.0.db.of(owner.is_own.then_some(owner.account_id))
    }
}
