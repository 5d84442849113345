//! Jobs in pages. How many there are is known by the day without counting them, so that any page is found by going to
//! its days first, and in a long day to a part of it.

use atelier_contract::JobState;

use super::outline::{Known, Outline, Outlined, Proof};
use super::place::{Place, place};
use crate::db::{Arg, args, json};
use crate::jobs::row::{JOB_COLUMNS, JobRow};
use crate::{Result, Store};

const DAY_MS: i64 = 86_400_000;
/// A part of a day.
const PART_MS: i64 = 300_000;
/// A part of a day with more jobs than [`CROWDED`].
const SMALL_PART_MS: i64 = 10_000;
const CROWDED: i64 = 50_000;
/// The first of the days that are looked at one by one for a page at the beginning of an account's list.
const LATE: &str =
    "(SELECT COALESCE(MAX(latest.day), 0) - 31 FROM tally AS latest WHERE latest.account_id = $1)";
/// Stands for all days before those, whose jobs are one sum.
const EARLIER: i64 = -1;
/// To skip more jobs than this it is worth asking where they are, and whether all of them are asked for.
const FAR: i64 = 200;

/// Which jobs to list.
#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    /// Of one account, or of all.
    pub account_id: Option<String>,
    /// Of these operations; empty means all.
    pub operations: Vec<String>,
    /// In one state.
    pub state: Option<JobState>,
    /// Only unfinished ones.
    pub open: bool,
    /// Only those whose prompt has these words in it, in any case, or whose identifier this is.
    pub text: Option<String>,
    /// Only those that follow this job.
    pub parent_id: Option<String>,
    /// Oldest first.
    pub ascending: bool,
    /// Rows to skip.
    pub offset: i64,
    /// Rows to return at most.
    pub limit: i64,
    /// Created at or after.
    pub created_from_ms: Option<i64>,
}

/// How many jobs match, by the day they were created on, in the order of the list.
struct Days {
    jobs: Vec<(i64, i64)>,
    /// How often jobs were removed from the list, when whoever knows that knows whether it is still the same.
    falls: Option<i64>,
}

/// A day, its jobs, what it adds to those of earlier days, and falls.
type DayRow = (i64, (i64, (i64, i64)));

impl Store {
    /// A page of jobs by creation time, and how many match.
    pub async fn jobs(&self, filter: JobFilter) -> Result<(Vec<JobRow>, i64)> {
        let operations = json(&filter.operations);
        let days = self.days(&filter, &operations).await?;
        let total = days.jobs.iter().map(|(_, jobs)| jobs).sum();
        let Some(place) = self.place(days, &filter, &operations).await? else {
            return Ok((Vec::new(), total));
        };
        let way = place.way(filter.limit);
        let (first, last) = place.span;
        let from_ms = (first * place.unit_ms).max(filter.created_from_ms.unwrap_or(i64::MIN));
        let pattern = filter.text.as_deref().map(containing);
        let mut args = common(&filter, &operations, pattern.as_deref()).to_vec();
        args.extend([
            Arg::from(from_ms),
            Arg::from((last + 1) * place.unit_ms),
            Arg::from(way.limit),
            Arg::from(way.offset),
        ]);
        let far = way.offset > FAR && place.unit_ms == DAY_MS && !filter.operations.is_empty();
        let alike = far && self.all_alike(&filter, place).await?;
        let page = page(&filter, way.from_end, alike);
        let mut jobs: Vec<JobRow> = self.db().all(&page, &args).await?;
        // One of another kind may have ended since.
        jobs.retain(|job| {
            filter.operations.is_empty() || filter.operations.contains(&job.operation)
        });
        Ok((jobs, total))
    }

