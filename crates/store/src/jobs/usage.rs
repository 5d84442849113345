//! What was consumed in a period, by who or what consumed it.

use std::collections::BTreeMap;
use std::time::Duration;

use atelier_contract::Quota;
use serde_json::Value;
use tokio::time::Instant;

use crate::Result;
use crate::db::{Arg, args};
use crate::jobs::spender::SpenderFilter;
use crate::jobs::statistics::Statistics;
use crate::row::{Columns, FromRow};

const HOUR_MS: i64 = 3_600_000;
/// Jobs that are looked at for usage by a tag, together and in all, and for how long.
const TOGETHER: i64 = 2_000;
const JOBS_MOST: usize = 100_000;
const LOOK: Duration = Duration::from_secs(1);

/// What usage is added up by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UsageKind {
    /// By key.
    Key,
    /// By member of the account.
    Member,
    /// By the model that was named.
    Model,
    /// By operation.
    Operation,
    /// By what a tag says.
    Tag(String),
}

/// Which usage is asked for.
#[derive(Clone, Debug)]
pub struct UsageQuestion {
    pub account_id: String,
    pub by: UsageKind,
    pub of: SpenderFilter,
    /// Of jobs that ended from here…
    pub from_ms: i64,
    /// …to before here.
    pub to_ms: i64,
}

/// What one of them consumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageGroup {
    /// The key, member, model, operation or what the tag says; `None` for all that say nothing of it.
    pub id: Option<String>,
    /// Only jobs that succeeded.
    pub jobs: i64,
    /// What they were charged.
    pub quota: Quota,
}

impl FromRow for UsageGroup {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.maybe_text()?.filter(|id| !id.is_empty()),
            jobs: columns.int()?,
            quota: columns.quota()?,
        })
    }
}

/// What was consumed, by groups, and since when: a look that may see no more jobs ends before the period does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupedUsage {
    pub groups: Vec<UsageGroup>,
    pub from_ms: i64,
}

/// A job that consumed something.
struct TaggedJob {
    id: String,
    finished_ms: i64,
    /// Whether it is one of those that are asked for.
    asked: bool,
    group: Option<String>,
    quota: Quota,
}

impl FromRow for TaggedJob {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            finished_ms: columns.int()?,
            asked: columns.int()? == 1,
            group: columns.maybe_text()?,
            quota: columns.quota()?,
        })
    }
}

impl UsageKind {
    /// The columns in which jobs, and what was added up of them, say it.
    const fn columns(&self) -> (&'static str, &'static str) {
        match self {
            Self::Key => ("job.key_id", "used.key_id"),
            Self::Member => ("job.member_id", "used.member_id"),
            Self::Model => ("job.used_model", "used.model"),
            Self::Operation => ("job.operation", "used.operation"),
            Self::Tag(_) => ("job.tags", "''"),
        }
    }
}

