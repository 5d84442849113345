//! The worker accounts of a back end.

use std::sync::Arc;

use atelier_contract::family::SMALL_BODY;
use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::workers::{WorkerBody, WorkerPatch, WorkerView};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Data, RawBody};
use crate::http::request::IncomingRequest;

type RawWorkerBody = RawBody<WorkerBody, SMALL_BODY>;

/// Lists the worker accounts of a back end.
pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<Vec<WorkerView>>, Denial> {
    let backend = app.engine.admin().backends().one(received.param(0)).await?;
    Ok(Data(backend.accounts))
}

/// Makes a worker account.
pub(crate) async fn create(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawWorkerBody,
) -> Result<Data<WorkerView>, Denial> {
    let patch = WorkerPatch::read(fields)?;
    let made =
        app.engine
            .admin()
            .backends()
            .create_worker(received.operator()?, received.param(0), patch);
    Ok(Data(made.await?))
}

/// Shows a worker account.
pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<WorkerView>, Denial> {
    let (backend, id) = (received.param(0), received.param(1));
    Ok(Data(
        app.engine.admin().backends().worker(backend, id).await?,
    ))
}

/// Changes a worker account.
pub(crate) async fn change(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawWorkerBody,
) -> Result<Data<WorkerView>, Denial> {
    let (backend, id) = (received.param(0), received.param(1));
    let patch = WorkerPatch::read(fields)?;
    let changed =
        app.engine
            .admin()
            .backends()
            .change_worker(received.operator()?, backend, id, patch);
    Ok(Data(changed.await?))
}

/// Removes a worker account.
pub(crate) async fn remove(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let (backend, id) = (received.param(0), received.param(1));
    app.engine
        .admin()
        .backends()
        .remove_worker(received.operator()?, backend, id)
        .await?;
    Ok(Data(ResourceId { id: id.to_owned() }))
}
