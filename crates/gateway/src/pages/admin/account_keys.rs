//! The keys of an account.

use std::sync::Arc;

use atelier_contract::pages::keys::{IssuedKey, NewKey, ResourceId};
use atelier_contract::{Code, Refusal};
use atelier_engine::KeyHolder;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data};
use crate::http::request::IncomingRequest;
use crate::pages::rows::keys::{KeyRow, key_request};

/// Lists an account's keys.
pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<Vec<KeyRow>>, Denial> {
    let account = app
        .engine
        .admin()
        .accounts()
        .one(&received.account_param(0))
        .await?;
    let keys = app.engine.admin().keys().list(&account.id).await?;
    Ok(Data(keys.into_iter().map(KeyRow::from).collect()))
}

/// Issues a key for an account.
pub(crate) async fn issue(
    app: Arc<App>,
    received: IncomingRequest,
    Body(new): Body<NewKey>,
) -> Result<Data<IssuedKey>, Denial> {
    let account = app
        .engine
        .admin()
        .accounts()
        .one(&received.account_param(0))
        .await?;
    let by = KeyHolder::Operator(received.operator()?);
    let request = key_request(&new);
    let (id, api_key) = app
        .engine
        .admin()
        .keys()
        .issue(&account.id, request, by)
        .await?;
    Ok(Data(IssuedKey { id, api_key }))
}

/// Revokes a key of an account.
pub(crate) async fn revoke(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let (account, id) = (received.account_param(0), received.param(1));
    let by = KeyHolder::Operator(received.operator()?);
    if !app.engine.admin().keys().revoke(&account, id, by).await? {
        return Err(Refusal::new(Code::NotFound, "no such key").into());
    }
    Ok(Data(ResourceId { id: id.to_owned() }))
}
