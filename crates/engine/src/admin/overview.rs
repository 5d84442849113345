//! The last hour at a glance, for the operator's first page.

use std::collections::BTreeMap;

use atelier_contract::pages::overview::{FamilyRow, LastAct, MakerRow, MinuteRow, Overview};
use atelier_contract::time::timestamp;
use atelier_contract::{FAMILIES, JobState, Quota, Refusal, operation};
use atelier_store::FinishedJobRow;

use super::margins;
use crate::context::{Context, unavailable};

const MINUTE_MS: i64 = 60_000;
const MINUTES: usize = 60;
/// Jobs of the hour that are looked at; more than that say nothing new.
const MOST_JOBS: i64 = 5_000;
/// Callbacks of the hour that are looked at.
const MOST_CALLBACKS: i64 = 1_000;
/// Who made what nobody's name stands at.
const EMBEDDED: &str = "embedded";

/// The last hour at a glance.
pub(super) async fn overview(context: &Context) -> Result<Overview, Refusal> {
    let now_ms = context.now_ms();
    let from_ms = (now_ms / MINUTE_MS + 1) * MINUTE_MS - MINUTES as i64 * MINUTE_MS;
    let (ended, lags, owed, acts, latest) = tokio::join!(
        context.store().statistics().ended_since(from_ms, MOST_JOBS),
        context
            .store()
            .statistics()
            .callback_lags(from_ms, MOST_CALLBACKS),
        context.store().statistics().backlog(),
        context.store().admin().audit_rows(0, 1),
        margins::latest(context),
    );
    let latest = latest?;
    let (ended, mut lags) = (ended.map_err(unavailable)?, lags.map_err(unavailable)?);
    let (owed, (acts, _)) = (owed.map_err(unavailable)?, acts.map_err(unavailable)?);
    lags.sort_unstable();
    Ok(Overview {
        now_ms,
        minutes: minutes(&ended, from_ms),
        p95_ms: everything(&ended).share(95),
        families: families(&ended),
        makers: makers(&ended),
        more: ended.len() as i64 == MOST_JOBS,
        held: owed.held,
        oldest_waiting_ms: owed.oldest_waiting_ms.map(|at| (now_ms - at).max(0)),
        oldest_callback_ms: owed.oldest_callback_ms.map(|at| (now_ms - at).max(0)),
        failing_receivers: owed.failing_receivers,
        callback_p50_ms: share(&lags, 50),
        callback_p99_ms: share(&lags, 99),
        losses: latest.losses,
        unknown_costs: latest.unknown,
        last_act: acts.into_iter().next().map(|row| LastAct {
            time: timestamp(row.time_ms),
            actor: row.actor,
            action: row.action,
        }),
        disk_free_bytes: None,
        disk_bytes: None,
        warnings: Vec::new(),
    })
}

/// What so many of a hundred stay at or below; nothing for nothing. The values are sorted.
fn share(sorted: &[i64], percent: usize) -> Option<i64> {
    let place = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(place - 1).copied()
}

/// Jobs that have something in common.
#[derive(Default)]
struct Group {
    jobs: u32,
    failed: u32,
    quota: Quota,
    took: Vec<i64>,
    families: Vec<String>,
}

impl Group {
    fn add(&mut self, row: &FinishedJobRow) {
        self.jobs += 1;
        self.quota = self.quota + row.quota;
        if row.state == JobState::Succeeded {
            self.took.push(row.finished_ms - row.created_ms);
        } else {
            self.failed += 1;
        }
        let family = family_of(row).to_owned();
        if !self.families.contains(&family) {
            self.families.push(family);
        }
    }

    fn share(&mut self, percent: usize) -> Option<i64> {
        self.took.sort_unstable();
        share(&self.took, percent)
    }
}

fn family_of(row: &FinishedJobRow) -> &str {
    operation(&row.operation).map_or(row.operation.as_str(), |(family, _)| family.name)
}

