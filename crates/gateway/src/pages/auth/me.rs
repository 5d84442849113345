//! The person who is signed in: who they are, what they are a member of and invited to, and which account the session stands for.

use std::sync::Arc;

use atelier_contract::AccountId;
use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::people::{AccountChoice, PersonPatch};
use atelier_contract::pages::session::{Session, SignOutReply};
use atelier_contract::{Code, Refusal};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data};
use crate::http::request::IncomingRequest;
use crate::http::session;
use crate::pages::console::session::{self as console_session, WithCookie};
use crate::pages::rows::people::{Me, MembershipRow, OwnInvitationRow, PersonRow};

/// Who is signed in.
pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<Me>, Denial> {
    let people = app.engine.people();
    let person = people.persons().one(&received.person()?.id).await?;
    let accounts = people.members().of_person(&person.id).await?;
    let invitations = people.invitations().to(&person).await?;
    Ok(Data(Me {
        accounts: accounts.into_iter().map(MembershipRow::from).collect(),
        invitations: invitations
            .into_iter()
            .map(OwnInvitationRow::from)
            .collect(),
        person: person.into(),
    }))
}

/// Changes what the person is called, and the language of e-mail.
pub(crate) async fn change(
    app: Arc<App>,
    received: IncomingRequest,
    Body(patch): Body<PersonPatch>,
) -> Result<Data<PersonRow>, Denial> {
    let persons = app.engine.people().persons();
    let id = &received.person()?.id;
    let renamed = persons.rename(id, patch.name.as_deref(), patch.language);
    Ok(Data(renamed.await?.into()))
}

/// Deletes the person. What their keys did stays with the accounts.
pub(crate) async fn remove(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<WithCookie<ResourceId>, Denial> {
    let id = received.person()?.id.to_string();
    app.engine.people().persons().delete_own(&id).await?;
    let cookie = session::cookie(&app, &received, None);
    Ok(WithCookie(Data(ResourceId { id }), cookie))
}

/// Has the session stand for another account of the person's.
pub(crate) async fn choose(
    app: Arc<App>,
    received: IncomingRequest,
    Body(choice): Body<AccountChoice>,
) -> Result<WithCookie<Session>, Denial> {
    let word = session::session_token(&received.head.headers).ok_or_else(nobody)?;
    let sessions = app.engine.admin().sessions();
    let word = sessions.switch(word, &choice.id).await?;
    let opened = console_session::of(&app, &received, &word).await?;
    let cookie = session::person_cookie(&app, &received, &word);
    Ok(WithCookie(Data(opened.ok_or_else(nobody)?), cookie))
}

/// Accepts an invitation; the session stands for that account from now on.
pub(crate) async fn accept(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<WithCookie<Session>, Denial> {
    let people = app.engine.people();
    let person = people.persons().one(&received.person()?.id).await?;
    let invitations = people.invitations();
    let member = invitations.accept(&person, received.param(0)).await?;
    let word = session::session_token(&received.head.headers).ok_or_else(nobody)?;
    let sessions = app.engine.admin().sessions();
    let word = sessions.switch(word, &member.account_id).await?;
    let opened = console_session::of(&app, &received, &word).await?;
    let cookie = session::person_cookie(&app, &received, &word);
    Ok(WithCookie(Data(opened.ok_or_else(nobody)?), cookie))
}

/// Declines an invitation.
pub(crate) async fn decline(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let people = app.engine.people();
    let person = people.persons().one(&received.person()?.id).await?;
    let id = received.param(0).to_owned();
    people.invitations().decline(&person, &id).await?;
    Ok(Data(ResourceId { id }))
}

/// Has the person leave an account.
pub(crate) async fn leave(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let id = received.param(0).to_owned();
    let members = app.engine.people().members();
    let account = AccountId::new(id.clone());
    members.leave(&received.person()?.id, &account).await?;
    Ok(Data(ResourceId { id }))
}

/// Ends the session of whoever asks.
pub(crate) async fn sign_out(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<WithCookie<SignOutReply>, Denial> {
    session::close(&app, &received, false).await?;
    let cookie = session::cookie(&app, &received, None);
    Ok(WithCookie(Data(SignOutReply { signed_out: true }), cookie))
}

fn nobody() -> Refusal {
    Refusal::new(Code::Unauthorized, "nobody is signed in")
}
