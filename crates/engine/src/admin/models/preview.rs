//! What a change of a model would have meant for the latest jobs.

use atelier_contract::body::Fields;
use atelier_contract::models::{Audience, DEFAULT_GROUP, ModelCatalogue};
use atelier_contract::pages::models::{ModelPreview, PreviewRefusal};
use atelier_contract::{AccountId, JobState, Price, Quota, Refusal, Tariff, operation};
use atelier_store::{JobFilter, JobPage, JobRow};

use crate::admin::preview::share_of;
use crate::assets::Assets;
use crate::context::{Context, unavailable};
use crate::order::resolve_request;
use crate::runner::RoutingConstraint;

const WEEK_MS: i64 = 7 * 24 * 3_600_000;
/// Jobs that are looked at, the latest first.
const MOST_JOBS: i64 = 2_000;
/// Refused jobs that are named; the others are counted.
const MOST_NAMED: usize = 50;

/// Holds jobs against models as they are and as they would be.
pub(super) struct Previewer<'a> {
    pub(super) context: &'a Context,
    pub(super) assets: &'a Assets,
    pub(super) tariff: &'a Tariff,
    pub(super) now: &'a ModelCatalogue,
    pub(super) changed: &'a ModelCatalogue,
}

impl Previewer<'_> {
    /// What the latest jobs of the last week that succeeded would have been charged, and which would have been refused.
    pub(super) async fn preview(&self) -> Result<ModelPreview, Refusal> {
        let filter = JobFilter {
            state: Some(JobState::Succeeded),
            created_from_ms: Some(self.context.now_ms() - WEEK_MS),
            limit: MOST_JOBS,
            ..JobFilter::default()
        };
        let listed = self.context.store().jobs().list(filter).await;
        let JobPage { rows, total, .. } = listed.map_err(unavailable)?;
        let jobs = rows.len();
        let (mut was, mut would_be) = (Quota::ZERO, Quota::ZERO);
        let (mut refused, mut would_refuse) = (Vec::new(), 0);
        for row in rows {
            let (before, id) = (row.quota, row.id.clone());
            was = was + before;
            match self.charge(row).await {
                Ok(after) => would_be = would_be + after,
                Err(refusal) => {
                    would_refuse += 1;
                    if refused.len() < MOST_NAMED {
                        refused.push(PreviewRefusal {
                            job_id: id,
                            message: refusal.message,
                        });
                    }
                }
            }
        }
        Ok(ModelPreview {
            jobs: jobs as u32,
            more: total > jobs as i64,
            was,
            would_be,
            would_refuse,
            refused,
        })
    }

    /// What a job would be charged. One that cannot be read any more, or that would be refused by now anyway, counts as it was.
    async fn charge(&self, row: JobRow) -> Result<Quota, Refusal> {
        let was = row.quota;
        let Some((_, submit)) = operation(&row.operation) else {
            return Ok(was);
        };
        let Ok(fields) = serde_json::from_str::<Fields>(&row.request) else {
            return Ok(was);
        };
        let audience = Audience {
            group: DEFAULT_GROUP,
            now_ms: self.context.now_ms(),
        };
        let parsed = match self.changed.parse_again(submit, fields.clone(), &audience) {
            Ok(parsed) => parsed,
            Err(refusal) => {
                let as_now = self.now.parse_again(submit, fields, &audience);
                return if as_now.is_ok() {
                    Err(refusal)
                } else {
                    Ok(was)
                };
            }
        };
        let lane = RoutingConstraint::read(&row.lane);
        if matches!(lane, RoutingConstraint::Own(_)) {
            // The catalogue's prices are none of callers' own worker accounts.
            let price = self.tariff.total(&Price::custody(submit.name));
            return Ok(price.map_or(was, |price| share_of(price, was, row.price)));
        }
        let account_id = AccountId::new(row.account_id);
        let request = parsed.request.as_ref();
        let ordered = resolve_request(self.context, self.assets, &account_id, request).await;
        let price = ordered.ok().and_then(|ordered| {
            let order = ordered.order;
            match order.catalogue_price {
                Some(bill) => Some(bill.total),
                None => self.tariff.total(&order.price).ok(),
            }
        });
        Ok(price.map_or(was, |price| share_of(price, was, row.price)))
    }
}
