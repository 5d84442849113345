//! Custody: callers' own worker accounts.

use std::sync::Arc;

use atelier_contract::Refusal;
use atelier_contract::body::Fields;
use atelier_contract::family::SMALL_BODY;
use atelier_contract::pages::backends::BackendSpec;
use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::patch::Patch;
use atelier_contract::pages::vendors::VendorRow;
use atelier_contract::pages::workers::{NewOwnWorker, OwnWorkerView, WorkerPatch};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Data, RawBody};
use crate::http::request::IncomingRequest;

/// The vendors that an account can be registered at, as operators see them too.
pub(super) async fn vendors(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<Data<Vec<VendorRow>>, Denial> {
    Ok(Data(app.engine.admin().reports().vendors()))
}

/// Lists the caller's accounts.
pub(super) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<Vec<OwnWorkerView>>, Denial> {
    Ok(Data(
        app.engine
            .admin()
            .custody()
            .list(received.account()?)
            .await?,
    ))
}

/// Registers an account; its credential is never shown again.
pub(super) async fn create(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawBody<NewOwnWorker, SMALL_BODY>,
) -> Result<Data<OwnWorkerView>, Denial> {
    let (caller, read) = (received.caller()?, read(fields)?);
    let custody = app.engine.admin().custody();
    custody.admit(caller, &read.0)?;
    let may = || received.admission.act(&app.rates);
    let made = custody.register(&caller.account_id, read, may).await?;
    Ok(Data(made))
}

/// Changes an account.
pub(super) async fn change(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawBody<Patch<NewOwnWorker>, SMALL_BODY>,
) -> Result<Data<OwnWorkerView>, Denial> {
    let (caller, id, read) = (received.caller()?, received.param(0), read(fields)?);
    let custody = app.engine.admin().custody();
    custody.admit(caller, &read.0)?;
    let may = || received.admission.act(&app.rates);
    let changed = custody.change(&caller.account_id, id, read, may).await?;
    Ok(Data(changed))
}

/// Asks the vendor of an account whether it is well and takes the credential.
pub(super) async fn probe(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<OwnWorkerView>, Denial> {
    let (account, id) = (received.account()?, received.param(0));
    received.admission.act(&app.rates)?;
    Ok(Data(app.engine.admin().custody().probe(account, id).await?))
}

/// Removes an account.
pub(super) async fn remove(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let (id, account) = (received.param(0), received.account()?);
    app.engine.admin().custody().remove(account, id).await?;
    Ok(Data(ResourceId { id: id.to_owned() }))
}

/// The place and the account at it, which one body describes.
fn read(fields: Fields) -> Result<(Patch<BackendSpec>, WorkerPatch), Refusal> {
    Ok((Patch::new(fields.clone()), WorkerPatch::read(fields)?))
}