    /// Where a page is: on which days, and if many jobs of those come before it, in which part of them.
    async fn place(
        &self,
        mut days: Days,
        filter: &JobFilter,
        operations: &str,
    ) -> Result<Option<Place>> {
        let (offset, limit) = (filter.offset, filter.limit);
        let mut found = place(&days.jobs, DAY_MS, offset, limit);
        if found.is_some_and(|found| found.span.0 == EARLIER) {
            let earlier = self.earlier(&days, filter, operations).await?;
            days.jobs.retain(|(day, _)| *day != EARLIER);
            days.jobs.extend(earlier.iter().copied());
            found = place(&days.jobs, DAY_MS, offset, limit);
        }
        let (Some(on), Some(falls)) = (found, days.falls) else {
            return Ok(found);
        };
        if on.way(limit).offset <= FAR {
            return Ok(found);
        }
        let latest = days.jobs.first().map_or(0, |(day, _)| *day);
        let parts = self.parts(on, latest, falls, (filter, operations)).await?;
        let within = parts.and_then(|(parts, unit_ms)| place(&parts, unit_ms, on.offset, limit));
        Ok(within.or(found))
    }

    /// The days that are one number in the others.
    async fn earlier(&self, days: &Days, filter: &JobFilter, operations: &str) -> Result<Outline> {
        let Some(falls) = days.falls else {
            return Ok(self.days_of(filter, operations, true).await?.into());
        };
        let which = filter.outlined(operations, None);
        let jobs = days.jobs.iter().filter(|(day, _)| *day == EARLIER);
        let jobs = jobs.map(|(_, jobs)| jobs).sum();
        if let Known::Right(outline) = self.outlines().get(&which, Proof { jobs, falls }) {
            return Ok(outline);
        }
        let outline: Outline = self.days_of(filter, operations, true).await?.into();
        self.outlines().put(which, falls, &outline);
        Ok(outline)
    }

    /// The days of a page in parts, and how long those are. Days that are over are worth going through once; the latest one
    /// only if it stays as it is.
    async fn parts(
        &self,
        on: Place,
        latest: i64,
        falls: i64,
        (filter, operations): (&JobFilter, &str),
    ) -> Result<Option<(Outline, i64)>> {
        let unit_ms = if on.jobs > CROWDED {
            SMALL_PART_MS
        } else {
            PART_MS
        };
        let which = filter.outlined(operations, Some(on.span));
        let proof = Proof {
            jobs: on.jobs,
            falls,
        };
        match self.outlines().get(&which, proof) {
            Known::Right(outline) => return Ok(Some((outline, unit_ms))),
            Known::Nothing if on.span.1 >= latest => {
                self.outlines().looked(which, proof);
                return Ok(None);
            }
            Known::Quiet | Known::Nothing => {}
        }
        let sql = format!(
            "SELECT job.created_ms / {unit_ms} AS part, COUNT(*) FROM job WHERE {} AND job.deleted_ms IS NULL \
               AND job.created_ms >= $7 AND job.created_ms < $8 GROUP BY part ORDER BY part DESC",
            conditions(filter, filter.operations.is_empty())
        );
        let mut args = common(filter, operations, None).to_vec();
        let (first, last) = on.span;
        args.extend([first * DAY_MS, (last + 1) * DAY_MS].map(Arg::from));
        let outline: Outline = self.db().all::<(i64, i64)>(&sql, &args).await?.into();
        self.outlines().put(which, falls, &outline);
        Ok(Some((outline, unit_ms)))
    }

    /// Whether all jobs of the days of a page are of the operations that are asked for: then those before it are skipped
    /// without a look at each.
    async fn all_alike(&self, filter: &JobFilter, place: Place) -> Result<bool> {
        let state = filter.state.filter(|state| state.is_final());
        let (Some(state), false) = (state, filter.counts_jobs()) else {
            return Ok(false);
        };
        let sql = "SELECT CAST(SUM(jobs) AS BIGINT) FROM tally \
             WHERE account_id = $1 AND day >= $2 AND day <= $3 AND state = $4";
        let (first, last) = place.span;
        let values = args![filter.account_id.as_deref(), first, last, state.number()];
        let jobs = self.db().maybe::<Option<i64>>(sql, values).await?;
        Ok(jobs.flatten() == Some(place.jobs))
    }

