//! What other prices would have meant for the jobs of the last week.

use atelier_contract::pages::preview::PricePreview;
use atelier_contract::{Quota, Refusal, Tariff};

use super::groups::Groups;
use super::reprice::{AccountGroups, FamilyTotals, PriceWorld, latest};
use crate::assets::Assets;
use crate::context::Context;
use crate::model_revisions::ModelRevisions;

/// What jobs are held against.
pub(super) struct TariffPreviewer<'a> {
    pub(super) context: &'a Context,
    pub(super) assets: &'a Assets,
    pub(super) models: &'a ModelRevisions,
    pub(super) groups: &'a Groups,
}

impl TariffPreviewer<'_> {
    /// What the jobs of the last week would have been charged with some prices changed.
    pub(super) async fn preview(
        &self,
        now: &Tariff,
        changed: Vec<(String, Quota)>,
    ) -> Result<PricePreview, Refusal> {
        let mut tariff = now.clone();
        for (key, amount) in changed {
            tariff
                .set(&key, amount)
                .map_err(|error| Refusal::invalid("prices", error))?;
        }
        let latest = latest(self.context).await?;
        let world = PriceWorld {
            context: self.context,
            assets: self.assets,
            tariff: &tariff,
            models: &self.models.catalogue(),
            at_ms: self.context.now_ms(),
        };
        let mut accounts = AccountGroups::new(self.context);
        let mut totals = FamilyTotals::default();
        for row in latest.rows {
            let group = accounts.name_of(&row.account_id).await?;
            let group = self.groups.of(group.as_deref()).await?;
            let (operation, was) = (row.operation.clone(), row.quota);
            let would_be = world.charge(row, group.as_deref()).await.unwrap_or(was);
            totals.add(&operation, was, would_be);
        }
        Ok(totals.preview(latest.more))
    }
}
