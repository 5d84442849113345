//! What other rules of a group would have meant for the latest jobs.

use atelier_contract::groups::PriceGroup;
use atelier_contract::models::ModelCatalogue;
use atelier_contract::pages::price_groups::GroupPreview;
use atelier_contract::{Refusal, Tariff};

use crate::admin::reprice::{FamilyTotals, PriceWorld, latest, latest_of};
use crate::assets::Assets;
use crate::context::Context;

/// Holds jobs against a group as it would be.
pub(super) struct GroupPreviewer<'a> {
    pub(super) context: &'a Context,
    pub(super) assets: &'a Assets,
    pub(super) tariff: &'a Tariff,
    pub(super) models: &'a ModelCatalogue,
    pub(super) group: PriceGroup,
    /// Whether the jobs of all accounts are looked at, as if all were in the group.
    pub(super) everybody: bool,
    /// When rules are judged.
    pub(super) at_ms: i64,
}

impl GroupPreviewer<'_> {
    /// What the latest jobs of the last week that succeeded would have been charged, of those that are the group's.
    pub(super) async fn preview(&self) -> Result<GroupPreview, Refusal> {
        let latest = if self.everybody {
            latest(self.context).await?
        } else {
            latest_of(self.context, self.group.name()).await?
        };
        let world = PriceWorld {
            context: self.context,
            assets: self.assets,
            tariff: self.tariff,
            models: self.models,
            at_ms: self.at_ms,
        };
        let mut totals = FamilyTotals::default();
        for row in latest.rows {
            let (operation, was) = (row.operation.clone(), row.quota);
            let would_be = world.charge(row, Some(&self.group)).await.unwrap_or(was);
            totals.add(&operation, was, would_be);
        }
        Ok(GroupPreview {
            preview: totals.preview(latest.more),
            everybody: self.everybody,
        })
    }
}
