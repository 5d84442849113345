//! What callers paid against what vendors took, for each model at each back end.

use std::collections::BTreeMap;

use atelier_contract::pages::cost::Amount;
use atelier_contract::pages::stats::Margin;
use atelier_contract::{Quota, Refusal, operation};

use crate::context::{Context, unavailable};

/// What margins are counted in.
const DOLLARS: &str = "USD";
/// Hours that are looked back on: 30 days.
const HOURS: i64 = 30 * 24;
/// Clock hours of the first page: the one that is not over yet, and the one before.
const LATEST: i64 = 2;
const HOUR_MS: i64 = 3_600_000;
/// Lines of the first page.
const MOST: usize = 20;

/// Jobs, what callers paid for them, in thousandths, and what they cost, in millionths.
#[derive(Default)]
struct MarginSum {
    jobs: i64,
    quota: i64,
    cost: i64,
}

/// What has a line of its own.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct MarginLine {
    vendor: String,
    backend: String,
    family: String,
    model: String,
    currency: String,
}

/// The margins of the last days.
pub(super) async fn margins(context: &Context) -> Result<Vec<Margin>, Refusal> {
    margins_of(context, HOURS).await
}

/// What the operator's first page tells of the margins of the latest hours: no losses where quota has no price in dollars.
pub(super) struct LatestMargins {
    /// What was made at a loss, the largest first.
    pub(super) losses: Vec<Margin>,
    /// What was made at a cost that is not known in dollars.
    pub(super) unknown: Vec<Margin>,
}

/// The margins that somebody has to look at at once.
pub(super) async fn latest(context: &Context) -> Result<LatestMargins, Refusal> {
    let all = margins_of(context, LATEST).await?;
    let left = |one: &Margin| one.margin_usd.unwrap_or_default();
    let (mut losses, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| left(one) < 0.0);
    losses.sort_by(|one, other| left(one).total_cmp(&left(other)));
    let in_dollars = |one: &Margin| one.currency.as_deref() == Some(DOLLARS);
    let mut unknown: Vec<_> = rest.into_iter().filter(|one| !in_dollars(one)).collect();
    losses.truncate(MOST);
    unknown.truncate(MOST);
    Ok(LatestMargins { losses, unknown })
}

/// The margins of so many hours, the one that is not over yet among them.
async fn margins_of(context: &Context, hours: i64) -> Result<Vec<Margin>, Refusal> {
    let since = context.now_ms().div_euclid(HOUR_MS) - hours + 1;
    let statistics = context.store().statistics();
    let rows = statistics.margins(since).await.map_err(unavailable)?;
    let mut sums: BTreeMap<MarginLine, MarginSum> = BTreeMap::new();
    for row in rows {
        let family = operation(&row.operation).map(|(family, _)| family.name.to_owned());
        let line = MarginLine {
            vendor: row.vendor,
            backend: row.backend,
            family: family.unwrap_or(row.operation),
            model: row.model,
            currency: row.currency,
        };
        let sum = sums.entry(line).or_default();
        sum.jobs += row.jobs;
        sum.quota += row.quota.thousandths();
        sum.cost += row.cost;
    }
    let quota_usd = context.settings().prices.quota_usd;
    let margin = |(line, sum): (MarginLine, MarginSum)| {
        let (paid, taken) = (sum.quota as f64 / 1e3, sum.cost as f64 / 1e6);
        let told = !line.currency.is_empty();
        let in_dollars = line.currency == DOLLARS && quota_usd > 0.0;
        let named = |name: String| Some(name).filter(|name| !name.is_empty());
        Margin {
            vendor: line.vendor,
            backend: named(line.backend),
            family: line.family,
            model: named(line.model),
            jobs: sum.jobs,
            quota: Quota::from_thousandths(sum.quota),
            cost: told.then_some(Amount::from_micros(sum.cost)),
            cost_per_quota: (told && sum.quota > 0).then(|| rounded(taken / paid)),
            margin_usd: in_dollars.then(|| rounded(paid * quota_usd - taken)),
            currency: named(line.currency),
        }
    };
    Ok(sums.into_iter().map(margin).collect())
}

fn rounded(amount: f64) -> f64 {
    (amount * 1e6).round() / 1e6
}