fn minutes(ended: &[FinishedJobRow], from_ms: i64) -> Vec<MinuteRow> {
    let mut groups: Vec<Group> = std::iter::repeat_with(Group::default)
        .take(MINUTES)
        .collect();
    for row in ended {
        let place = (row.finished_ms - from_ms).div_euclid(MINUTE_MS);
        let place = usize::try_from(place).ok();
        if let Some(group) = place.and_then(|place| groups.get_mut(place)) {
            group.add(row);
        }
    }
    let row = |mut group: Group| MinuteRow {
        succeeded: group.jobs - group.failed,
        failed: group.failed,
        p95_ms: group.share(95),
    };
    groups.into_iter().map(row).collect()
}

/// All jobs together.
fn everything(ended: &[FinishedJobRow]) -> Group {
    let mut group = Group::default();
    for row in ended {
        group.add(row);
    }
    group
}

fn families(ended: &[FinishedJobRow]) -> Vec<FamilyRow> {
    let mut rows = Vec::new();
    for family in FAMILIES {
        let mut group = Group::default();
        for row in ended.iter().filter(|row| family_of(row) == family.name) {
            group.add(row);
        }
        if group.jobs > 0 {
            rows.push(FamilyRow {
                family: family.name.to_owned(),
                title: family.title.to_owned(),
                jobs: group.jobs,
                failed: group.failed,
                p50_ms: group.share(50),
                p95_ms: group.share(95),
                quota: group.quota,
            });
        }
    }
    rows
}

fn makers(ended: &[FinishedJobRow]) -> Vec<MakerRow> {
    let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
    for row in ended {
        // A job that failed without anybody asked says nothing about who makes things here.
        let maker = match (row.worker.as_deref(), row.state) {
            (Some(worker), _) => worker,
            (None, JobState::Succeeded) => EMBEDDED,
            (None, _) => continue,
        };
        groups.entry(maker).or_default().add(row);
    }
    let row = |(name, mut group): (&str, Group)| MakerRow {
        name: name.to_owned(),
        jobs: group.jobs,
        failed: group.failed,
        p50_ms: group.share(50),
        quota: group.quota,
        families: group.families,
    };
    groups.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(operation: &str, state: JobState, took_ms: i64, finished_ms: i64) -> FinishedJobRow {
        FinishedJobRow {
            operation: operation.into(),
            state,
            worker: None,
            created_ms: finished_ms - took_ms,
            started_ms: None,
            finished_ms,
            quota: Quota::from_thousandths(1000),
        }
    }

    #[test]
    fn shares_are_of_what_there_is() {
        assert_eq!(share(&[], 50), None);
        assert_eq!(share(&[7], 99), Some(7));
        let hundred: Vec<i64> = (1..=100).collect();
        assert_eq!(
            (share(&hundred, 50), share(&hundred, 95)),
            (Some(50), Some(95))
        );
    }

    #[test]
    fn jobs_are_counted_in_their_minute_and_family() {
        let rows = [
            row("artgen.imagine", JobState::Succeeded, 400, 30_000),
            row("artgen.imagine", JobState::Failed, 10, 90_000),
            row("facegen.swap", JobState::Succeeded, 900, 91_000),
        ];
        let minutes = minutes(&rows, 0);
        assert_eq!((minutes[0].succeeded, minutes[0].failed), (1, 0));
        assert_eq!((minutes[1].succeeded, minutes[1].failed), (1, 1));
        let families = families(&rows);
        let art = families.iter().find(|row| row.family == "artgen");
        let art = art.expect("a family");
        assert_eq!((art.jobs, art.failed, art.p95_ms), (2, 1, Some(400)));
        assert_eq!(makers(&rows)[0].jobs, 2);
    }

    #[test]
    fn the_share_of_all_jobs_is_not_that_of_the_slowest_family() {
        let mut rows: Vec<_> = (0..39)
            .map(|_| row("artgen.imagine", JobState::Succeeded, 400, 30_000))
            .collect();
        rows.push(row(
            "vidgen.generations",
            JobState::Succeeded,
            90_000,
            91_000,
        ));
        assert_eq!(everything(&rows).share(95), Some(400));
    }
}
