//! What has been of use for long enough is deleted, some rows at a time, so that no commit is long. Jobs and the
//! ledger are never touched.

use atelier_contract::families::WORDLESS_REQUEST;

use crate::Result;
use crate::audit_chain;
use crate::db::{Conn, args, json};
use crate::keys::limits::COUNT_KEYS;
use crate::store_core::StoreCore;

const TRIES: &str = "DELETE FROM delivery_log WHERE (delivery_id, attempt) IN ( \
       SELECT old.delivery_id, old.attempt FROM delivery_log AS old \
       JOIN delivery ON delivery.id = old.delivery_id \
       WHERE old.time_ms < $1 AND delivery.state NOT IN ('due', 'sending') \
       ORDER BY old.time_ms LIMIT $2)";

const ATTEMPTS: &str = "DELETE FROM attempt WHERE id IN ( \
       SELECT old.id FROM attempt AS old JOIN job ON job.id = old.job_id \
       WHERE old.ended_ms < $1 AND job.state >= 2 ORDER BY old.ended_ms LIMIT $2)";

/// The chain is only ever shortened from its oldest end: an act behind a younger one waits for that one.
const ACTS: &str = "DELETE FROM audit WHERE id IN ( \
       SELECT id FROM audit WHERE time_ms < $1 AND (number IS NULL OR number < \
         COALESCE((SELECT MIN(number) FROM audit WHERE time_ms >= $1), 9223372036854775807)) \
       ORDER BY COALESCE(number, 0), time_ms LIMIT $2)";

const KEYS: &str = "SELECT id, account_id FROM api_key WHERE revoked_ms < $1 \
       UNION SELECT id, account_id FROM api_key WHERE expires_ms < $1 LIMIT $2";

/// Windows that have ended; the jobs that counted in them have ended long ago, too. The latest of a key stays: it says that the ones
/// before it are over, also when the clock was ahead for a while and is put back.
const WINDOWS: &str = "DELETE FROM key_window WHERE (account_id, key_id, span, from_ms) IN ( \
       SELECT old.account_id, old.key_id, old.span, old.from_ms FROM key_window AS old WHERE old.until_ms < $1 AND old.open = 0 \
       AND EXISTS (SELECT 1 FROM key_window AS later WHERE later.account_id = old.account_id AND later.key_id = old.key_id \
         AND later.span = old.span AND later.from_ms >= old.until_ms) LIMIT $2)";

const CALLS: &str = "DELETE FROM idempotency WHERE (account_id, key) IN ( \
       SELECT account_id, key FROM idempotency WHERE created_ms < $1 ORDER BY created_ms LIMIT $2)";

const BULKS: &str =
    "SELECT id, account_id FROM bulk WHERE created_ms < $1 ORDER BY created_ms LIMIT $2";

const FAILED: &str = "SELECT id, account_id FROM job WHERE state = 3 AND deleted_ms IS NULL \
       AND COALESCE(request_bytes, 1) > 0 AND finished_ms < $1 ORDER BY finished_ms LIMIT $2";

const OWN_ACTS: &str = "DELETE FROM account_act WHERE id IN ( \
       SELECT id FROM account_act WHERE time_ms < $1 ORDER BY time_ms LIMIT $2)";

const SESSIONS: &str = "DELETE FROM console_session WHERE hash IN ( \
       SELECT hash FROM console_session WHERE seen_ms < $1 ORDER BY seen_ms LIMIT $2)";

/// Notices whose deliveries are over, oldest first.
const NOTICES: &str = "SELECT id FROM notice WHERE created_ms < $1 AND spread_ms IS NOT NULL AND NOT EXISTS \
       (SELECT 1 FROM notice_delivery WHERE notice_delivery.notice_id = notice.id AND notice_delivery.state IN ('due', 'sending')) \
     ORDER BY created_ms LIMIT $2";

