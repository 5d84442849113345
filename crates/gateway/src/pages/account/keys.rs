//! The caller's keys.

use std::sync::Arc;

use atelier_contract::pages::keys::{IssuedKey, NewKey, ResourceId};
use atelier_contract::{Code, Refusal};
use atelier_engine::KeyHolder;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data};
use crate::http::request::IncomingRequest;
use crate::pages::rows::keys::{KeyRow, key_request};

/// Lists the caller's keys, without their secrets.
pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<Vec<KeyRow>>, Denial> {
    let keys = app.engine.admin().keys().list(received.account()?).await?;
    Ok(Data(keys.into_iter().map(KeyRow::from).collect()))
}

/// Issues a key; this answer is the only one that shows it.
pub(crate) async fn issue(
    app: Arc<App>,
    received: IncomingRequest,
    Body(new): Body<NewKey>,
) -> Result<Data<IssuedKey>, Denial> {
    let (caller, request) = (received.caller()?, key_request(&new));
    let may = || received.admission.act(&app.rates);
    let keys = app.engine.admin().keys();
    let (id, api_key) = keys.issue_own(caller, request, may).await?;
    Ok(Data(IssuedKey { id, api_key }))
}

/// Revokes a key of the caller's.
pub(crate) async fn revoke(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let id = received.param(0);
    let (account, by) = (received.account()?, KeyHolder::Caller(received.caller()?));
    if !app.engine.admin().keys().revoke(account, id, by).await? {
        return Err(Refusal::new(Code::NotFound, "no such key").into());
    }
    Ok(Data(ResourceId { id: id.to_owned() }))
}
