//! Back ends, their worker accounts and their health.

use std::sync::Arc;

use atelier_contract::Refusal;
use atelier_contract::family::IMAGE_BODY;
use atelier_contract::pages::keys::Named;
use serde_json::Value;

use super::note::note;
use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Data, RawBody};
use crate::http::received::Received;
use crate::pages::fleet;

/// Workflow templates make these bodies large.
type Said = RawBody<IMAGE_BODY>;

/// Lists the back ends in the order of fall-back.
pub(crate) async fn list(app: Arc<App>, _: Received, (): ()) -> Result<Data<Vec<Value>>, Denial> {
    Ok(Data(app.engine.backends().await?))
}

/// Makes a back end.
pub(crate) async fn create(
    app: Arc<App>,
    received: Received,
    RawBody(fields): Said,
) -> Result<Data<Value>, Denial> {
    let vendor = fleet::vendor(&fields)?;
    let made = app
        .engine
        .create_backend(&vendor, fleet::backend(&fields)?)
        .await?;
    let id = made["id"].as_str().unwrap_or_default();
    note(&app, &received, "backend.create", id, &vendor).await?;
    Ok(Data(made))
}

/// Shows a back end.
pub(crate) async fn show(app: Arc<App>, received: Received, (): ()) -> Result<Data<Value>, Denial> {
    let shown = app.engine.show_backend(received.param(0)).await?;
    Ok(Data(shown))
}

/// Changes a back end.
pub(crate) async fn change(
    app: Arc<App>,
    received: Received,
    RawBody(fields): Said,
) -> Result<Data<Value>, Denial> {
    let id = received.param(0).to_owned();
    let changed = app
        .engine
        .change_backend(&id, fleet::backend(&fields)?)
        .await?;
    note(
        &app,
        &received,
        "backend.change",
        &id,
        &fleet::names(&fields),
    )
    .await?;
    Ok(Data(changed))
}

/// Removes a back end with its worker accounts.
pub(crate) async fn remove(
    app: Arc<App>,
    received: Received,
    (): (),
) -> Result<Data<Named>, Denial> {
    let id = received.param(0);
    app.engine.remove_backend(id).await?;
    note(&app, &received, "backend.remove", id, "").await?;
    Ok(Data(Named { id: id.to_owned() }))
}

/// Asks the vendors of a back end's worker accounts, or of one, how they are.
pub(crate) async fn probe(
    app: Arc<App>,
    received: Received,
    (): (),
) -> Result<Data<Value>, Denial> {
    let (id, worker) = (received.param(0), received.params.get(1));
    let shown = app
        .engine
        .probe_backend(id, worker.map(String::as_str))
        .await?;
    note(
        &app,
        &received,
        "backend.probe",
        id,
        worker.map_or("", String::as_str),
    )
    .await?;
    Ok(Data(shown))
}

/// Lists the worker accounts of a back end.
pub(crate) async fn workers(
    app: Arc<App>,
    received: Received,
    (): (),
) -> Result<Data<Value>, Denial> {
    let listed = app.engine.backend_workers(received.param(0)).await?;
    Ok(Data(listed))
}

/// Makes a worker account.
pub(crate) async fn create_worker(
    app: Arc<App>,
    received: Received,
    RawBody(fields): Said,
) -> Result<Data<Value>, Denial> {
    let id = received.param(0).to_owned();
    let made = app
        .engine
        .create_worker(&id, fleet::worker(&fields)?)
        .await?;
    let worker = made["id"].as_str().unwrap_or_default();
    note(
        &app,
        &received,
        "worker.create",
        worker,
        &fleet::names(&fields),
    )
    .await?;
    Ok(Data(made))
}

/// Shows a worker account.
pub(crate) async fn show_worker(
    app: Arc<App>,
    received: Received,
    (): (),
) -> Result<Data<Value>, Denial> {
    let listed = app.engine.backend_workers(received.param(0)).await?;
    let wanted = received.param(1);
    let found = listed.as_array().into_iter().flatten();
    let found = found.into_iter().find(|one| one["id"] == wanted);
    found
        .cloned()
        .map(Data)
        .ok_or_else(|| Refusal::new(atelier_contract::Code::NotFound, "no such account").into())
}

/// Changes a worker account.
pub(crate) async fn change_worker(
    app: Arc<App>,
    received: Received,
    RawBody(fields): Said,
) -> Result<Data<Value>, Denial> {
    let (id, worker) = (received.param(0).to_owned(), received.param(1).to_owned());
    let changed = app
        .engine
        .change_worker(&id, &worker, fleet::worker(&fields)?)
        .await?;
    note(
        &app,
        &received,
        "worker.change",
        &worker,
        &fleet::names(&fields),
    )
    .await?;
    Ok(Data(changed))
}

/// Removes a worker account.
pub(crate) async fn remove_worker(
    app: Arc<App>,
    received: Received,
    (): (),
) -> Result<Data<Named>, Denial> {
    let worker = received.param(1);
    app.engine.remove_worker(received.param(0), worker).await?;
    note(&app, &received, "worker.remove", worker, "").await?;
    Ok(Data(Named {
        id: worker.to_owned(),
    }))
}
