//! Invitations into the caller's account.

use std::sync::Arc;

use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::people::NewInvitation;
use atelier_engine::{InvitationRequest, KeyHolder};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, WholeList};
use crate::http::request::IncomingRequest;
use crate::pages::rows::people::InvitationRow;

/// Lists the invitations that were not accepted yet.
pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<WholeList<InvitationRow>, Denial> {
    let invitations = app.engine.people().invitations();
    let listed = invitations.list(Some(received.account()?)).await?;
    Ok(WholeList(listed.into_iter().map(Into::into).collect()))
}

/// Invites somebody by e-mail.
pub(crate) async fn create(
    app: Arc<App>,
    received: IncomingRequest,
    Body(new): Body<NewInvitation>,
) -> Result<Data<InvitationRow>, Denial> {
    let (people, account) = (app.engine.people(), received.account()?);
    let by = KeyHolder::Caller(received.caller()?);
    people.members().check_manager(by).await?;
    received.admission.act(&app.rates)?;
    let own = app.engine.admin().accounts().own(account).await?;
    let into = Some((account, own.email.as_str()));
    let invitations = people.invitations();
    let made = invitations.create(into, request(new), by).await?;
    Ok(Data(made.into()))
}

/// An invitation in the engine's words.
pub(crate) fn request(new: NewInvitation) -> InvitationRequest {
    InvitationRequest {
        email: new.email,
        role: new.role,
        language: new.language,
    }
}

/// Takes an invitation back.
pub(crate) async fn remove(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let id = received.param(0).to_owned();
    let (people, by) = (app.engine.people(), KeyHolder::Caller(received.caller()?));
    people.members().check_manager(by).await?;
    let account = Some(received.account()?);
    people.invitations().withdraw(account, &id, by).await?;
    Ok(Data(ResourceId { id }))
}
