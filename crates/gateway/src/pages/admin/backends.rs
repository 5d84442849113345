//! Back ends.

use std::sync::Arc;

use atelier_contract::family::IMAGE_BODY;
use atelier_contract::pages::backends::{BackendCheck, BackendSpec, BackendView};
use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::patch::Patch;
use atelier_contract::pages::verify::{Verification, VerifyBody};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, RawBody};
use crate::http::request::IncomingRequest;

/// Workflow templates make these bodies large.
type RawBackendBody<T> = RawBody<T, IMAGE_BODY>;

/// Lists the back ends in the order of fall-back.
pub(crate) async fn list(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<Data<Vec<BackendView>>, Denial> {
    Ok(Data(app.engine.admin().backends().list().await?))
}

/// Makes a back end.
pub(crate) async fn create(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawBackendBody<BackendSpec>,
) -> Result<Data<BackendView>, Denial> {
    let made = app
        .engine
        .admin()
        .backends()
        .create(received.operator()?, Patch::new(fields));
    Ok(Data(made.await?))
}

/// Checks the description of a back end.
pub(crate) async fn check(
    app: Arc<App>,
    _: IncomingRequest,
    RawBody(fields, _): RawBackendBody<BackendSpec>,
) -> Result<Data<BackendCheck>, Denial> {
    Ok(Data(
        app.engine.admin().backends().check(Patch::new(fields))?,
    ))
}

/// Shows a back end.
pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<BackendView>, Denial> {
    let shown = app.engine.admin().backends().one(received.param(0)).await?;
    Ok(Data(shown))
}

/// Changes a back end.
pub(crate) async fn change(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawBackendBody<Patch<BackendSpec>>,
) -> Result<Data<BackendView>, Denial> {
    let id = received.param(0);
    let changed =
        app.engine
            .admin()
            .backends()
            .change(received.operator()?, id, Patch::new(fields));
    Ok(Data(changed.await?))
}

/// Removes a back end with its worker accounts.
pub(crate) async fn remove(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let id = received.param(0);
    app.engine
        .admin()
        .backends()
        .remove(received.operator()?, id)
        .await?;
    Ok(Data(ResourceId { id: id.to_owned() }))
}

/// Asks the vendors of a back end's worker accounts, or of one, how they are.
pub(crate) async fn probe(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<BackendView>, Denial> {
    let (id, worker) = (received.param(0), received.params.get(1));
    let worker = worker.map(String::as_str);
    let shown = app
        .engine
        .admin()
        .backends()
        .probe(received.operator()?, id, worker)
        .await?;
    Ok(Data(shown))
}

/// Tries the routes of a back end, each with one cheap job.
pub(crate) async fn verify(
    app: Arc<App>,
    received: IncomingRequest,
    Body(body): Body<VerifyBody>,
) -> Result<Data<Verification>, Denial> {
    let (admin, id) = (app.engine.admin(), received.param(0));
    let models = admin.models().definitions().await?;
    let tried = admin
        .backends()
        .verify(received.operator()?, id, body, &models);
    Ok(Data(tried.await?))
}
