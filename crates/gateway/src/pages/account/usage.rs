//! What the caller consumed in a period.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use atelier_contract::fields::Moment;
use atelier_contract::pages::spending::UsageQuery;
use atelier_contract::time::timestamp;
use atelier_contract::{AccountId, Quota, Refusal, operation};
use atelier_engine::records::{UsageGroup, UsageKind, UsageQuestion, UsageRow};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Data, Query};
use crate::http::request::IncomingRequest;
use crate::pages::rows::usage::{DayUsage, FamilyUsage, GroupUsage, Usage};
use crate::pages::spenders;

const DAY_MS: i64 = 86_400_000;
/// Whole hours are added up already when jobs end.
const HOUR_MS: i64 = 3_600_000;
/// Usage covers this many days unless a period is named.
const USUAL_DAYS: i64 = 30;
/// Groups that are told of.
const GROUPS_MOST: usize = 1_000;

pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<UsageQuery>,
) -> Result<Data<Usage>, Denial> {
    Ok(Data(usage_of(&app, received.account()?, &query).await?))
}

/// What an account consumed, as it is asked for.
pub(crate) async fn usage_of(
    app: &App,
    account: &AccountId,
    query: &UsageQuery,
) -> Result<Usage, Refusal> {
    let to_ms = query.to.map_or_else(|| app.engine.now_ms(), Moment::ms);
    // What is not named is whole hours, which no jobs have to be counted for: nothing has ended after now.
    let next_hour_ms = (to_ms.div_euclid(HOUR_MS) + 1) * HOUR_MS;
    let until_ms = query.to.map_or(next_hour_ms, Moment::ms);
    let usual_from_ms = next_hour_ms - HOUR_MS - USUAL_DAYS * DAY_MS;
    let from_ms = query.from.map_or(usual_from_ms, Moment::ms);
    let of = spenders::of_usage(query)?;
    let by = query.by.as_deref().map(spenders::kind).transpose()?;
    if by.is_some() || !of.is_empty() {
        let asked = UsageQuestion {
            account_id: account.to_string(),
            by: by.unwrap_or(UsageKind::Operation),
            of,
            from_ms,
            to_ms: until_ms,
        };
        return by_groups(app, account, asked, to_ms).await;
    }
    let usage = app
        .engine
        .admin()
        .accounts()
        .usage(account, from_ms, until_ms)
        .await?;
    let by_day = grouped(&usage, |one| timestamp(one.day * DAY_MS)[..10].to_owned());
    Ok(Usage {
        from: timestamp(from_ms),
        to: timestamp(to_ms),
        quota: usage.iter().fold(Quota::ZERO, |sum, one| sum + one.quota),
        jobs: usage.iter().map(|one| one.jobs).sum(),
        by_family: families(grouped(&usage, |one| family_of(&one.operation))),
        by_day: by_day
            .into_iter()
            .map(|(day, (jobs, quota))| DayUsage { day, jobs, quota })
            .collect(),
        groups: None,
    })
}

fn family_of(name: &str) -> String {
    operation(name).map_or_else(|| name.to_owned(), |(family, _)| family.name.to_owned())
}

fn families(groups: BTreeMap<String, (i64, Quota)>) -> Vec<FamilyUsage> {
    let row = |(family, (jobs, quota))| FamilyUsage {
        family,
        jobs,
        quota,
    };
    groups.into_iter().map(row).collect()
}

/// The same by groups. What was consumed by day is not told with it.
async fn by_groups(
    app: &App,
    account: &AccountId,
    asked: UsageQuestion,
    to_ms: i64,
) -> Result<Usage, Refusal> {
    let found = app.engine.admin().accounts().usage_by(&asked).await?;
    let ids = found.groups.iter().take(GROUPS_MOST);
    let ids: Vec<&str> = ids.filter_map(|group| group.id.as_deref()).collect();
    let names = match asked.by {
        UsageKind::Key => app.engine.admin().keys().names(account, &ids).await?,
        UsageKind::Member => app.engine.people().members().names(account, &ids).await?,
        _ => HashMap::new(),
    };
    let mut by_family = BTreeMap::new();
    if asked.by == UsageKind::Operation {
        for group in &found.groups {
            let family = family_of(group.id.as_deref().unwrap_or_default());
            let sum: &mut (i64, Quota) = by_family.entry(family).or_default();
            *sum = (sum.0 + group.jobs, sum.1 + group.quota);
        }
    }
    let quota = found
        .groups
        .iter()
        .fold(Quota::ZERO, |sum, one| sum + one.quota);
    let jobs = found.groups.iter().map(|one| one.jobs).sum();
    let row = |group: UsageGroup| {
        let name = group.id.as_ref().and_then(|id| names.get(id));
        GroupUsage {
            name: name.cloned().or_else(|| group.id.clone()),
            id: group.id,
            quota: group.quota,
            jobs: group.jobs,
        }
    };
    Ok(Usage {
        from: timestamp(found.from_ms),
        to: timestamp(to_ms),
        quota,
        jobs,
        by_family: families(by_family),
        by_day: Vec::new(),
        groups: Some(
            found
                .groups
                .into_iter()
                .take(GROUPS_MOST)
                .map(row)
                .collect(),
        ),
    })
}

fn grouped(usage: &[UsageRow], by: impl Fn(&UsageRow) -> String) -> BTreeMap<String, (i64, Quota)> {
    let mut groups: BTreeMap<String, (i64, Quota)> = BTreeMap::new();
    for one in usage {
        let group = groups.entry(by(one)).or_default();
        *group = (group.0 + one.jobs, group.1 + one.quota);
    }
    groups
}