    /// The days of a list. Of an account with a long history all but the latest are one number, which is kept and enough for
    /// the pages that are read most.
    async fn days(&self, filter: &JobFilter, operations: &str) -> Result<Days> {
        if filter.counts_jobs() || filter.ascending || filter.account_id.is_none() {
            let jobs = self.days_of(filter, operations, false).await?;
            return Ok(Days { jobs, falls: None });
        }
        let which = conditions(filter, filter.operations.is_empty());
        let finished = which.replace("job.", "tally.");
        let day = format!(
            "CASE WHEN job.created_ms / 86400000 < {LATE} THEN {EARLIER} ELSE job.created_ms / 86400000 END"
        );
        let in_all = which.replace("job.", "tally_total.");
        let open = filter.open_jobs(&format!("{day}, 1, 0, 0"), &which);
        // What is counted in all, less what the latest days say of it, ended before them.
        let sql = format!(
            "SELECT day, CAST(SUM(jobs) AS BIGINT), CAST(SUM(earlier) AS BIGINT), CAST(SUM(falls) AS BIGINT) FROM ( \
               SELECT tally.day AS day, tally.jobs AS jobs, -tally.jobs AS earlier, 0 AS falls FROM tally \
               WHERE {finished} AND $7 IS NULL AND tally.day >= {LATE} \
               UNION ALL \
               SELECT {EARLIER}, 0, tally_total.jobs, tally_total.falls FROM tally_total WHERE {in_all}{open}) AS found \
             GROUP BY day ORDER BY day DESC"
        );
        let mut args = common(filter, operations, None).to_vec();
        args.push(Arg::from(filter.created_from_ms));
        let rows: Vec<DayRow> = self.db().all(&sql, &args).await?;
        let ended_earlier: i64 = rows.iter().map(|(_, (_, (earlier, _)))| earlier).sum();
        let falls = rows.iter().map(|(_, (_, (_, falls)))| falls).sum();
        let days = rows.into_iter().map(|(day, (jobs, _))| match day {
            EARLIER => (day, jobs + ended_earlier),
            day => (day, jobs),
        });
        Ok(Days {
            jobs: days.filter(|(_, jobs)| *jobs > 0).collect(),
            falls: filter.keeps_jobs().then_some(falls),
        })
    }

    /// Day by day to the end, all of them or those that are earlier than the latest.
    async fn days_of(
        &self,
        filter: &JobFilter,
        operations: &str,
        earlier: bool,
    ) -> Result<Vec<(i64, i64)>> {
        let which = conditions(filter, filter.operations.is_empty());
        let way = if filter.ascending { "ASC" } else { "DESC" };
        let sql = if filter.counts_jobs() {
            format!(
                "SELECT created_ms / 86400000 AS day, COUNT(*) FROM job \
                 WHERE {which} AND deleted_ms IS NULL AND ($7 IS NULL OR created_ms >= $7) GROUP BY day ORDER BY day {way}"
            )
        } else {
            let finished = which.replace("job.", "tally.");
            let open = filter.open_jobs("job.created_ms / 86400000, 1", &which);
            let late = if earlier { LATE } else { "NULL" };
            format!(
                "SELECT day, CAST(SUM(jobs) AS BIGINT) FROM ( \
                   SELECT tally.day, tally.jobs FROM tally WHERE {finished} AND $7 IS NULL{open}) AS found \
                 WHERE day < COALESCE({late}, day + 1) GROUP BY day ORDER BY day {way}"
            )
        };
        let pattern = filter.text.as_deref().map(containing);
        let mut args = common(filter, operations, pattern.as_deref()).to_vec();
        args.push(Arg::from(filter.created_from_ms));
        self.db().all(&sql, &args).await
    }
}

impl JobFilter {
    /// Whether the jobs themselves have to be counted: what was added up by the day knows neither words nor hours.
    fn counts_jobs(&self) -> bool {
        self.created_from_ms.is_some() || self.text.is_some() || self.parent_id.is_some()
    }

