//! Every price, to read and to change.

use std::sync::Arc;

use atelier_contract::family::SMALL_BODY;
use atelier_contract::{Quota, Refusal};
use serde_json::{Map, Value};

use super::super::{Answer, Received, body, caller, reply};
use super::ACTOR;
use crate::app::App;

/// Shows every price key with its amount.
pub(in super::super) async fn show(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    Ok(reply::success(all(&app)))
}

/// Changes the prices named in the body, for requests from now on.
pub(in super::super) async fn change(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    let (fields, _) = body::fields(&app, &received.head, received.body, SMALL_BODY).await?;
    let mut prices = Vec::with_capacity(fields.len());
    for (key, value) in fields {
        let amount: Quota =
            serde_json::from_value(value).map_err(|error| Refusal::invalid(&key, error))?;
        prices.push((key, amount));
    }
    app.engine.set_prices(ACTOR, prices).await?;
    Ok(reply::success(all(&app)))
}

fn all(app: &App) -> Map<String, Value> {
    let tariff = app.engine.tariff();
    let amount = |(key, amount): (&str, Quota)| {
        (
            key.to_owned(),
            serde_json::to_value(amount).unwrap_or(Value::Null),
        )
    };
    tariff.entries().map(amount).collect()
}
