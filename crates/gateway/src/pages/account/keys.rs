//! The caller's keys.

use std::sync::Arc;

use atelier_contract::pages::keys::{IssuedKey, KeyRow, Named, NewKey};
use atelier_contract::{Code, Refusal};
use atelier_engine::KeyHolder;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data};
use crate::http::received::Received;
use crate::pages::rows;

/// Lists the caller's keys, without their secrets.
pub(crate) async fn list(
    app: Arc<App>,
    received: Received,
    (): (),
) -> Result<Data<Vec<KeyRow>>, Denial> {
    let keys = app.engine.office().keys().list(received.account()?).await?;
    Ok(Data(keys.into_iter().map(rows::key).collect()))
}

/// Issues a key; this answer is the only one that shows it.
pub(crate) async fn issue(
    app: Arc<App>,
    received: Received,
    Body(new): Body<NewKey>,
) -> Result<Data<IssuedKey>, Denial> {
    let (account, by) = (received.account()?, KeyHolder::Caller(received.caller()?));
    let wish = rows::key_wish(&new);
    received.pass.act(&app.rates)?;
    let (id, api_key) = app.engine.office().keys().issue(account, wish, by).await?;
    Ok(Data(IssuedKey { id, api_key }))
}

/// Revokes a key of the caller's.
pub(crate) async fn revoke(
    app: Arc<App>,
    received: Received,
    (): (),
) -> Result<Data<Named>, Denial> {
    let id = received.param(0);
    let (account, by) = (received.account()?, KeyHolder::Caller(received.caller()?));
    if !app.engine.office().keys().revoke(account, id, by).await? {
        return Err(Refusal::new(Code::NotFound, "no such key").into());
    }
    Ok(Data(Named { id: id.to_owned() }))
}
