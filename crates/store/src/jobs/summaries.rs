//! Summaries of jobs: the little that shows whether a job has changed since somebody looked, without request and output.

use atelier_contract::{JobState, Quota};

use crate::Result;
use crate::db::{args, json};
use crate::jobs::Jobs;
use crate::jobs::row::{shown, state};
use crate::row::{Columns, FromRow};

/// The little that shows whether a job has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSummary {
    pub id: String,
    /// Where it is, to its caller.
    pub state: JobState,
    /// In percent, 0 to 100.
    pub progress: u8,
    /// Counts changes a caller sees.
    pub revision: i64,
    /// What was held for the job.
    pub price: Quota,
    pub quota: Quota,
    /// When anything a caller sees of it last changed.
    pub updated_ms: i64,
}

const SUMMARY_COLUMNS: &str = "id, state, started_ms, progress, revision, price, quota, updated_ms";

impl FromRow for JobSummary {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            state: {
                let leased = state(columns.int()?)?;
                shown(leased, columns.maybe_int()?)
            },
            progress: columns.int()? as u8,
            revision: columns.int()?,
            price: columns.quota()?,
            quota: columns.quota()?,
            updated_ms: columns.int()?,
        })
    }
}

/// Jobs that have ended whose summaries are read at once.
pub const SUMMARIES_MAX: usize = 1_000;

impl Jobs<'_> {
    /// The unfinished jobs of an account, and of those that ended at or after a time the first, [`SUMMARIES_MAX`] at the most.
    pub async fn summaries(self, account_id: &str, ended_from_ms: i64) -> Result<Vec<JobSummary>> {
        let sql = format!(
            "SELECT {SUMMARY_COLUMNS} FROM job WHERE account_id = $1 AND state < 2 \
             UNION ALL SELECT {SUMMARY_COLUMNS} FROM (SELECT {SUMMARY_COLUMNS} FROM job WHERE account_id = $1 AND finished_ms >= $2 \
               AND deleted_ms IS NULL ORDER BY finished_ms LIMIT $3) AS ended"
        );
        let reader = self.0.db.of(Some(account_id));
        let values = args![account_id, ended_from_ms, SUMMARIES_MAX as i64];
        reader.all(&sql, values).await
    }

    /// Some jobs of an account.
    pub async fn summaries_of(self, account_id: &str, ids: &[String]) -> Result<Vec<JobSummary>> {
        let sql = format!(
            "SELECT {SUMMARY_COLUMNS} FROM job WHERE account_id || '' = $1 AND deleted_ms IS NULL AND id IN ({{list:$2}})"
        );
        self.0
            .db
            .of(Some(account_id))
            .all(&sql, args![account_id, &json(ids)])
            .await
    }
}
