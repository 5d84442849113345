//! Jobs in pages. How many there are is known by the day without counting them, so that any page is found by going to
//! its days first, and in a long day to a part of it.

use atelier_contract::JobState;
use atelier_contract::pages::jobs::JobCursor;

use super::filter::{JobFilter, JobPage, common, conditions};
use super::outline::{CachedOutline, Outline, OutlineKey, OutlineVersion};
use super::page_window::{PageWindow, find_window};
use crate::Result;
use crate::db::{Arg, args, json};
use crate::jobs::Jobs;
use crate::jobs::row::{JOB_COLUMNS, JobRow};
use crate::readers::Reader;

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

/// How many jobs match, by the day they were created on, in the order of the list.
struct DayCounts {
    jobs: Vec<(i64, i64)>,
    /// How often jobs were removed from the list, when whoever knows that knows whether it is still the same.
    falls: Option<i64>,
}

/// A day, its jobs, what it adds to those of earlier days, and falls.
type DayRow = (i64, (i64, (i64, i64)));

impl Jobs<'_> {
    /// A page of jobs by creation time, and how many match.
    pub async fn list(self, filter: JobFilter) -> Result<JobPage> {
        // Without an account there is no index to go on by, so it is looked for like words.
        let looked_for =
            filter.text.is_some() || !filter.of.is_empty() || filter.created_to_ms.is_some();
        if looked_for || filter.account_id.is_none() && filter.after.is_some() {
            return self.search(&filter).await;
        }
        let operations = json(&filter.operations);
        let days = self.days(&filter, &operations).await?;
        let total = days.jobs.iter().map(|(_, jobs)| jobs).sum();
        let limit = filter.limit.max(0);
        let (mut rows, more) = if let Some(after) = &filter.after {
            let rows = self.rows_after(days, &filter, &operations, after).await?;
            let more = rows.len() as i64 > limit;
            (rows, more)
        } else {
            let more = filter.offset.saturating_add(limit) < total;
            let rows = self.rows_at(days, &filter, &operations).await?;
            (rows, more && filter.account_id.is_some())
        };
        rows.truncate(limit as usize);
        let last = rows.last().filter(|_| more);
        Ok(JobPage {
            next: last.map(|job| JobCursor {
                created_ms: job.created_ms,
                id: job.id.clone(),
            }),
            rows,
            total,
        })
    }

    /// The rows of a page that is told by how many come before it.
    async fn rows_at(
        self,
        days: DayCounts,
        filter: &JobFilter,
        operations: &str,
    ) -> Result<Vec<JobRow>> {
        let Some(place) = self.place(days, filter, operations).await? else {
            return Ok(Vec::new());
        };
        let way = place.way(filter.limit);
        let (first, last) = place.span;
        let from_ms = (first * place.unit_ms).max(filter.created_from_ms.unwrap_or(i64::MIN));
        let mut args = common(filter, operations, None).to_vec();
        args.extend([
            Arg::from(from_ms),
            Arg::from((last + 1) * place.unit_ms),
            Arg::from(way.limit),
            Arg::from(way.offset),
        ]);
        let far = way.offset > FAR && place.unit_ms == DAY_MS && !filter.operations.is_empty();
        let alike = far && self.all_alike(filter, place).await?;
        let page = page(filter, way.from_end, alike);
        let mut jobs: Vec<JobRow> = self.reader(filter).all(&page, &args).await?;
        // One of another kind may have ended since.
        jobs.retain(|job| {
            filter.operations.is_empty() || filter.operations.contains(&job.operation)
        });
        Ok(jobs)
    }

    /// The rows of a page that is told by the job before it.
    async fn rows_after(
        self,
        mut days: DayCounts,
        filter: &JobFilter,
        operations: &str,
        after: &JobCursor,
    ) -> Result<Vec<JobRow>> {
        let own = after.created_ms.div_euclid(DAY_MS);
        let mut span = days_after(&days.jobs, own, filter);
        if span.is_some_and(|(first, _)| first == EARLIER) {
            self.add_earlier(&mut days, filter, operations).await?;
            span = days_after(&days.jobs, own, filter);
        }
        let Some((first, last)) = span else {
            return Ok(Vec::new());
        };
        let from_ms = (first * DAY_MS).max(filter.created_from_ms.unwrap_or(i64::MIN));
        let mut args = common(filter, operations, None).to_vec();
        args.extend([
            Arg::from(from_ms),
            Arg::from((last + 1) * DAY_MS),
            // One more tells whether there are more.
            Arg::from(filter.limit + 1),
            Arg::from(0),
            Arg::from(after.created_ms),
            Arg::from(&after.id),
        ]);
        let page = page(filter, false, false);
        self.reader(filter).all(&page, &args).await
    }

    /// Reads on behalf of whoever lists.
    fn reader<'a>(self, filter: &'a JobFilter) -> Reader<'a>
    where
        Self: 'a,
    {
        self.0.db.of(filter.account_id.as_deref())
    }

    /// Where a page is: on which days, and if many jobs of those come before it, in which part of them.
    async fn place(
        self,
        mut days: DayCounts,
        filter: &JobFilter,
        operations: &str,
    ) -> Result<Option<PageWindow>> {
        let (offset, limit) = (filter.offset, filter.limit);
        let mut found = find_window(&days.jobs, DAY_MS, offset, limit);
        if found.is_some_and(|found| found.span.0 == EARLIER) {
            self.add_earlier(&mut days, filter, operations).await?;
            found = find_window(&days.jobs, DAY_MS, offset, limit);
        }
        let (Some(on), Some(falls)) = (found, days.falls) else {
            return Ok(found);
        };
        if on.way(limit).offset <= FAR {
            return Ok(found);
        }
        let latest = days.jobs.first().map_or(0, |(day, _)| *day);
        let parts = self.parts(on, latest, falls, filter, operations).await?;
        let within =
            parts.and_then(|(parts, unit_ms)| find_window(&parts, unit_ms, on.offset, limit));
        Ok(within.or(found))
    }

    /// Puts the earlier days, which are one number, as what they are.
    async fn add_earlier(
        self,
        days: &mut DayCounts,
        filter: &JobFilter,
        operations: &str,
    ) -> Result<()> {
        let earlier = self.earlier(days, filter, operations).await?;
        days.jobs.retain(|(day, _)| *day != EARLIER);
        days.jobs.extend(earlier.iter().copied());
        Ok(())
    }

    /// The days that are one number in the others.
    async fn earlier(
        self,
        days: &DayCounts,
        filter: &JobFilter,
        operations: &str,
    ) -> Result<Outline> {
        let Some(falls) = days.falls else {
            return Ok(self.days_of(filter, operations, true).await?.into());
        };
        let which = filter.outlined(operations, None);
        let jobs = days.jobs.iter().filter(|(day, _)| *day == EARLIER);
        let jobs = jobs.map(|(_, jobs)| jobs).sum();
        if let CachedOutline::Right(outline) =
            self.0.outlines.get(&which, OutlineVersion { jobs, falls })
        {
            return Ok(outline);
        }
        let outline: Outline = self.days_of(filter, operations, true).await?.into();
        self.0.outlines.put(which, falls, &outline);
        Ok(outline)
    }

    /// The days of a page in parts, and how long those are. Days that are over are worth going through once; the latest one
    /// only if it stays as it is.
    async fn parts(
        self,
        on: PageWindow,
        latest: i64,
        falls: i64,
        filter: &JobFilter,
        operations: &str,
    ) -> Result<Option<(Outline, i64)>> {
        let unit_ms = if on.jobs > CROWDED {
            SMALL_PART_MS
        } else {
            PART_MS
        };
        let which = filter.outlined(operations, Some(on.span));
        let proof = OutlineVersion {
            jobs: on.jobs,
            falls,
        };
        match self.0.outlines.get(&which, proof) {
            CachedOutline::Right(outline) => return Ok(Some((outline, unit_ms))),
            CachedOutline::Nothing if on.span.1 >= latest => {
                self.0.outlines.looked(which, proof);
                return Ok(None);
            }
            CachedOutline::Quiet | CachedOutline::Nothing => {}
        }
        let sql = format!(
            "SELECT job.created_ms / {unit_ms} AS part, COUNT(*) FROM job WHERE {} AND job.deleted_ms IS NULL \
               AND job.created_ms >= $7 AND job.created_ms < $8 GROUP BY part ORDER BY part DESC",
            conditions(filter, filter.operations.is_empty())
        );
        let mut args = common(filter, operations, None).to_vec();
        let (first, last) = on.span;
        args.extend([first * DAY_MS, (last + 1) * DAY_MS].map(Arg::from));
        let outline: Outline = self
            .reader(filter)
            .all::<(i64, i64)>(&sql, &args)
            .await?
            .into();
        self.0.outlines.put(which, falls, &outline);
        Ok(Some((outline, unit_ms)))
    }

    /// Whether all jobs of the days of a page are of the operations that are asked for: then those before it are skipped
    /// without a look at each.
    async fn all_alike(self, filter: &JobFilter, place: PageWindow) -> Result<bool> {
        let state = filter.state.filter(|state| state.is_final());
        let (Some(state), false) = (state, filter.counts_jobs()) else {
            return Ok(false);
        };
        let sql = "SELECT CAST(SUM(jobs) AS BIGINT) FROM tally \
             WHERE account_id = $1 AND day >= $2 AND day <= $3 AND state = $4";
        let (first, last) = place.span;
        let values = args![filter.account_id.as_deref(), first, last, state.number()];
        let jobs = self
            .reader(filter)
            .maybe::<Option<i64>>(sql, values)
            .await?;
        Ok(jobs.flatten() == Some(place.jobs))
    }

    /// The days of a list. Of an account with a long history all but the latest are one number, which is kept and enough for
    /// the pages that are read most.
    async fn days(self, filter: &JobFilter, operations: &str) -> Result<DayCounts> {
        if filter.counts_jobs() || filter.ascending || filter.account_id.is_none() {
            let jobs = self.days_of(filter, operations, false).await?;
            return Ok(DayCounts { jobs, falls: None });
        }
        if let Some(from_ms) = filter.created_from_ms {
            let jobs = self.days_since(filter, operations, from_ms).await?;
            return Ok(DayCounts { jobs, falls: None });
        }
        let which = conditions(filter, filter.operations.is_empty());
        let finished = of_ended(&which, "tally");
        let day = format!(
            "CASE WHEN job.created_ms / 86400000 < {LATE} THEN {EARLIER} ELSE job.created_ms / 86400000 END"
        );
        let in_all = of_ended(&which, "tally_total");
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
        let rows: Vec<DayRow> = self.reader(filter).all(&sql, &args).await?;
        let ended_earlier: i64 = rows.iter().map(|(_, (_, (earlier, _)))| earlier).sum();
        let falls = rows.iter().map(|(_, (_, (_, falls)))| falls).sum();
        let days = rows.into_iter().map(|(day, (jobs, _))| match day {
            EARLIER => (day, jobs + ended_earlier),
            day => (day, jobs),
        });
        Ok(DayCounts {
            jobs: days.filter(|(_, jobs)| *jobs > 0).collect(),
            falls: filter.keeps_jobs().then_some(falls),
        })
    }

    /// Day by day since a time. Whole days are added up already; only what is left of the first is counted one by one.
    async fn days_since(
        self,
        filter: &JobFilter,
        operations: &str,
        from_ms: i64,
    ) -> Result<Vec<(i64, i64)>> {
        let first = from_ms.div_euclid(DAY_MS) + i64::from(from_ms.rem_euclid(DAY_MS) > 0);
        let which = conditions(filter, filter.operations.is_empty());
        let finished = of_ended(&which, "tally");
        // Each way of ending by itself, because then an index has all that is asked.
        let rest = |state: JobState| {
            format!(
                "SELECT job.created_ms / {DAY_MS}, 1 FROM job WHERE {which} AND job.state = {} AND job.state >= 2 \
                   AND job.deleted_ms IS NULL AND job.created_ms >= $7 AND job.created_ms < $8",
                state.number()
            )
        };
        let since = format!("{which} AND job.created_ms >= $7");
        let open = filter.open_jobs(&format!("job.created_ms / {DAY_MS}, 1"), &since);
        let sql = format!(
            "SELECT day, CAST(SUM(jobs) AS BIGINT) FROM ( \
               SELECT tally.day AS day, tally.jobs AS jobs FROM tally WHERE {finished} AND tally.day >= $9 \
               UNION ALL {} UNION ALL {}{open}) AS found GROUP BY day ORDER BY day DESC",
            rest(JobState::Succeeded),
            rest(JobState::Failed)
        );
        let mut args = common(filter, operations, None).to_vec();
        args.extend([from_ms, first * DAY_MS, first].map(Arg::from));
        self.reader(filter).all(&sql, &args).await
    }

    /// Day by day to the end, all of them or those that are earlier than the latest.
    async fn days_of(
        self,
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
            let finished = of_ended(&which, "tally");
            let open = filter.open_jobs("job.created_ms / 86400000, 1", &which);
            let late = if earlier { LATE } else { "NULL" };
            format!(
                "SELECT day, CAST(SUM(jobs) AS BIGINT) FROM ( \
                   SELECT tally.day, tally.jobs FROM tally WHERE {finished} AND $7 IS NULL{open}) AS found \
                 WHERE day < COALESCE({late}, day + 1) GROUP BY day ORDER BY day {way}"
            )
        };
        let mut args = common(filter, operations, None).to_vec();
        args.push(Arg::from(filter.created_from_ms));
        self.reader(filter).all(&sql, &args).await
    }
}

