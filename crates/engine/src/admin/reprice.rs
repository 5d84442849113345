//! What jobs that were charged would be charged with other prices: the tariff, the models or the groups may be others than those
//! in force.

use std::collections::{BTreeMap, HashMap};

use atelier_contract::body::Fields;
use atelier_contract::groups::{Bill, BillSubject, PriceGroup};
use atelier_contract::models::{Audience, DEFAULT_GROUP, ModelCatalogue, model_of};
use atelier_contract::pages::preview::{PreviewRow, PricePreview};
use atelier_contract::{AccountId, JobState, Quota, Refusal, Tariff, operation};
use atelier_store::{JobFilter, JobPage, JobRow};

use crate::assets::Assets;
use crate::context::{Context, unavailable};
use crate::order::resolve_request;
use crate::runner::RoutingConstraint;

const WEEK_MS: i64 = 7 * 24 * 3_600_000;
/// Jobs that are looked at, the latest first.
const MOST_JOBS: i64 = 2_000;

/// The jobs that previews look at.
pub(super) struct LatestJobs {
    pub(super) rows: Vec<JobRow>,
    /// Whether there were more.
    pub(super) more: bool,
}

/// The latest jobs of the last week that succeeded.
pub(super) async fn latest(context: &Context) -> Result<LatestJobs, Refusal> {
    let filter = JobFilter {
        state: Some(JobState::Succeeded),
        created_from_ms: Some(context.now_ms() - WEEK_MS),
        limit: MOST_JOBS,
        ..JobFilter::default()
    };
    let listed = context.store().jobs().list(filter).await;
    let JobPage { rows, total, .. } = listed.map_err(unavailable)?;
    Ok(LatestJobs {
        more: total > rows.len() as i64,
        rows,
    })
}

/// The same of the accounts of a group.
pub(super) async fn latest_of(context: &Context, group: &str) -> Result<LatestJobs, Refusal> {
    let group = Some(group).filter(|group| *group != DEFAULT_GROUP);
    let from_ms = context.now_ms() - WEEK_MS;
    let jobs = context.store().jobs();
    // One more tells whether there are more.
    let rows = jobs.latest_of_group(group, from_ms, MOST_JOBS + 1).await;
    let mut rows = rows.map_err(unavailable)?;
    let more = rows.len() as i64 > MOST_JOBS;
    rows.truncate(MOST_JOBS as usize);
    Ok(LatestJobs { rows, more })
}

/// Prices as they might be.
pub(super) struct PriceWorld<'a> {
    pub(super) context: &'a Context,
    pub(super) assets: &'a Assets,
    pub(super) tariff: &'a Tariff,
    pub(super) models: &'a ModelCatalogue,
    /// When rules of groups are judged.
    pub(super) at_ms: i64,
}

impl PriceWorld<'_> {
    /// Whether a job's request would be refused for its model.
    pub(super) fn refusal(&self, row: &JobRow, group: Option<&PriceGroup>) -> Option<Refusal> {
        let (_, submit) = operation(&row.operation)?;
        let fields = serde_json::from_str::<Fields>(&row.request).ok()?;
        let audience = self.audience(group);
        self.models.parse_again(submit, fields, &audience).err()
    }

    /// What a job would be charged. One that cannot be read any more counts as it was; a refusal when its model cannot be named.
    pub(super) async fn charge(
        &self,
        row: JobRow,
        group: Option<&PriceGroup>,
    ) -> Result<Quota, Refusal> {
        let was = row.quota;
        let Some((family, submit)) = operation(&row.operation) else {
            return Ok(was);
        };
        let Ok(fields) = serde_json::from_str::<Fields>(&row.request) else {
            return Ok(was);
        };
        let audience = self.audience(group);
        let parsed = self.models.parse_again(submit, fields, &audience)?;
        let request = parsed.request.as_ref();
        let account_id = AccountId::new(row.account_id);
        let ordered = resolve_request(self.context, self.assets, &account_id, request).await;
        let Ok(ordered) = ordered else {
            return Ok(was);
        };
        let stored = ordered.order.stored(request);
        let lane = RoutingConstraint::read(&row.lane);
        let subject = BillSubject {
            operation: submit.name,
            family: family.name,
            model: model_of(&stored),
            custody: matches!(lane, RoutingConstraint::Own(_)),
            now_ms: self.at_ms,
        };
        let bill = Bill::of(&ordered.order, self.tariff, &subject, group);
        Ok(bill.map_or(was, |bill| share_of(bill.total, was, row.price)))
    }

    fn audience<'a>(&self, group: Option<&'a PriceGroup>) -> Audience<'a> {
        Audience {
            group: group.map_or(DEFAULT_GROUP, PriceGroup::name),
            now_ms: self.context.now_ms(),
        }
    }
}

/// The groups of accounts, each looked up once.
pub(super) struct AccountGroups<'a> {
    context: &'a Context,
    names: HashMap<String, Option<String>>,
}

impl<'a> AccountGroups<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        Self {
            context,
            names: HashMap::new(),
        }
    }

    /// The group of an account as its row names it.
    pub(super) async fn name_of(&mut self, account_id: &str) -> Result<Option<String>, Refusal> {
        if let Some(known) = self.names.get(account_id) {
            return Ok(known.clone());
        }
        let account = self.context.store().accounts().find(account_id).await;
        let group = account.map_err(unavailable)?.and_then(|one| one.group);
        self.names.insert(account_id.to_owned(), group.clone());
        Ok(group)
    }
}

/// What jobs were and would be charged, by family.
#[derive(Default)]
pub(super) struct FamilyTotals {
    families: BTreeMap<&'static str, PreviewRow>,
}

impl FamilyTotals {
    /// Adds a job.
    pub(super) fn add(&mut self, name: &str, was: Quota, would_be: Quota) {
        let title = operation(name).map_or("", |(family, _)| family.title);
        let row = self.families.entry(title).or_insert_with(|| PreviewRow {
            title: title.to_owned(),
            jobs: 0,
            was: Quota::ZERO,
            would_be: Quota::ZERO,
        });
        row.jobs += 1;
        row.was = row.was + was;
        row.would_be = row.would_be + would_be;
    }

    /// All of them.
    pub(super) fn preview(self, more: bool) -> PricePreview {
        let families: Vec<PreviewRow> = self.families.into_values().collect();
        let sum = |of: fn(&PreviewRow) -> Quota| {
            let all = families.iter().map(of);
            all.fold(Quota::ZERO, |sum, one| sum + one)
        };
        PricePreview {
            jobs: families.iter().map(|row| row.jobs).sum(),
            more,
            was: sum(|row| row.was),
            would_be: sum(|row| row.would_be),
            families,
        }
    }
}

/// What is charged of a price when only part of what was held was charged.
fn share_of(price: Quota, was: Quota, held: Quota) -> Quota {
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