    /// Whether a job stays in the list once it is there, unless it is removed.
    fn keeps_jobs(&self) -> bool {
        !self.open && self.state.is_none_or(JobState::is_final)
    }

    /// What an outline of it is remembered by.
    fn outlined(&self, operations: &str, days: Option<(i64, i64)>) -> Outlined {
        Outlined {
            account_id: self.account_id.clone().unwrap_or_default(),
            operations: operations.to_owned(),
            state: self.state.map(JobState::number),
            days,
        }
    }

    /// What jobs that have not ended add to what was added up, unless none of them can be asked for: then days come in the
    /// order in which they were added up.
    fn open_jobs(&self, columns: &str, which: &str) -> String {
        if self.state.is_some_and(JobState::is_final) {
            return String::new();
        }
        format!(" UNION ALL SELECT {columns} FROM job WHERE job.state < 2 AND {which}")
    }
}

/// A page: those before it are skipped in the index, the jobs themselves are read for the page alone.
fn page(filter: &JobFilter, from_end: bool, alike: bool) -> String {
    let order = |ascending: bool| if ascending { "ASC" } else { "DESC" };
    let (way, found) = (order(filter.ascending), order(filter.ascending != from_end));
    format!(
        "SELECT {JOB_COLUMNS} FROM job WHERE job.id IN (SELECT job.id FROM job WHERE {} AND job.deleted_ms IS NULL \
           AND job.created_ms >= $7 AND job.created_ms < $8 \
           ORDER BY job.created_ms {found}, job.id {found} LIMIT $9 OFFSET $10) \
         ORDER BY job.created_ms {way}, job.id {way}",
        conditions(filter, filter.operations.is_empty() || alike)
    )
}

/// The values of the conditions.
fn common<'a>(
    filter: &'a JobFilter,
    operations: &'a str,
    pattern: Option<&'a str>,
) -> [Arg<'a>; 6] {
    *args![
        filter.account_id.as_deref(),
        operations,
        filter.state.map(JobState::number),
        pattern,
        filter.text.as_deref(),
        filter.parent_id.as_deref()
    ]
}

/// A pattern that a text fits when it has the words in it.
fn containing(words: &str) -> String {
    let mut pattern = String::from("%");
    for letter in words.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}

