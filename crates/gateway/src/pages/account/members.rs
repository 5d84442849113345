//! The members of the caller's account.

use std::marker::PhantomData;
use std::sync::Arc;

use atelier_contract::family::SMALL_BODY;
use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::people::MemberPatch;
use atelier_contract::{AccountId, Refusal};
use atelier_engine::KeyHolder;
use atelier_engine::records::MemberProfile;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Data, RawBody, WholeList};
use crate::http::request::IncomingRequest;
use crate::pages::rows::people::{MemberChange, MemberRow};

/// How many sessions have ended.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EndedSessions {
    /// Their number.
    pub(crate) ended: u64,
}

/// Lists the members, with what they have spent.
pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<WholeList<MemberRow>, Denial> {
    Ok(WholeList(rows(&app, received.account()?).await?))
}

/// The members of an account with what they have spent.
pub(crate) async fn rows(app: &App, account: &AccountId) -> Result<Vec<MemberRow>, Refusal> {
    let members = app.engine.people().members().list(account).await?;
    let spending = app.engine.admin().keys().spending(account).await?;
    let row = |member| MemberRow::new(member, &spending, app.engine.now_ms());
    Ok(members.into_iter().map(row).collect())
}

/// Shows one member.
pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<MemberRow>, Denial> {
    Ok(Data(
        row(&app, received.account()?, received.param(0)).await?,
    ))
}

/// A member of an account with what it has spent.
pub(crate) async fn row(app: &App, account: &AccountId, id: &str) -> Result<MemberRow, Refusal> {
    let member = app.engine.people().members().one(account, id).await?;
    let spending = app.engine.admin().keys().spending(account).await?;
    Ok(MemberRow::new(member, &spending, app.engine.now_ms()))
}

/// Changes what a member may do and spend.
pub(crate) async fn change(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, PhantomData): RawBody<MemberPatch, SMALL_BODY>,
) -> Result<Data<MemberRow>, Denial> {
    let (account, id) = (received.account()?, received.param(0));
    let by = KeyHolder::Caller(received.caller()?);
    let change = MemberChange::read(fields)?;
    let may = || received.admission.act(&app.rates);
    let edit = |member: &MemberProfile| change.over(member);
    let members = app.engine.people().members();
    members.change(account, id, &edit, by, may).await?;
    Ok(Data(row(&app, account, id).await?))
}

/// Removes a member, with its keys and sessions.
pub(crate) async fn remove(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let (account, id) = (received.account()?, received.param(0).to_owned());
    let by = KeyHolder::Caller(received.caller()?);
    app.engine
        .people()
        .members()
        .remove(account, &id, by)
        .await?;
    Ok(Data(ResourceId { id }))
}

/// Ends the sessions of a member.
pub(crate) async fn sign_out(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<EndedSessions>, Denial> {
    let by = KeyHolder::Caller(received.caller()?);
    let (account, id) = (received.account()?, received.param(0));
    let members = app.engine.people().members();
    let ended = members.sign_out(account, id, by).await?;
    Ok(Data(EndedSessions { ended }))
}
