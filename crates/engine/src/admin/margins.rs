//! What callers paid against what vendors took, for each family at each vendor.

use std::collections::BTreeMap;

use atelier_contract::pages::cost::Amount;
use atelier_contract::pages::stats::Margin;
use atelier_contract::{Quota, Refusal, operation};

use crate::context::{Context, unavailable};

/// Days that are looked back on.
const DAYS: i64 = 30;
const DAY_MS: i64 = 86_400_000;

/// The margins of the last days.
pub(super) async fn margins(context: &Context) -> Result<Vec<Margin>, Refusal> {
    let since = context.now_ms().div_euclid(DAY_MS) - DAYS + 1;
    let rows = context
        .store()
        .statistics()
        .margins(since)
        .await
        .map_err(unavailable)?;
    let mut sums: BTreeMap<(String, String, String), (i64, i64, i64)> = BTreeMap::new();
    for row in rows {
        let family = operation(&row.operation).map(|(family, _)| family.name.to_owned());
        let family = family.unwrap_or(row.operation);
        let sum = sums.entry((row.vendor, family, row.currency)).or_default();
        sum.0 += row.jobs;
        sum.1 += row.quota.thousandths();
        sum.2 += row.cost;
    }
    let quota_usd = context.settings().prices.quota_usd;
    let margin = |((vendor, family, currency), (jobs, quota, cost)): (_, (i64, i64, i64))| {
        let currency: String = currency;
        let (paid, taken) = (quota as f64 / 1e3, cost as f64 / 1e6);
        let told = !currency.is_empty();
        let in_dollars = currency == "USD" && quota_usd > 0.0;
        Margin {
            vendor,
            family,
            jobs,
            quota: Quota::from_thousandths(quota),
            cost: told.then_some(Amount::from_micros(cost)),
            cost_per_quota: (told && quota > 0).then(|| rounded(taken / paid)),
            margin_usd: in_dollars.then(|| rounded(paid * quota_usd - taken)),
            currency: told.then_some(currency),
        }
    };
    Ok(sums.into_iter().map(margin).collect())
}

fn rounded(amount: f64) -> f64 {
    (amount * 1e6).round() / 1e6
}
