//! The models that the account can use now, with their rules and prices.

use std::collections::HashMap;
use std::sync::Arc;

use atelier_contract::pages::models::AccountModel;

use crate::app::App;
use crate::edition_cache::EditionCache;
use crate::http::denial::Denial;
use crate::http::page::WholeList;
use crate::http::request::IncomingRequest;
use crate::pages::usable_models::{audience, usable};

/// A model with the keys of the tariff that say what it costs.
type PricedModel = (AccountModel, Vec<&'static str>);

/// The models by their names: what may be said of each is worked out once.
static VIEWS: EditionCache<HashMap<String, PricedModel>> = EditionCache::new();

/// Lists them.
pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<WholeList<AccountModel>, Denial> {
    let (caller, models) = (received.caller()?, app.models());
    // Whoever may see them: the next caller may be of another group. None becomes visible while an edition lasts; some are retired.
    let now_ms = app.engine.now_ms();
    let views = VIEWS.get(&models, now_ms, |_| {
        let all = models.sold(now_ms);
        let views = all.iter().map(|model| {
            let name = model.name.to_owned();
            (name, (model.view(), model.tariff_keys()))
        });
        views.collect()
    });
    let admin = app.engine.admin();
    let tariff = admin.prices().tariff();
    let group = admin.groups().of(caller.group.as_deref()).await?;
    let group = group.filter(|group| !group.is_plain());
    let usable = usable(&app, caller, &models);
    let audience = audience(&app, caller);
    let shown = usable.iter().filter_map(|model| {
        let (view, keys) = views.get(model.name)?;
        let amounts = keys.iter().filter_map(|key| {
            let amount = tariff.amount(key).ok()?;
            Some(((*key).to_owned(), amount))
        });
        let mut shown = AccountModel {
            tariff: amounts.collect(),
            // Another group's model is unknown here, too.
            successor: models.successor(model, &audience).map(str::to_owned),
            ..view.clone()
        };
        if let Some(group) = &group {
            group.shown(
                &mut shown,
                model.submits,
                keys,
                &tariff,
                app.engine.now_ms(),
            );
        }
        Some(shown)
    });
    Ok(WholeList(shown.collect()))
}
