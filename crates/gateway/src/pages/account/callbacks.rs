//! The caller's callbacks and how they went.

use std::sync::Arc;

use atelier_contract::pages::callbacks::{
    CallbackLog, CallbackRow, RedeliverSince, Redelivered, Sample, SampleWish,
};
use atelier_contract::pages::keys::Named;
use atelier_contract::pages::list::ListQuery;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, List, Query};
use crate::http::received::Received;
use crate::pages::rows;

/// Lists them.
pub(crate) async fn list(
    app: Arc<App>,
    received: Received,
    Query(query): Query<ListQuery>,
) -> Result<List<CallbackRow>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let account = Some(received.account()?);
    let (callbacks, total) = app.engine.courier().callbacks(account, page, limit).await?;
    Ok(List {
        rows: callbacks.into_iter().map(rows::callback).collect(),
        total,
        page,
        limit,
    })
}

/// Shows one with its tries.
pub(crate) async fn show(
    app: Arc<App>,
    received: Received,
    (): (),
) -> Result<Data<CallbackLog>, Denial> {
    let (account, id) = (received.account()?, received.param(0));
    let (callback, tries) = app.engine.courier().callback(account, id).await?;
    Ok(Data(rows::callback_log(callback, tries)))
}

/// Sends a signed sample to an address, and tells what came back.
pub(crate) async fn sample(
    app: Arc<App>,
    received: Received,
    Body(wish): Body<SampleWish>,
) -> Result<Data<Sample>, Denial> {
    let caller = received.caller()?;
    let courier = app.engine.courier();
    let sent = courier.sample(&caller.account_id, &wish.url, caller.outside);
    Ok(Data(sent.await?))
}

/// Sends one again.
pub(crate) async fn redeliver(
    app: Arc<App>,
    received: Received,
    (): (),
) -> Result<Data<Named>, Denial> {
    let id = received.param(0);
    app.engine
        .courier()
        .redeliver(received.account()?, id)
        .await?;
    Ok(Data(Named { id: id.to_owned() }))
}

/// Sends every one again that was given up since a moment.
pub(crate) async fn redeliver_since(
    app: Arc<App>,
    received: Received,
    Body(wish): Body<RedeliverSince>,
) -> Result<Data<Redelivered>, Denial> {
    let account = received.account()?;
    let redelivered = app
        .engine
        .courier()
        .redeliver_since(account, wish.since.ms())
        .await?;
    Ok(Data(Redelivered { redelivered }))
}
