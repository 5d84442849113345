//! Custody: callers' own worker accounts.

use std::sync::Arc;

use atelier_contract::family::SMALL_BODY;
use atelier_contract::pages::keys::Named;
use serde_json::Value;

use super::fleet;
use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Data, RawBody};
use crate::http::received::Received;

/// Lists the caller's accounts.
pub(super) async fn list(
    app: Arc<App>,
    received: Received,
    (): (),
) -> Result<Data<Vec<Value>>, Denial> {
    Ok(Data(app.engine.own_workers(received.account()?).await?))
}

/// Registers an account; its credential is never shown again.
pub(super) async fn create(
    app: Arc<App>,
    received: Received,
    RawBody(fields): RawBody<SMALL_BODY>,
) -> Result<Data<Value>, Denial> {
    let vendor = fleet::vendor(&fields)?;
    let said = (fleet::backend(&fields)?, fleet::worker(&fields)?);
    let account = received.account()?;
    let made = app.engine.register_own(account, &vendor, said).await?;
    let id = made["id"].as_str().unwrap_or_default();
    app.engine
        .note(account, "custody.create", id, &vendor)
        .await?;
    Ok(Data(made))
}

/// Changes an account.
pub(super) async fn change(
    app: Arc<App>,
    received: Received,
    RawBody(fields): RawBody<SMALL_BODY>,
) -> Result<Data<Value>, Denial> {
    let id = received.param(0);
    let said = (fleet::backend(&fields)?, fleet::worker(&fields)?);
    let account = received.account()?;
    let changed = app.engine.change_own(account, id, said).await?;
    app.engine
        .note(account, "custody.change", id, &fleet::names(&fields))
        .await?;
    Ok(Data(changed))
}

/// Removes an account.
pub(super) async fn remove(
    app: Arc<App>,
    received: Received,
    (): (),
) -> Result<Data<Named>, Denial> {
    let (id, account) = (received.param(0), received.account()?);
    app.engine.remove_own(account, id).await?;
    app.engine.note(account, "custody.remove", id, "").await?;
    Ok(Data(Named { id: id.to_owned() }))
}
