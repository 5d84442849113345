//! The models that the account can use now, with their rules and prices.

use std::collections::HashMap;
use std::sync::Arc;

use atelier_contract::pages::models::AccountModel;

use crate::app::App;
use crate::edition_cache::EditionCache;
use crate::http::denial::Denial;
use crate::http::page::WholeList;
use crate::http::request::IncomingRequest;
use crate::pages::usable_models::{usable, visible};

/// A model with the keys of the tariff that say what it costs.
type PricedModel = (AccountModel, Vec<&'static str>);

/// The models by their names: what may be said of each is worked out once.
static VIEWS: EditionCache<HashMap<String, PricedModel>> = EditionCache::new();

/// Lists them.
pub(crate) async fn list(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<WholeList<AccountModel>, Denial> {
    let models = app.models();
    // None becomes visible while an edition lasts; some are retired.
    let views = VIEWS.get(&models, app.engine.now_ms(), |_| {
        let visible = visible(&app, &models);
        let views = visible.iter().map(|model| {
            let name = model.name.to_owned();
            (name, (model.view(), model.tariff_keys()))
        });
        views.collect()
    });
    let tariff = app.engine.admin().prices().tariff();
    let usable = usable(&app, &models);
    let shown = usable.iter().filter_map(|model| {
        let (view, keys) = views.get(model.name)?;
        let amounts = keys.iter().filter_map(|key| {
            let amount = tariff.amount(key).ok()?;
            Some(((*key).to_owned(), amount))
        });
        Some(AccountModel {
            tariff: amounts.collect(),
            ..view.clone()
        })
    });
    Ok(WholeList(shown.collect()))
}
