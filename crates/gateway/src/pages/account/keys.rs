//! The caller's keys.

use std::sync::Arc;

use atelier_contract::family::SMALL_BODY;
use atelier_contract::pages::keys::{IssuedKey, KeyRotation, NewKey, ResourceId};
use atelier_contract::{AccountId, Code, Refusal};
use atelier_engine::KeyHolder;
use atelier_engine::records::Key;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, RawBody};
use crate::http::request::IncomingRequest;
use crate::pages::rows::keys::{KeyChange, KeyRow, as_given, key_request, key_rows};

/// Lists the caller's keys, without their secrets.
pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<Vec<KeyRow>>, Denial> {
    let caller = received.caller()?;
    let keys = app.engine.admin().keys();
    let own = keys.list_own(caller).await?;
    let spending = keys.spending(&caller.account_id).await?;
    Ok(Data(key_rows(own, &spending, app.engine.now_ms())))
}

/// The keys of an account with what they have spent.
pub(crate) async fn rows(app: &App, account_id: &AccountId) -> Result<Vec<KeyRow>, Refusal> {
    let keys = app.engine.admin().keys();
    let (all, spending) = (
        keys.list(account_id).await?,
        keys.spending(account_id).await?,
    );
    Ok(key_rows(all, &spending, app.engine.now_ms()))
}

/// Issues a key; this answer is the only one that shows it.
pub(crate) async fn issue(
    app: Arc<App>,
    received: IncomingRequest,
    Body(new): Body<NewKey>,
) -> Result<Data<IssuedKey>, Denial> {
    let caller = received.caller()?;
    let request = key_request(&new, app.engine.now_ms())?;
    let may = || received.admission.act(&app.rates);
    let keys = app.engine.admin().keys();
    let issued = keys.issue_own(caller, request, may).await;
    let (id, api_key) = issued.map_err(|denial| as_given(&new, denial))?;
    Ok(Data(IssuedKey { id, api_key }))
}

/// Changes what a key of the caller's may spend and do.
pub(crate) async fn change(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawBody<NewKey, SMALL_BODY>,
) -> Result<Data<KeyRow>, Denial> {
    let (account, by) = (received.account()?, KeyHolder::Caller(received.caller()?));
    let change = KeyChange::read(fields, app.engine.now_ms())?;
    let may = || received.admission.act(&app.rates);
    changed(&app, account, received.param(0), (&change, by), may).await
}

/// Changes a key; the key as it is then.
pub(crate) async fn changed(
    app: &App,
    account_id: &AccountId,
    key_id: &str,
    (change, by): (&KeyChange, KeyHolder<'_>),
    may: impl FnOnce() -> Result<(), Denial>,
) -> Result<Data<KeyRow>, Denial> {
    let keys = app.engine.admin().keys();
    let edit = |key: &Key| change.over(key);
    let made = keys.change(account_id, key_id, &edit, by, may).await;
    made.map_err(|denial| as_given(change.given(), denial))?;
    let rows = rows(app, account_id).await?;
    let row = rows.into_iter().find(|row| row.id == key_id);
    row.map(Data)
        .ok_or_else(|| Refusal::new(Code::NotFound, "no such key").into())
}

/// Gives a key of the caller's a new secret; this answer is the only one that shows it.
pub(crate) async fn rotate(
    app: Arc<App>,
    received: IncomingRequest,
    Body(how): Body<KeyRotation>,
) -> Result<Data<IssuedKey>, Denial> {
    let (account, by) = (received.account()?, KeyHolder::Caller(received.caller()?));
    let may = || received.admission.act(&app.rates);
    let (id, overlap_s) = (received.param(0), how.overlap_s());
    let keys = app.engine.admin().keys();
    let api_key = keys.rotate(account, id, overlap_s, by, may).await?;
    Ok(Data(IssuedKey {
        id: id.to_owned(),
        api_key,
    }))
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