impl Statistics<'_> {
    /// What an account consumed, by groups, those first that consumed most.
    pub async fn usage_by(self, asked: &UsageQuestion) -> Result<GroupedUsage> {
        let mut found = if asked.of.needs_jobs() || matches!(asked.by, UsageKind::Tag(_)) {
            self.usage_of_jobs(asked).await?
        } else {
            GroupedUsage {
                groups: self.usage_of_hours(asked).await?,
                from_ms: asked.from_ms,
            }
        };
        found.groups.retain(|group| group.jobs != 0);
        found
            .groups
            .sort_by(|a, b| b.quota.cmp(&a.quota).then_with(|| a.id.cmp(&b.id)));
        Ok(found)
    }

    /// Whole hours were added up when their jobs ended; only what is left at both ends is counted one by one. What was added up
    /// without a word of keys, by older programs, is nobody's.
    async fn usage_of_hours(self, asked: &UsageQuestion) -> Result<Vec<UsageGroup>> {
        let (from_ms, to_ms) = (asked.from_ms, asked.to_ms);
        let first = from_ms.div_euclid(HOUR_MS) + i64::from(from_ms.rem_euclid(HOUR_MS) > 0);
        let end = to_ms.div_euclid(HOUR_MS).max(first);
        let (head_ms, tail_ms) = (to_ms.min(first * HOUR_MS), from_ms.max(end * HOUR_MS));
        let (of_job, of_used) = asked.by.columns();
        let of_job_sum = SpenderFilter::conditions(8);
        let of_used_sum = SpenderFilter::conditions_of("used", "model", 8);
        // A group of its own for what only the older sums know.
        let (rest, rest_less) = match asked.by {
            UsageKind::Operation => ("spent.operation", "used.operation"),
            _ => ("''", "''"),
        };
        let sql = format!(
            "SELECT named, CAST(SUM(jobs) AS BIGINT), CAST(SUM(quota) AS BIGINT) FROM ( \
               SELECT {of_used} AS named, jobs, quota FROM used \
               WHERE account_id = $1 AND hour >= $2 AND hour < $3 AND {of_used_sum} \
             UNION ALL SELECT COALESCE({of_job}, ''), 1, quota FROM job \
               WHERE account_id = $1 AND state = 2 AND finished_ms >= $4 AND finished_ms < $5 AND {of_job_sum} \
             UNION ALL SELECT COALESCE({of_job}, ''), 1, quota FROM job \
               WHERE account_id = $1 AND state = 2 AND finished_ms >= $6 AND finished_ms < $7 AND {of_job_sum} \
             UNION ALL SELECT {rest}, jobs, quota FROM spent \
               WHERE account_id = $1 AND hour >= $2 AND hour < $3 AND ($11 IS NULL OR operation = $11) \
               AND $8 IS NULL AND $9 IS NULL AND $10 IS NULL \
             UNION ALL SELECT {rest_less}, -jobs, -quota FROM used \
               WHERE account_id = $1 AND hour >= $2 AND hour < $3 AND ($11 IS NULL OR operation = $11) \
               AND $8 IS NULL AND $9 IS NULL AND $10 IS NULL) AS found \
             GROUP BY named"
        );
        let mut values = args![
            &asked.account_id,
            first,
            end,
            from_ms,
            head_ms,
            tail_ms,
            to_ms
        ]
        .to_vec();
        values.extend(asked.of.values(None));
        let reader = self.0.db.of(Some(&asked.account_id));
        reader.all(&sql, &values).await
    }

    /// Jobs are looked at one by one, the latest first, and no more of them and no longer than one look may.
    async fn usage_of_jobs(self, asked: &UsageQuestion) -> Result<GroupedUsage> {
        let (of_job, _) = asked.by.columns();
        let tag = asked.of.tag_text();
        // Those that are not asked for are read and counted as well, so that each statement reads no more than it returns.
        let sql = format!(
            "SELECT job.id, job.finished_ms, CAST(CASE WHEN {} THEN 1 ELSE 0 END AS BIGINT), {of_job}, job.quota FROM job \
             WHERE job.account_id = $1 AND job.state = 2 AND job.finished_ms >= $2 \
             AND (job.finished_ms, job.id) < ($3, $4) \
             ORDER BY job.finished_ms DESC, job.id DESC LIMIT $5",
            SpenderFilter::conditions(6)
        );
        let mut groups: BTreeMap<Option<String>, (i64, Quota)> = BTreeMap::new();
        let (begun, mut looked, mut from_ms) = (Instant::now(), 0, asked.from_ms);
        let mut place = (asked.to_ms, String::new());
        let reader = self.0.db.of(Some(&asked.account_id));
        loop {
            let mut values: Vec<Arg<'_>> = args![
                &asked.account_id,
                asked.from_ms,
                place.0,
                &place.1,
                TOGETHER
            ]
            .to_vec();
            values.extend(asked.of.values(tag.as_deref()));
            let jobs: Vec<TaggedJob> = reader.all(&sql, &values).await?;
            let ended = (jobs.len() as i64) < TOGETHER;
            looked += jobs.len();
            if let Some(last) = jobs.last() {
                place = (last.finished_ms, last.id.clone());
            }
            for job in jobs.into_iter().filter(|job| job.asked) {
                let group = match &asked.by {
                    UsageKind::Tag(name) => job.group.and_then(|tags| value_of(&tags, name)),
                    _ => job.group,
                };
                let (count, quota) = groups.entry(group).or_default();
                *count += 1;
                *quota = *quota + job.quota;
            }
            if ended {
                break;
            }
            if looked >= JOBS_MOST || begun.elapsed() >= LOOK {
                from_ms = place.0;
                break;
            }
        }
        let group = |(id, (jobs, quota))| UsageGroup { id, jobs, quota };
        Ok(GroupedUsage {
            groups: groups.into_iter().map(group).collect(),
            from_ms,
        })
    }
}

/// What a tag of a job says.
fn value_of(tags: &str, name: &str) -> Option<String> {
    let tags: Value = serde_json::from_str(tags).ok()?;
    Some(tags.get(name)?.as_str()?.to_owned())
}
