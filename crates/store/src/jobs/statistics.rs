//! Numbers about jobs: how many wait, what was used, how long they take.

use atelier_contract::{Quota, Speed};

use crate::Result;
use crate::db::{args, json};
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

const HOUR_MS: i64 = 3_600_000;

/// How much there is to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobCounts {
    /// Jobs that nobody works on yet.
    pub waiting: i64,
    /// Jobs that somebody works on.
    pub running: i64,
    /// Deliveries not yet made.
    pub deliveries_due: i64,
}

/// What an account used of one operation on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageRow {
    /// Days since 1970.
    pub day: i64,
    pub operation: String,
    /// Only jobs that succeeded.
    pub jobs: i64,
    /// What they were charged.
    pub quota: Quota,
}

impl FromRow for UsageRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            day: columns.int()?,
            operation: columns.text()?,
            jobs: columns.int()?,
            quota: columns.quota()?,
        })
    }
}

impl FromRow for JobCounts {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            waiting: columns.int()?,
            running: columns.int()?,
            deliveries_due: columns.int()?,
        })
    }
}

/// Sums and counts over jobs.
#[derive(Clone, Copy, Debug)]
pub struct Statistics<'a>(pub(crate) &'a StoreCore);

impl Statistics<'_> {
    /// How much there is to do.
    pub async fn counts(self) -> Result<JobCounts> {
        let sql = "SELECT (SELECT COUNT(*) FROM job WHERE state = 0) \
             + (SELECT COUNT(*) FROM job WHERE state = 1 AND started_ms IS NULL), \
             (SELECT COUNT(*) FROM job WHERE state = 1 AND started_ms IS NOT NULL), \
             (SELECT COUNT(*) FROM delivery WHERE state IN ('due', 'sending'))";
        self.0.db.one(sql, &[]).await
    }

    /// What an account used, by day and operation, of jobs finished from one time to before another.
    pub async fn usage(self, account_id: &str, from_ms: i64, to_ms: i64) -> Result<Vec<UsageRow>> {
        // Whole hours were added up when their jobs ended; only what is left at both ends is counted one by one.
        let first = from_ms.div_euclid(HOUR_MS) + i64::from(from_ms.rem_euclid(HOUR_MS) > 0);
        let end = to_ms.div_euclid(HOUR_MS).max(first);
        let (head_ms, tail_ms) = (to_ms.min(first * HOUR_MS), from_ms.max(end * HOUR_MS));
        let sql = "SELECT day, operation, CAST(SUM(jobs) AS BIGINT), CAST(SUM(quota) AS BIGINT) FROM ( \
               SELECT hour / 24 AS day, operation, jobs, quota FROM spent \
               WHERE account_id = $1 AND hour >= $2 AND hour < $3 \
             UNION ALL SELECT finished_ms / 86400000, operation, 1, quota FROM job \
               WHERE account_id = $1 AND state = 2 AND finished_ms >= $4 AND finished_ms < $5 \
             UNION ALL SELECT finished_ms / 86400000, operation, 1, quota FROM job \
               WHERE account_id = $1 AND state = 2 AND finished_ms >= $6 AND finished_ms < $7) AS used \
             GROUP BY day, operation ORDER BY day, operation";
        let args = args![account_id, first, end, from_ms, head_ms, tail_ms, to_ms];
        self.0.db.of(Some(account_id)).all(sql, args).await
    }

    /// How long the latest successes took, in milliseconds, newest first.
    pub async fn recent_durations(
        self,
        operations: &[String],
        speed: Speed,
        limit: i64,
    ) -> Result<Vec<i64>> {
        let sql = "SELECT finished_ms - started_ms FROM job WHERE state = 2 \
             AND operation IN ({list:$1}) AND speed = $2 AND started_ms IS NOT NULL \
             ORDER BY finished_ms DESC LIMIT $3";
        self.0
            .db
            .all(sql, args![&json(operations), speed as i64, limit])
            .await
    }
}