/// A filter that is absent still names its place, so that the values keep theirs.
fn conditions(filter: &JobFilter, any_operation: bool) -> String {
    let pick = |present: bool, with: &'static str, without: &'static str| {
        if present { with } else { without }
    };
    [
        pick(
            filter.account_id.is_some(),
            "job.account_id = $1",
            "$1 IS NULL",
        ),
        pick(any_operation, "$2 IS NOT NULL", "job.operation {among:$2}"),
        match filter.state {
            // Said twice, because only then an index of those that have ended is known to do.
            Some(state) if state.is_final() => "job.state = $3 AND job.state >= 2",
            // Said as a number for the same reason.
            Some(JobState::Waiting) => "job.state = 0 AND $3 IS NOT NULL",
            Some(_) => "job.state = 1 AND $3 IS NOT NULL",
            None => "$3 IS NULL",
        },
        pick(
            filter.text.is_some(),
            "({prompt:job.request} {like} $4 ESCAPE '\\' OR job.id = $5)",
            "$4 IS NULL AND $5 IS NULL",
        ),
        pick(
            filter.parent_id.is_some(),
            "job.parent_id = $6",
            "$6 IS NULL",
        ),
        pick(filter.open, "job.state < 2", "1 = 1"),
    ]
    .join(" AND ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    /// A store of its own, and where it is.
    async fn opened(name: &str) -> (Store, std::path::PathBuf) {
        let name = format!("atelier-{name}-{}.db", std::process::id());
        let path = std::env::temp_dir().join(name);
        let url = format!("sqlite:{}", path.display());
        let store = Store::open(&url, Options::default()).await;
        (store.expect("a store"), path)
    }

    async fn removed((store, path): (Store, std::path::PathBuf)) {
        store.close().await;
        for ending in ["", "-wal", "-shm"] {
            std::fs::remove_file(format!("{}{ending}", path.display())).ok();
        }
    }

    /// Its number, the step that it is a part of, something else, and what is done.
    type Step = (i64, (i64, (i64, String)));

    /// A page in the middle of a day with ten thousand jobs reads its own and no other; open jobs are found among open ones.
    #[tokio::test]
    async fn jobs_before_a_page_are_not_read() {
        let (store, path) = opened("page").await;
        let plan = async |sql: &str, values: &[Arg<'_>]| {
            let sql = format!("EXPLAIN QUERY PLAN {sql}");
            let steps = store.db().all::<Step>(&sql, values).await.expect("a plan");
            let steps = steps.into_iter().map(|(_, (_, (_, step)))| step);
            steps.collect::<Vec<_>>().join("; ")
        };
        let filter = JobFilter {
            account_id: Some("a".into()),
            operations: vec!["artgen.imagine".into()],
            state: Some(JobState::Succeeded),
            ..JobFilter::default()
        };
        let mut values = common(&filter, "[]", None).to_vec();
        values.extend([0, 1, 20, 5_000].map(Arg::from));
        for alike in [false, true] {
            let steps = plan(&page(&filter, true, alike), &values).await;
            assert!(steps.contains("USING COVERING INDEX job_listed"), "{steps}");
        }
        // The house's own list of what waits or is worked on does not go through what has ended.
        let unfinished = [
            (JobState::Waiting, "job_waiting"),
            (JobState::Running, "job_running"),
        ];
        for (state, index) in unfinished {
            let filter = JobFilter {
                state: Some(state),
                ..JobFilter::default()
            };
            let mut values = common(&filter, "[]", None).to_vec();
            values.extend([0, 1, 20, 0].map(Arg::from));
            let steps = plan(&page(&filter, false, true), &values).await;
            assert!(steps.contains(&format!("INDEX {index}")), "{steps}");
        }
        for open in ["", " AND created_ms >= 5 ORDER BY created_ms DESC"] {
            let sql = format!("SELECT id FROM job WHERE account_id = 'a' AND state < 2{open}");
            let steps = plan(&sql, &[]).await;
            assert!(steps.contains("INDEX job_open"), "{steps}");
        }
        removed((store, path)).await;
    }

    #[tokio::test]
    async fn the_first_page_of_a_long_history_looks_at_its_latest_days_alone() {
        let (store, path) = opened("days").await;
        let written = store.change((), |conn, ()| {
            Box::pin(async move {
                let days = "WITH RECURSIVE n (day) AS (SELECT 20000 UNION ALL SELECT day + 1 FROM n WHERE day < 21999) \
                     INSERT INTO tally SELECT 'a', day, 'artgen.imagine', 2, 3 FROM n; \
                     INSERT INTO tally_total SELECT account_id, operation, state, SUM(jobs), 0 FROM tally GROUP BY 1, 2, 3";
                conn.script(days).await
            })
        });
        written.await.expect("a history of 2,000 days");
        // Were the earlier days added up, they would be missed now.
        let forgotten = store.change((), |conn, ()| {
            Box::pin(conn.script("DELETE FROM tally WHERE day < 21000"))
        });
        forgotten.await.expect("days are gone");
        let filter = JobFilter {
            account_id: Some("a".into()),
            limit: 20,
            ..JobFilter::default()
        };
        let days = store.days(&filter, "[]").await.expect("days").jobs;
        assert_eq!(days.iter().map(|(_, jobs)| jobs).sum::<i64>(), 6_000);
        assert_eq!(days.first(), Some(&(21_999, 3)), "the latest first");
        assert!(days.len() <= 33, "{} days were read", days.len());
        removed((store, path)).await;
    }

    #[test]
    fn words_to_look_for_mean_themselves() {
        assert_eq!(containing("50 % of_it"), "%50 \\% of\\_it%");
    }
}
