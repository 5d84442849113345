//! Every price, to read and to change.

use std::collections::BTreeMap;
use std::sync::Arc;

use atelier_contract::Quota;
use atelier_contract::pages::preview::PricePreview;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data};
use crate::http::request::IncomingRequest;

/// Prices by their keys.
type PriceTable = BTreeMap<String, Quota>;

/// Shows every price key with its amount.
pub(crate) async fn show(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<Data<PriceTable>, Denial> {
    Ok(Data(all(&app)))
}

/// Changes the prices named in the body, for requests from now on.
pub(crate) async fn change(
    app: Arc<App>,
    received: IncomingRequest,
    Body(prices): Body<PriceTable>,
) -> Result<Data<PriceTable>, Denial> {
    let prices = prices.into_iter().collect();
    app.engine
        .admin()
        .prices()
        .set(received.operator()?, prices)
        .await?;
    Ok(Data(all(&app)))
}

/// What the last week would have cost with some prices changed.
pub(crate) async fn preview(
    app: Arc<App>,
    _: IncomingRequest,
    Body(prices): Body<PriceTable>,
) -> Result<Data<PricePreview>, Denial> {
    let prices = prices.into_iter().collect();
    Ok(Data(app.engine.admin().reports().preview(prices).await?))
}

fn all(app: &App) -> PriceTable {
    let tariff = app.engine.admin().prices().tariff();
    let entries = tariff.entries();
    entries
        .map(|(key, amount)| (key.to_owned(), amount))
        .collect()
}