const TAKINGS: &str = "DELETE FROM taking WHERE (hour, backend_id, operation, model, currency) IN ( \
       SELECT hour, backend_id, operation, model, currency FROM taking WHERE hour < $1 ORDER BY hour LIMIT $2)";

/// Rows past their retention.
#[derive(Clone, Copy, Debug)]
pub struct Retention<'a>(pub(crate) &'a StoreCore);

impl Retention<'_> {
    /// Forgets idempotency keys remembered before a time; how many.
    pub async fn forget_idempotency(self, before_ms: i64, limit: i64) -> Result<u64> {
        self.forget(CALLS, before_ms, limit).await
    }

    /// Forgets what was submitted together before a time; how many. The jobs stay.
    pub async fn forget_bulks(self, before_ms: i64, limit: i64) -> Result<u64> {
        self.0
            .change_alone((before_ms, limit), |conn, (before_ms, limit)| {
                Box::pin(async move {
                    // A trigger takes their bytes off what is counted for the accounts.
                    let old = CountedRows::find(conn, BULKS, *before_ms, *limit).await?;
                    let sql = "DELETE FROM bulk WHERE id IN ({list:$1})";
                    conn.run(sql, args![&old.ids]).await
                })
            })
            .await
    }

    /// Removes the words of jobs that failed before a time; of how many. The jobs stay, and why they failed.
    pub async fn forget_failed_words(self, before_ms: i64, limit: i64) -> Result<u64> {
        self.0.change_alone((before_ms, limit), |conn, (before_ms, limit)| {
            Box::pin(async move {
                let old = CountedRows::find(conn, FAILED, *before_ms, *limit).await?;
                old.uncount(conn, "request_bytes", "job").await?;
                let sql = "UPDATE job SET request = $2, request_bytes = 0, tags = NULL, end_user = NULL WHERE id IN ({list:$1}) \
                     AND deleted_ms IS NULL AND COALESCE(request_bytes, 1) > 0";
                conn.run(sql, args![&old.ids, WORDLESS_REQUEST]).await
            })
        })
        .await
    }

    /// Forgets sessions of the console that were not used since a time; how many.
    pub async fn forget_sessions(self, before_ms: i64, limit: i64) -> Result<u64> {
        self.forget(SESSIONS, before_ms, limit).await
    }

    /// Forgets tries made before a time of deliveries that are over; how many.
    pub async fn forget_tries(self, before_ms: i64, limit: i64) -> Result<u64> {
        self.forget(TRIES, before_ms, limit).await
    }

    /// Forgets attempts that ended before a time at jobs that are final; how many.
    pub async fn forget_attempts(self, before_ms: i64, limit: i64) -> Result<u64> {
        self.forget(ATTEMPTS, before_ms, limit).await
    }

    /// Forgets acts recorded before a time; how many.
    pub async fn forget_audit(self, before_ms: i64, limit: i64) -> Result<u64> {
        self.0
            .change_alone((before_ms, limit), |conn, (before_ms, limit)| {
                Box::pin(async move {
                    let gone = conn.run(ACTS, args![*before_ms, *limit]).await?;
                    audit_chain::record_truncation(conn).await?;
                    Ok(gone)
                })
            })
            .await
    }

    /// Forgets acts of callers recorded before a time; how many.
    pub async fn forget_account_acts(self, before_ms: i64, limit: i64) -> Result<u64> {
        self.forget(OWN_ACTS, before_ms, limit).await
    }

    /// Forgets keys that were revoked or expired before a time, with what they counted; how many.
    pub async fn forget_keys(self, before_ms: i64, limit: i64) -> Result<u64> {
        self.0
            .change_alone((before_ms, limit), |conn, (before_ms, limit)| {
                Box::pin(async move {
                    let old = CountedRows::find(conn, KEYS, *before_ms, *limit).await?;
                    let sql = "DELETE FROM key_window WHERE key_id IN ({list:$1}) AND account_id IN ({list:$2})";
                    conn.run(sql, args![&old.ids, &old.accounts]).await?;
                    let sql = "DELETE FROM api_key WHERE id IN ({list:$1})";
                    let gone = conn.run(sql, args![&old.ids]).await?;
                    conn.run(COUNT_KEYS, args![&old.accounts]).await?;
                    Ok(gone)
                })
            })
            .await
    }

    /// Forgets windows of keys that ended before a time; how many.
    pub async fn forget_key_windows(self, before_ms: i64, limit: i64) -> Result<u64> {
        self.forget(WINDOWS, before_ms, limit).await
    }

    /// Forgets notices from before a time, with what they owed; how many.
    pub async fn forget_notices(self, before_ms: i64, limit: i64) -> Result<u64> {
        self.0
            .change_alone((before_ms, limit), |conn, (before_ms, limit)| {
                Box::pin(async move {
                    let old: Vec<String> = conn.all(NOTICES, args![*before_ms, *limit]).await?;
                    let old = json(&old);
                    for sql in [
                        "DELETE FROM notice_log WHERE delivery_id IN (SELECT id FROM notice_delivery WHERE notice_id IN ({list:$1}))",
                        "DELETE FROM notice_delivery WHERE notice_id IN ({list:$1})",
                    ] {
                        conn.run(sql, args![&old]).await?;
                    }
                    conn.run("DELETE FROM notice WHERE id IN ({list:$1})", args![&old]).await
                })
            })
            .await
    }

    /// Forgets what callers paid and vendors took before an hour, counted from 1970; how many rows.
    pub async fn forget_takings(self, before_hour: i64, limit: i64) -> Result<u64> {
        self.forget(TAKINGS, before_hour, limit).await
    }

    /// Forgets nodes that were not heard of since a time; how many.
    pub async fn forget_nodes(self, before_ms: i64) -> Result<u64> {
        self.0
            .change_alone(before_ms, |conn, before_ms| {
                Box::pin(async move {
                    let sql = "DELETE FROM node WHERE seen_ms < $1";
                    conn.run(sql, args![*before_ms]).await
                })
            })
            .await
    }

    async fn forget(self, sql: &'static str, before_ms: i64, limit: i64) -> Result<u64> {
        self.0
            .change_alone((sql, before_ms, limit), |conn, (sql, before_ms, limit)| {
                Box::pin(async move { conn.run(sql, args![*before_ms, *limit]).await })
            })
            .await
    }
}

