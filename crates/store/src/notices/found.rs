//! What is looked for again and again: balances that are low, keys that end soon, jobs that fail in a row.

use atelier_contract::Quota;

use crate::Result;
use crate::batch::notices::{NewNotice, insert};
use crate::db::args;
use crate::notices::Notices;
use crate::row::{Columns, FromRow};

/// A subscription whose account's balance has fallen below what it names, or has risen again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LowBalance {
    pub subscription_id: String,
    pub account_id: String,
    pub below: Quota,
    pub balance: Quota,
    /// Since when it was told to be low.
    pub low_ms: Option<i64>,
}

impl FromRow for LowBalance {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            subscription_id: columns.text()?,
            account_id: columns.text()?,
            below: columns.quota()?,
            balance: columns.quota()?,
            low_ms: columns.maybe_int()?,
        })
    }
}

/// A key that ends soon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpiringKey {
    pub id: String,
    pub account_id: String,
    pub expires_ms: i64,
}

impl FromRow for ExpiringKey {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            account_id: columns.text()?,
            expires_ms: columns.int()?,
        })
    }
}

/// A job that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedJob {
    pub job_id: String,
    pub finished_ms: i64,
    /// Whether it failed, and not at its caller's wish.
    pub failed: bool,
    pub message: Option<String>,
}

impl FromRow for EndedJob {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            job_id: columns.text()?,
            finished_ms: columns.int()?,
            failed: columns.int()? == 1,
            message: columns.maybe_text()?,
        })
    }
}

impl Notices<'_> {
    /// Subscriptions whose balance is no more on the side of what they name on which it was, behind one of them.
    pub async fn balances(self, after: &str, limit: i64) -> Result<Vec<LowBalance>> {
        let sql = "SELECT s.id, s.account_id, s.below, account.balance, s.low_ms FROM notice_subscription AS s \
             JOIN account ON account.id = s.account_id \
             WHERE s.below IS NOT NULL AND s.id > $1 \
               AND CASE WHEN account.balance < s.below THEN s.low_ms IS NULL ELSE s.low_ms IS NOT NULL END \
             ORDER BY s.id LIMIT $2";
        self.0.db.all(sql, args![after, limit]).await
    }

    /// Notes that a balance has fallen below what a subscription names, or has risen again, if nobody else has; with the notice of it.
    pub async fn balance_moved(
        self,
        seen: LowBalance,
        notice: Option<NewNotice>,
        now_ms: i64,
    ) -> Result<()> {
        self.0
            .change((seen, notice, now_ms), |conn, (seen, notice, now_ms)| {
                Box::pin(async move {
                    let low_ms = notice.is_some().then_some(*now_ms);
                    let sql = "UPDATE notice_subscription SET low_ms = $2 WHERE id = $1 AND COALESCE(low_ms, -1) = $3";
                    let before = seen.low_ms.unwrap_or(-1);
                    let values = args![&seen.subscription_id, low_ms, before];
                    if conn.run(sql, values).await? == 1
                        && let Some(notice) = notice
                    {
                        insert(conn, std::slice::from_ref(notice)).await?;
                    }
                    Ok(())
                })
            })
            .await
    }

    /// Keys that end between two moments and were meant to last longer than that; those behind a key, by when they end.
    pub async fn expiring_keys(
        self,
        now_ms: i64,
        within_ms: i64,
        limit: i64,
    ) -> Result<Vec<ExpiringKey>> {
        let sql = "SELECT id, account_id, expires_ms FROM api_key WHERE expires_ms > $1 AND expires_ms <= $1 + $2 \
             AND revoked_ms IS NULL AND stands_for IS NULL AND expires_ms - created_ms > $2 \
             AND NOT EXISTS (SELECT 1 FROM notice WHERE notice.account_id = api_key.account_id AND notice.kind = 'key_expiring' \
               AND notice.subject = api_key.id AND notice.window_ms = api_key.expires_ms) \
             ORDER BY expires_ms, id LIMIT $3";
        self.0.db.all(sql, args![now_ms, within_ms, limit]).await
    }

    /// Accounts that want to be told when so many of their jobs fail in a row, behind one of them: with how many.
    pub async fn watched_for_failures(self, after: &str, limit: i64) -> Result<Vec<(String, i64)>> {
        let sql = "SELECT account_id, MIN(jobs) FROM notice_subscription WHERE account_id > $1 AND account_id <> '' \
             AND COALESCE(kind, 'jobs_failing') = 'jobs_failing' GROUP BY account_id ORDER BY account_id LIMIT $2";
        self.0.db.all(sql, args![after, limit]).await
    }

    /// The latest jobs of an account that ended, the last one first.
    pub async fn latest_ended(self, account_id: &str, limit: i64) -> Result<Vec<EndedJob>> {
        let sql = "SELECT id, finished_ms, CAST(CASE WHEN state = 3 AND COALESCE(fault, '') <> 'cancelled' THEN 1 ELSE 0 END AS BIGINT), \
             message FROM job WHERE account_id = $1 AND finished_ms IS NOT NULL ORDER BY finished_ms DESC, id DESC LIMIT $2";
        self.0.db.all(sql, args![account_id, limit]).await
    }
}
