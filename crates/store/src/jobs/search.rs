//! Jobs by their words. No index knows words, so jobs are looked at: newest first, some at a time, and no more of them and no
//! longer than one search may. What was not reached is left to the next search, which goes on from there.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use atelier_contract::pages::jobs::JobCursor;

use super::filter::{JobFilter, JobPage, common, conditions};
use crate::db::{Arg, json};
use crate::jobs::Jobs;
use crate::jobs::row::{JOB_COLUMNS, JobRow};
use crate::jobs::spender::SpenderFilter;
use crate::row::{Columns, FromRow};
use crate::{Error, Result};

/// Jobs that one search looks at.
const JOBS_MOST: usize = 20_000;
/// How long it looks.
const LOOK: Duration = Duration::from_millis(200);
/// Jobs that are looked at together at first. Between two looks others have the connection.
const FIRST: usize = 64;
/// Jobs that are looked at together at the most.
const TOGETHER: usize = 2_048;
/// As many are looked at together as take about this long.
const STEP: Duration = Duration::from_millis(20);
/// How long a search waits for its turn.
const TURN: Duration = Duration::from_secs(10);
/// What searches of the service's operators are counted under.
const OPERATORS: &str = "operators";

/// A job that was looked at.
struct SearchRow {
    id: String,
    found: bool,
    /// Where it is in the list.
    place: JobCursor,
}

impl FromRow for SearchRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            found: columns.int()? > 0,
            place: JobCursor {
                created_ms: columns.int()?,
                id: columns.text()?,
            },
        })
    }
}