/// Rows whose bytes are counted with their accounts.
struct CountedRows {
    /// Their identifiers, as a list.
    ids: String,
    /// Those of their accounts, as a list.
    accounts: String,
}

impl CountedRows {
    /// Finds some, and locks their accounts: those come before their rows, as everywhere.
    async fn find(conn: &mut Conn, sql: &str, before_ms: i64, limit: i64) -> Result<Self> {
        let found: Vec<(String, String)> = conn.all(sql, args![before_ms, limit]).await?;
        let (ids, accounts): (Vec<String>, Vec<String>) = found.into_iter().unzip();
        let sql = "SELECT id FROM account WHERE id IN ({list:$1}) ORDER BY id {lock}";
        let accounts = json(&accounts);
        conn.all::<String>(sql, args![&accounts]).await?;
        Ok(Self {
            ids: json(&ids),
            accounts,
        })
    }

    /// Takes their bytes off what is counted for the accounts.
    async fn uncount(&self, conn: &mut Conn, column: &str, table: &str) -> Result<()> {
        let sql = format!(
            "UPDATE account SET words = words - gone.bytes FROM \
             (SELECT account_id, CAST(SUM({column}) AS BIGINT) AS bytes FROM {table} \
              WHERE id IN ({{list:$1}}) GROUP BY account_id HAVING SUM({column}) > 0) AS gone \
             WHERE account.id = gone.account_id"
        );
        conn.run(&sql, args![&self.ids]).await.map(|_| ())
    }
}
