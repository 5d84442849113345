//! The keys of an account.

use std::sync::Arc;

use atelier_contract::family::SMALL_BODY;
use atelier_contract::pages::keys::{IssuedKey, KeyRotation, NewKey, ResourceId};
use atelier_contract::{Code, Refusal};
use atelier_engine::KeyHolder;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, RawBody};
use crate::http::request::IncomingRequest;
use crate::pages::account::keys;
use crate::pages::rows::keys::{KeyChange, KeyRow, key_request};

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
    let rows = keys::rows(&app, &account.id).await?;
    Ok(Data(rows))
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
    let request = key_request(&new, app.engine.now_ms())?;
    let (id, api_key) = app
        .engine
        .admin()
        .keys()
        .issue(&account.id, request, by)
        .await?;
    Ok(Data(IssuedKey { id, api_key }))
}

/// Changes what a key of an account may spend and do.
pub(crate) async fn change(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawBody<NewKey, SMALL_BODY>,
) -> Result<Data<KeyRow>, Denial> {
    let (account, by) = (
        received.account_param(0),
        KeyHolder::Operator(received.operator()?),
    );
    let change = KeyChange::read(fields, app.engine.now_ms())?;
    let may = || Ok(());
    keys::changed(&app, &account, received.param(1), (&change, by), may).await
}

/// Gives a key of an account a new secret; this answer is the only one that shows it.
pub(crate) async fn rotate(
    app: Arc<App>,
    received: IncomingRequest,
    Body(how): Body<KeyRotation>,
) -> Result<Data<IssuedKey>, Denial> {
    let (account, by) = (
        received.account_param(0),
        KeyHolder::Operator(received.operator()?),
    );
    let (id, overlap_s) = (received.param(1), how.overlap_s());
    let keys = app.engine.admin().keys();
    let may = || Ok::<_, Denial>(());
    let api_key = keys.rotate(&account, id, overlap_s, by, may).await?;
    Ok(Data(IssuedKey {
        id: id.to_owned(),
        api_key,
    }))
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