impl Jobs<'_> {
    /// A page of the jobs that a search has found, how many it has found, and where the next one goes on.
    pub(super) async fn search(self, filter: &JobFilter) -> Result<JobPage> {
        if let Some(page) = self.named(filter).await? {
            return Ok(page);
        }
        let holder = filter.account_id.as_deref().unwrap_or(OPERATORS).into();
        let turn = timeout(TURN, self.0.searches.take(&holder, 1)).await;
        let _turn = turn.map_err(|_| Error::Busy)?;
        let (mut found, mut looked, mut together) = (Vec::new(), 0, FIRST);
        let to = filter.created_to_ms.map(|created_ms| JobCursor {
            created_ms,
            id: String::new(),
        });
        let earlier = |one: &JobCursor| {
            let to_ms = filter.created_to_ms;
            to_ms.is_none_or(|to_ms| one.created_ms < to_ms)
        };
        let mut from = filter.after.clone().filter(earlier).or(to);
        let begun = Instant::now();
        let ended_at = loop {
            let step = Instant::now();
            let jobs = self.look(filter, from.as_ref(), together).await?;
            let ended = jobs.len() < together;
            looked += jobs.len();
            if let Some(last) = jobs.last() {
                from = Some(last.place.clone());
            }
            found.extend(jobs.into_iter().filter(|job| job.found));
            if ended {
                break None;
            }
            if looked >= JOBS_MOST || begun.elapsed() >= LOOK {
                break from;
            }
            together = fitting(together, step.elapsed()).min(JOBS_MOST - looked);
        };
        let total = found.len();
        let page = found.into_iter().skip(filter.offset.max(0) as usize);
        let page: Vec<SearchRow> = page.take(filter.limit.max(0) as usize).collect();
        // Behind a full page the next one goes on; behind any other, where this search has ended.
        let full = page.len() as i64 == filter.limit;
        let more = ended_at.is_some() || filter.offset.saturating_add(filter.limit) < total as i64;
        let last = page.last().filter(|_| full && more);
        let next = last.map(|last| last.place.clone()).or(ended_at);
        let ids: Vec<String> = page.into_iter().map(|job| job.id).collect();
        Ok(JobPage {
            rows: self.in_order(filter, &ids).await?,
            total: total as i64,
            next,
        })
    }

    /// The job whose identifier the words are.
    async fn named(self, filter: &JobFilter) -> Result<Option<JobPage>> {
        let Some(id) = filter.text.as_deref() else {
            return Ok(None);
        };
        let known = self.0.db.of(filter.account_id.as_deref());
        let sql = match &filter.account_id {
            Some(_) => {
                "SELECT id FROM job WHERE id = $1 AND account_id || '' = $2 AND deleted_ms IS NULL"
            }
            None => "SELECT id FROM job WHERE id = $1 AND $2 IS NULL AND deleted_ms IS NULL",
        };
        let values = [Arg::from(id), Arg::from(filter.account_id.as_deref())];
        if known.maybe::<String>(sql, &values).await?.is_none() {
            return Ok(None);
        }
        let operations = json(&filter.operations);
        let which = conditions(filter, filter.operations.is_empty());
        let sql = format!(
            "SELECT {JOB_COLUMNS} FROM job WHERE job.id = $5 AND {which} AND job.deleted_ms IS NULL \
             AND job.created_ms >= $7"
        );
        let mut values = common(filter, &operations, Some("%")).to_vec();
        values.push(Arg::from(filter.created_from_ms.unwrap_or(i64::MIN)));
        let mut rows: Vec<JobRow> = known.all(&sql, &values).await?;
        let total = rows.len() as i64;
        if filter.offset > 0 || filter.after.is_some() {
            rows.clear();
        }
        Ok(Some(JobPage {
            rows,
            total,
            next: None,
        }))
    }

    /// The next so many jobs of a list, and which of them are asked for. Those of all accounts are found by what they held in
    /// the ledger, which is kept in the order of time.
    async fn look(
        self,
        filter: &JobFilter,
        from: Option<&JobCursor>,
        together: usize,
    ) -> Result<Vec<SearchRow>> {
        let found = format!(
            "CAST(CASE WHEN {} AND {} AND job.deleted_ms IS NULL THEN 1 ELSE 0 END AS BIGINT)",
            conditions(filter, filter.operations.is_empty()),
            SpenderFilter::conditions(11)
        );
        let sql = match &filter.account_id {
            Some(_) => format!(
                "SELECT job.id, {found}, job.created_ms, job.id FROM job WHERE job.account_id = $1 \
                   AND job.created_ms >= $7 AND (job.created_ms, job.id) < ($8, $9) \
                 ORDER BY job.created_ms DESC, job.id DESC LIMIT $10"
            ),
            None => format!(
                "SELECT job.id, {found}, ledger.time_ms, ledger.id FROM ledger CROSS JOIN job \
                 WHERE job.id = ledger.job_id AND ledger.kind = 'hold' \
                   AND ledger.time_ms >= $7 AND (ledger.time_ms, ledger.id) < ($8, $9) \
                 ORDER BY ledger.time_ms DESC, ledger.id DESC LIMIT $10"
            ),
        };
        let (operations, pattern) = (json(&filter.operations), filter.pattern());
        let mut values = common(filter, &operations, pattern.as_deref()).to_vec();
        values.extend([
            Arg::from(filter.created_from_ms.unwrap_or(i64::MIN)),
            Arg::from(from.map_or(i64::MAX, |from| from.created_ms)),
            Arg::from(from.map_or("", |from| from.id.as_str())),
            Arg::from(together as i64),
        ]);
        let tag = filter.of.tag_text();
        values.extend(filter.of.values(tag.as_deref()));
        let reader = self.0.db.of(filter.account_id.as_deref());
        reader.all(&sql, &values).await
    }

    /// Some jobs, in the order in which they are named.
    async fn in_order(self, filter: &JobFilter, ids: &[String]) -> Result<Vec<JobRow>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "SELECT {JOB_COLUMNS} FROM job WHERE id IN ({{list:$1}}) AND deleted_ms IS NULL"
        );
        let reader = self.0.db.of(filter.account_id.as_deref());
        let named = json(ids);
        let mut rows: Vec<JobRow> = reader.all(&sql, &[Arg::from(&named)]).await?;
        rows.sort_by_key(|row| ids.iter().position(|id| *id == row.id));
        Ok(rows)
    }
}

/// How many are looked at together when so many have taken so long.
fn fitting(together: usize, took: Duration) -> usize {
    let step = STEP.as_micros();
    let fitting = together as u128 * step / took.as_micros().max(1);
    // No more than twice as many as before: what comes next may be larger.
    (fitting as usize).clamp(FIRST / 4, (2 * together).min(TOGETHER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_jobs_are_looked_at_together_as_take_a_moment() {
        let took = Duration::from_millis;
        assert_eq!(fitting(64, took(1)), 128, "twice as many");
        assert_eq!(fitting(TOGETHER, took(1)), TOGETHER);
        assert_eq!(fitting(64, took(20)), 64);
        assert_eq!(fitting(64, took(40)), 32, "they are large");
        assert_eq!(fitting(64, took(5_000)), 16);
    }
}
