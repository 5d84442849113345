//! The latest jobs of a group of accounts, for whoever asks what other prices would have meant for it.

use crate::Result;
use crate::db::args;
use crate::jobs::Jobs;
use crate::jobs::row::{JOB_COLUMNS, JobRow};

impl Jobs<'_> {
    /// The latest jobs that succeeded of accounts that are in a group now, by its name in lower case; `None` for those that are in
    /// the one that all begin in. They are found account by account, so that others' jobs use up none of the places.
    pub async fn latest_of_group(
        self,
        group: Option<&str>,
        created_from_ms: i64,
        limit: i64,
    ) -> Result<Vec<JobRow>> {
        let is_in = match group {
            Some(_) => "account.group_key = $1",
            None => "account.group_key IS NULL AND $1 IS NULL",
        };
        let sql = format!(
            "SELECT {JOB_COLUMNS} FROM job WHERE job.id IN (SELECT job.id FROM job \
               WHERE job.account_id IN (SELECT account.id FROM account WHERE {is_in}) \
               AND job.state = 2 AND job.state >= 2 AND job.deleted_ms IS NULL AND job.created_ms >= $2 \
               ORDER BY job.created_ms DESC, job.id DESC LIMIT $3) \
             ORDER BY job.created_ms DESC, job.id DESC"
        );
        let values = args![group, created_from_ms, limit];
        self.0.db.all(&sql, values).await
    }
}