impl JobFilter {
    /// What an outline of it is remembered by.
    fn outlined(&self, operations: &str, days: Option<(i64, i64)>) -> OutlineKey {
        OutlineKey {
            account_id: self.account_id.clone().unwrap_or_default(),
            operations: operations.to_owned(),
            state: self.state.map(JobState::number),
            days,
        }
    }
}

/// The first and the last of the days that hold a page behind a job of one of them: that day, and as many of the next as a page
/// has jobs.
fn days_after(days: &[(i64, i64)], own: i64, filter: &JobFilter) -> Option<(i64, i64)> {
    let behind = |day: i64| {
        if filter.ascending {
            day >= own
        } else {
            day <= own
        }
    };
    let (mut span, mut jobs) = (None, 0);
    for &(day, count) in days.iter().filter(|(day, _)| behind(*day)) {
        let (first, last) = span.unwrap_or((day, day));
        span = Some((first.min(day), last.max(day)));
        if day != own {
            jobs += count;
        }
        if jobs > filter.limit {
            break;
        }
    }
    span
}

/// The same conditions for a table of what has ended, which knows nothing of work under way.
fn of_ended(which: &str, table: &str) -> String {
    let which = which.replace("job.started_ms", "NULL");
    which.replace("job.", &format!("{table}."))
}

/// A page: those before it are skipped in the index, the jobs themselves are read for the page alone.
fn page(filter: &JobFilter, from_end: bool, alike: bool) -> String {
    let order = |ascending: bool| if ascending { "ASC" } else { "DESC" };
    let (way, found) = (order(filter.ascending), order(filter.ascending != from_end));
    let after = match (&filter.after, filter.ascending) {
        (None, _) => "",
        (Some(_), false) => " AND (job.created_ms, job.id) < ($11, $12)",
        (Some(_), true) => " AND (job.created_ms, job.id) > ($11, $12)",
    };
    format!(
        "SELECT {JOB_COLUMNS} FROM job WHERE job.id IN (SELECT job.id FROM job WHERE {} AND job.deleted_ms IS NULL \
           AND job.created_ms >= $7 AND job.created_ms < $8{after} \
           ORDER BY job.created_ms {found}, job.id {found} LIMIT $9 OFFSET $10) \
         ORDER BY job.created_ms {way}, job.id {way}",
        conditions(filter, filter.operations.is_empty() || alike)
    )
}

#[cfg(test)]
mod tests;
