//! What a change of a model would have meant for the latest jobs.

use atelier_contract::groups::PriceGroup;
use atelier_contract::models::ModelCatalogue;
use atelier_contract::pages::models::{ModelPreview, PreviewRefusal};
use atelier_contract::{Quota, Refusal, Tariff};
use atelier_store::JobRow;

use crate::admin::groups::Groups;
use crate::admin::reprice::{AccountGroups, PriceWorld, latest};
use crate::assets::Assets;
use crate::context::Context;

/// Refused jobs that are named; the others are counted.
const MOST_NAMED: usize = 50;

/// Holds jobs against models as they are and as they would be.
pub(super) struct Previewer<'a> {
    pub(super) context: &'a Context,
    pub(super) assets: &'a Assets,
    pub(super) tariff: &'a Tariff,
    pub(super) groups: &'a Groups,
    pub(super) now: &'a ModelCatalogue,
    pub(super) changed: &'a ModelCatalogue,
}

impl Previewer<'_> {
    /// What the latest jobs of the last week that succeeded would have been charged, and which would have been refused.
    pub(super) async fn preview(&self) -> Result<ModelPreview, Refusal> {
        let latest = latest(self.context).await?;
        let jobs = latest.rows.len();
        let mut accounts = AccountGroups::new(self.context);
        let (mut was, mut would_be) = (Quota::ZERO, Quota::ZERO);
        let (mut refused, mut would_refuse) = (Vec::new(), 0);
        for row in latest.rows {
            let group = accounts.name_of(&row.account_id).await?;
            let group = self.groups.of(group.as_deref()).await?;
            let (before, id) = (row.quota, row.id.clone());
            was = was + before;
            match self.charge(row, group.as_deref()).await {
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
            more: latest.more,
            was,
            would_be,
            would_refuse,
            refused,
        })
    }

    /// What a job would be charged. One that would be refused by now anyway counts as it was.
    async fn charge(&self, row: JobRow, group: Option<&PriceGroup>) -> Result<Quota, Refusal> {
        let world = |models| PriceWorld {
            context: self.context,
            assets: self.assets,
            tariff: self.tariff,
            models,
            at_ms: self.context.now_ms(),
        };
        let (was, changed) = (row.quota, world(self.changed));
        if let Some(refusal) = changed.refusal(&row, group) {
            let is_refused_now = world(self.now).refusal(&row, group).is_some();
            return if is_refused_now {
                Ok(was)
            } else {
                Err(refusal)
            };
        }
        changed.charge(row, group).await
    }
}
