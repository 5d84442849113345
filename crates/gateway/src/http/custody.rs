//! Custody: callers' own worker accounts.

use std::sync::Arc;

use atelier_contract::family::SMALL_BODY;
use serde_json::json;

use super::{Answer, Received, body, caller, fleet, reply};
use crate::app::App;

/// Lists the caller's accounts.
pub(super) async fn list(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    Ok(reply::success(
        app.engine.own_workers(&caller.account_id).await?,
    ))
}

/// Registers an account; its credential is never shown again.
pub(super) async fn create(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    let (fields, _) = body::fields(&app, &received.head, received.body, SMALL_BODY).await?;
    let vendor = fleet::vendor(&fields)?;
    let said = (fleet::backend(&fields)?, fleet::worker(&fields)?);
    let account = &caller.account_id;
    let made = app.engine.register_own(account, &vendor, said).await?;
    let id = made["id"].as_str().unwrap_or_default();
    app.engine
        .note(account, "custody.create", id, &vendor)
        .await?;
    Ok(reply::success(made))
}

/// Changes an account.
pub(super) async fn change(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    let id = id_of(&received).to_owned();
    let (fields, _) = body::fields(&app, &received.head, received.body, SMALL_BODY).await?;
    let said = (fleet::backend(&fields)?, fleet::worker(&fields)?);
    let account = &caller.account_id;
    let changed = app.engine.change_own(account, &id, said).await?;
    app.engine
        .note(account, "custody.change", &id, &fleet::names(&fields))
        .await?;
    Ok(reply::success(changed))
}

/// Removes an account.
pub(super) async fn remove(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    let (id, account) = (id_of(&received), &caller.account_id);
    app.engine.remove_own(account, id).await?;
    app.engine.note(account, "custody.remove", id, "").await?;
    Ok(reply::success(json!({ "id": id })))
}

fn id_of(received: &Received) -> &str {
    received
        .params
        .first()
        .map(String::as_str)
        .unwrap_or_default()
}
