//! Custody: callers' own worker accounts.

use std::sync::Arc;

use atelier_contract::family::SMALL_BODY;
use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::patch::Patch;
use atelier_contract::pages::vendors::VendorRow;
use atelier_contract::pages::workers::{NewOwnWorker, OwnWorkerView};
use atelier_engine::CustodyRequest;

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
    let (caller, request) = (received.caller()?, CustodyRequest::read(fields)?);
    let custody = app.engine.admin().custody();
    custody.admit(caller, &request)?;
    let may = || received.admission.act(&app.rates);
    let made = custody.register(&caller.account_id, request, may).await?;
    Ok(Data(made))
}

pub(super) async fn change(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawBody<Patch<NewOwnWorker>, SMALL_BODY>,
) -> Result<Data<OwnWorkerView>, Denial> {
    let (caller, id) = (received.caller()?, received.param(0));
    let request = CustodyRequest::read(fields)?;
    let custody = app.engine.admin().custody();
    custody.admit(caller, &request)?;
    let may = || received.admission.act(&app.rates);
    let changed = custody
        .change(&caller.account_id, id, &request, may)
        .await?;
    Ok(Data(changed))
}

/// Asks the vendor of an account whether it is well and takes the credential.
pub(super) async fn probe(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<OwnWorkerView>, Denial> {
    let (account, id) = (received.account()?, received.param(0));
    let may = || received.admission.act(&app.rates);
    let custody = app.engine.admin().custody();
    Ok(Data(custody.probe(account, id, may).await?))
}

pub(super) async fn remove(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let (id, account) = (received.param(0), received.account()?);
    app.engine.admin().custody().remove(account, id).await?;
    Ok(Data(ResourceId { id: id.to_owned() }))
}
