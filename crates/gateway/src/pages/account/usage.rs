//! What the caller consumed in a period.

use std::collections::BTreeMap;
use std::sync::Arc;

use atelier_contract::fields::Moment;
use atelier_contract::time::timestamp;
use atelier_contract::{Quota, operation};
use atelier_engine::records::UsageRow;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Data, Query};
use crate::http::request::IncomingRequest;
use crate::pages::rows::usage::{DayUsage, FamilyUsage, Usage, UsageQuery};

const DAY_MS: i64 = 86_400_000;
/// Whole hours are added up already when jobs end.
const HOUR_MS: i64 = 3_600_000;
/// Usage covers this many days unless a period is named.
const USUAL_DAYS: i64 = 30;

pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<UsageQuery>,
) -> Result<Data<Usage>, Denial> {
    let to_ms = query.to.map_or_else(|| app.engine.now_ms(), Moment::ms);
    // What is not named is whole hours, which no jobs have to be counted for: nothing has ended after now.
    let next_hour_ms = (to_ms.div_euclid(HOUR_MS) + 1) * HOUR_MS;
    let until_ms = query.to.map_or(next_hour_ms, Moment::ms);
    let usual_from_ms = next_hour_ms - HOUR_MS - USUAL_DAYS * DAY_MS;
    let from_ms = query.from.map_or(usual_from_ms, Moment::ms);
    let account = received.account()?;
    let usage = app
        .engine
        .admin()
        .accounts()
        .usage(account, from_ms, until_ms)
        .await?;
    let by_family = grouped(&usage, |one| {
        operation(&one.operation).map_or_else(
            || one.operation.clone(),
            |(family, _)| family.name.to_owned(),
        )
    });
    let by_day = grouped(&usage, |one| timestamp(one.day * DAY_MS)[..10].to_owned());
    Ok(Data(Usage {
        from: timestamp(from_ms),
        to: timestamp(to_ms),
        quota: usage.iter().fold(Quota::ZERO, |sum, one| sum + one.quota),
        jobs: usage.iter().map(|one| one.jobs).sum(),
        by_family: by_family
            .into_iter()
            .map(|(family, (jobs, quota))| FamilyUsage {
                family,
                jobs,
                quota,
            })
            .collect(),
        by_day: by_day
            .into_iter()
            .map(|(day, (jobs, quota))| DayUsage { day, jobs, quota })
            .collect(),
    }))
}

fn grouped(usage: &[UsageRow], by: impl Fn(&UsageRow) -> String) -> BTreeMap<String, (i64, Quota)> {
    let mut groups: BTreeMap<String, (i64, Quota)> = BTreeMap::new();
    for one in usage {
        let group = groups.entry(by(one)).or_default();
        *group = (group.0 + one.jobs, group.1 + one.quota);
    }
    groups
}
