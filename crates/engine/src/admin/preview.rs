//! What other prices would have meant for the jobs of the last week.

use std::collections::BTreeMap;

use atelier_contract::pages::preview::{PreviewRow, PricePreview};
use atelier_contract::{AccountId, JobState, Quota, Refusal, Tariff, operation};
use atelier_store::{JobFilter, JobPage, JobRow};

use crate::assets::Assets;
use crate::context::{Context, unavailable};
use crate::order::resolve_request;
use crate::runner::RoutingConstraint;

const WEEK_MS: i64 = 7 * 24 * 3_600_000;
/// Jobs that are looked at, the latest first.
const MOST: i64 = 2_000;

/// What the jobs of the last week would have been charged with some prices changed.
pub(super) async fn preview(
    context: &Context,
    assets: &Assets,
    now: &Tariff,
    changed: Vec<(String, Quota)>,
) -> Result<PricePreview, Refusal> {
    let mut tariff = now.clone();
    for (key, amount) in changed {
        tariff
            .set(&key, amount)
            .map_err(|error| Refusal::invalid("prices", error))?;
    }
    let filter = JobFilter {
        state: Some(JobState::Succeeded),
        created_from_ms: Some(context.now_ms() - WEEK_MS),
        limit: MOST,
        ..JobFilter::default()
    };
    let JobPage { rows, total, .. } = context
        .store()
        .jobs()
        .list(filter)
        .await
        .map_err(unavailable)?;
    let jobs = rows.len();
    let mut families: BTreeMap<&'static str, PreviewRow> = BTreeMap::new();
    let (mut was, mut would_be) = (Quota::ZERO, Quota::ZERO);
    for row in rows {
        let (title, before, after) = priced(context, assets, row, &tariff).await;
        was = was + before;
        would_be = would_be + after;
        let row = families.entry(title).or_insert_with(|| PreviewRow {
            title: title.to_owned(),
            jobs: 0,
            was: Quota::ZERO,
            would_be: Quota::ZERO,
        });
        row.jobs += 1;
        row.was = row.was + before;
        row.would_be = row.would_be + after;
    }
    Ok(PricePreview {
        jobs: jobs as u32,
        more: total > jobs as i64,
        was,
        would_be,
        families: families.into_values().collect(),
    })
}

/// The family of a job, what it was charged, and what it would be charged; a job that cannot be read any more
/// counts as it was.
async fn priced(
    context: &Context,
    assets: &Assets,
    row: JobRow,
    tariff: &Tariff,
) -> (&'static str, Quota, Quota) {
    let was = row.quota;
    let Some((family, submit)) = operation(&row.operation) else {
        return ("", was, was);
    };
    let fields = serde_json::from_str(&row.request).unwrap_or_default();
    let Ok(request) = (submit.parse_stored)(fields) else {
        return (family.title, was, was);
    };
    let account_id = AccountId::new(row.account_id);
    let order = resolve_request(context, assets, &account_id, request.as_ref()).await;
    let price = order
        .ok()
        .and_then(|ordered| tariff.total(&ordered.order.price).ok());
    // On a caller's own account the price has a key of its own.
    let own = atelier_contract::Price::custody(submit.name);
    let custody = matches!(
        RoutingConstraint::read(&row.lane),
        RoutingConstraint::Own(_)
    );
    let price = if custody {
        tariff.total(&own).ok()
    } else {
        price
    };
    let price = price.unwrap_or(was);
    (family.title, was, share_of(price, was, row.price))
}

/// What is charged of a price when only part of what was held was charged.
pub(super) fn share_of(price: Quota, was: Quota, held: Quota) -> Quota {
    if was == held || held == Quota::ZERO {
        return price;
    }
    let share = i128::from(price.thousandths()) * i128::from(was.thousandths());
    let share = share / i128::from(held.thousandths());
    Quota::from_thousandths(i64::try_from(share).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_charged_as_a_part() {
        let quota = Quota::from_thousandths;
        assert_eq!(share_of(quota(800), quota(400), quota(400)), quota(800));
        assert_eq!(share_of(quota(800), quota(100), quota(400)), quota(200));
        assert_eq!(share_of(quota(800), quota(0), quota(0)), quota(800));
    }
}
