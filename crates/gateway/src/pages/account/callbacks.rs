//! The caller's callbacks and how they went.

use std::sync::Arc;

use atelier_contract::pages::callbacks::{RedeliverSince, RedeliveryCount, Sample, SampleRequest};
use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::list::PeriodQuery;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, List, Query};
use crate::http::request::IncomingRequest;
use crate::pages::periods::period_of;
use crate::pages::rows::callbacks::{CallbackLog, CallbackRow};

pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<PeriodQuery>,
) -> Result<List<CallbackRow>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let account = Some(received.account()?);
    let found = app.engine.callbacks();
    let found = found.callbacks_of(account, period_of(&query), page, limit);
    let (callbacks, total) = found.await?;
    Ok(List {
        rows: callbacks.into_iter().map(CallbackRow::from).collect(),
        total,
        page,
        limit,
    })
}

/// Shows one with its tries.
pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<CallbackLog>, Denial> {
    let (account, id) = (received.account()?, received.param(0));
    let (callback, tries) = app.engine.callbacks().callback(account, id).await?;
    Ok(Data(CallbackLog::new(callback, tries)))
}

/// Sends a signed sample to an address, and tells what came back.
pub(crate) async fn sample(
    app: Arc<App>,
    received: IncomingRequest,
    Body(wish): Body<SampleRequest>,
) -> Result<Data<Sample>, Denial> {
    let caller = received.caller()?;
    let callbacks = app.engine.callbacks();
    let sent = callbacks.sample(&caller.account_id, &wish.url, caller.outside);
    Ok(Data(sent.await?))
}

pub(crate) async fn redeliver(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let id = received.param(0);
    app.engine
        .callbacks()
        .redeliver(received.account()?, id)
        .await?;
    Ok(Data(ResourceId { id: id.to_owned() }))
}

/// Sends every one again that was given up since a moment.
pub(crate) async fn redeliver_since(
    app: Arc<App>,
    received: IncomingRequest,
    Body(wish): Body<RedeliverSince>,
) -> Result<Data<RedeliveryCount>, Denial> {
    let account = received.account()?;
    let redelivered = app
        .engine
        .callbacks()
        .redeliver_since(account, wish.since.ms())
        .await?;
    Ok(Data(RedeliveryCount { redelivered }))
}
