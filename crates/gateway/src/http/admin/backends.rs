//! Back ends, their worker accounts and their health.

use std::sync::Arc;

use atelier_contract::Refusal;
use atelier_contract::body::Fields;
use atelier_contract::family::IMAGE_BODY;
use serde_json::json;

use super::super::{Answer, Received, body, caller, fleet, reply};
use super::note;
use crate::app::App;

/// Lists the back ends in the order of fall-back.
pub(in super::super) async fn list(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    Ok(reply::success(app.engine.backends().await?))
}

/// Makes a back end.
pub(in super::super) async fn create(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    let fields = read(&app, received).await?;
    let vendor = fleet::vendor(&fields)?;
    let made = app
        .engine
        .create_backend(&vendor, fleet::backend(&fields)?)
        .await?;
    let id = made["id"].as_str().unwrap_or_default();
    note(&app, "backend.create", id, &vendor).await?;
    Ok(reply::success(made))
}

/// Shows a back end.
pub(in super::super) async fn show(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    let shown = app.engine.show_backend(param(&received, 0)).await?;
    Ok(reply::success(shown))
}

/// Changes a back end.
pub(in super::super) async fn change(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    let id = param(&received, 0).to_owned();
    let fields = read(&app, received).await?;
    let changed = app
        .engine
        .change_backend(&id, fleet::backend(&fields)?)
        .await?;
    note(&app, "backend.change", &id, &fleet::names(&fields)).await?;
    Ok(reply::success(changed))
}

/// Removes a back end with its worker accounts.
pub(in super::super) async fn remove(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    let id = param(&received, 0);
    app.engine.remove_backend(id).await?;
    note(&app, "backend.remove", id, "").await?;
    Ok(reply::success(json!({ "id": id })))
}

/// Asks the vendors of a back end's worker accounts, or of one, how they are.
pub(in super::super) async fn probe(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    let (id, worker) = (param(&received, 0), received.params.get(1));
    let shown = app
        .engine
        .probe_backend(id, worker.map(String::as_str))
        .await?;
    note(&app, "backend.probe", id, worker.map_or("", String::as_str)).await?;
    Ok(reply::success(shown))
}

/// Lists the worker accounts of a back end.
pub(in super::super) async fn workers(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    let listed = app.engine.backend_workers(param(&received, 0)).await?;
    Ok(reply::success(listed))
}

/// Makes a worker account.
pub(in super::super) async fn create_worker(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    let id = param(&received, 0).to_owned();
    let fields = read(&app, received).await?;
    let made = app
        .engine
        .create_worker(&id, fleet::worker(&fields)?)
        .await?;
    let worker = made["id"].as_str().unwrap_or_default();
    note(&app, "worker.create", worker, &fleet::names(&fields)).await?;
    Ok(reply::success(made))
}

/// Shows a worker account.
pub(in super::super) async fn show_worker(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    let listed = app.engine.backend_workers(param(&received, 0)).await?;
    let wanted = param(&received, 1);
    let found = listed.as_array().into_iter().flatten();
    let found = found.into_iter().find(|one| one["id"] == wanted);
    found
        .map(reply::success)
        .ok_or_else(|| Refusal::new(atelier_contract::Code::NotFound, "no such account").into())
}

/// Changes a worker account.
pub(in super::super) async fn change_worker(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    let (id, worker) = (
        param(&received, 0).to_owned(),
        param(&received, 1).to_owned(),
    );
    let fields = read(&app, received).await?;
    let changed = app
        .engine
        .change_worker(&id, &worker, fleet::worker(&fields)?)
        .await?;
    note(&app, "worker.change", &worker, &fleet::names(&fields)).await?;
    Ok(reply::success(changed))
}

/// Removes a worker account.
pub(in super::super) async fn remove_worker(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    let worker = param(&received, 1);
    app.engine
        .remove_worker(param(&received, 0), worker)
        .await?;
    note(&app, "worker.remove", worker, "").await?;
    Ok(reply::success(json!({ "id": worker })))
}

fn param(received: &Received, place: usize) -> &str {
    received
        .params
        .get(place)
        .map(String::as_str)
        .unwrap_or_default()
}

/// Workflow templates make these bodies large.
async fn read(app: &App, received: Received) -> Result<Fields, Refusal> {
    let (fields, _) = body::fields(app, &received.head, received.body, IMAGE_BODY).await?;
    Ok(fields)
}
