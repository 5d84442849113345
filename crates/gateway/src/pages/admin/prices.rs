//! Every price, to read and to change.

use std::collections::BTreeMap;
use std::sync::Arc;

use atelier_contract::Quota;
use atelier_contract::pages::preview::PricePreview;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data};
use crate::http::received::Received;

/// Prices by their keys.
type Prices = BTreeMap<String, Quota>;

/// Shows every price key with its amount.
pub(crate) async fn show(app: Arc<App>, _: Received, (): ()) -> Result<Data<Prices>, Denial> {
    Ok(Data(all(&app)))
}

/// Changes the prices named in the body, for requests from now on.
pub(crate) async fn change(
    app: Arc<App>,
    received: Received,
    Body(prices): Body<Prices>,
) -> Result<Data<Prices>, Denial> {
    let prices = prices.into_iter().collect();
    app.engine
        .office()
        .prices()
        .set(received.operator()?, prices)
        .await?;
    Ok(Data(all(&app)))
}

/// What the last week would have cost with some prices changed.
pub(crate) async fn preview(
    app: Arc<App>,
    _: Received,
    Body(prices): Body<Prices>,
) -> Result<Data<PricePreview>, Denial> {
    let prices = prices.into_iter().collect();
    Ok(Data(app.engine.office().reports().preview(prices).await?))
}

fn all(app: &App) -> Prices {
    let tariff = app.engine.office().prices().tariff();
    let entries = tariff.entries();
    entries
        .map(|(key, amount)| (key.to_owned(), amount))
        .collect()
}
