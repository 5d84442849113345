//! People, members of accounts and invitations, as operators see them.

use std::marker::PhantomData;
use std::sync::Arc;

use atelier_contract::family::SMALL_BODY;
use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::people::{MemberPatch, NewInvitation, PeopleQuery};
use atelier_engine::KeyHolder;
use atelier_engine::records::MemberProfile;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, List, Query, RawBody, WholeList};
use crate::http::request::IncomingRequest;
use crate::pages::account::invitations::request;
use crate::pages::account::members;
use crate::pages::rows::people::{
    InvitationRow, MemberChange, MemberRow, MembershipRow, PersonAccounts, PersonRow,
};

/// Lists people.
pub(crate) async fn list(
    app: Arc<App>,
    _: IncomingRequest,
    Query(query): Query<PeopleQuery>,
) -> Result<List<PersonRow>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let text = query.q.as_deref().unwrap_or_default();
    let persons = app.engine.people().persons();
    let (rows, total) = persons.list(text, page, limit).await?;
    Ok(List {
        rows: rows.into_iter().map(PersonRow::from).collect(),
        total,
        page,
        limit,
    })
}

/// Shows a person with the accounts that they are a member of.
pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<PersonAccounts>, Denial> {
    let people = app.engine.people();
    let person = people.persons().one(received.param(0)).await?;
    let accounts = people.members().of_person(&person.id).await?;
    Ok(Data(PersonAccounts {
        person: person.into(),
        accounts: accounts.into_iter().map(MembershipRow::from).collect(),
    }))
}

/// Deletes a person.
pub(crate) async fn remove(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let id = received.param(0).to_owned();
    let persons = app.engine.people().persons();
    persons.delete_by(received.operator()?, &id).await?;
    Ok(Data(ResourceId { id }))
}

/// Lists the members of an account.
pub(crate) async fn members(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<WholeList<MemberRow>, Denial> {
    let account = received.account_param(0);
    let account = app.engine.admin().accounts().one(&account).await?;
    Ok(WholeList(members::rows(&app, &account.id).await?))
}

/// Changes what a member of an account may do and spend.
pub(crate) async fn change_member(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, PhantomData): RawBody<MemberPatch, SMALL_BODY>,
) -> Result<Data<MemberRow>, Denial> {
    let (account, id) = (received.account_param(0), received.param(1));
    let by = KeyHolder::Operator(received.operator()?);
    let change = MemberChange::read(fields)?;
    let edit = |member: &MemberProfile| change.over(member);
    let people = app.engine.people().members();
    let may = || Ok::<_, Denial>(());
    people.change(&account, id, &edit, by, may).await?;
    Ok(Data(members::row(&app, &account, id).await?))
}

/// Removes a member of an account, with its keys and sessions.
pub(crate) async fn remove_member(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let (account, id) = (received.account_param(0), received.param(1).to_owned());
    let by = KeyHolder::Operator(received.operator()?);
    app.engine
        .people()
        .members()
        .remove(&account, &id, by)
        .await?;
    Ok(Data(ResourceId { id }))
}

/// Lists the invitations into an account.
pub(crate) async fn account_invitations(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<WholeList<InvitationRow>, Denial> {
    let account = received.account_param(0);
    let account = app.engine.admin().accounts().one(&account).await?;
    let invitations = app.engine.people().invitations();
    let listed = invitations.list(Some(&account.id)).await?;
    Ok(WholeList(listed.into_iter().map(Into::into).collect()))
}

/// Invites somebody into an account.
pub(crate) async fn invite_into_account(
    app: Arc<App>,
    received: IncomingRequest,
    Body(new): Body<NewInvitation>,
) -> Result<Data<InvitationRow>, Denial> {
    let account = received.account_param(0);
    let account = app.engine.admin().accounts().one(&account).await?;
    let by = KeyHolder::Operator(received.operator()?);
    let into = Some((&account.id, account.email.as_str()));
    let invitations = app.engine.people().invitations();
    let made = invitations.create(into, request(new), by).await?;
    Ok(Data(made.into()))
}

/// Takes an invitation into an account back.
pub(crate) async fn withdraw_from_account(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let (account, id) = (received.account_param(0), received.param(1).to_owned());
    let by = KeyHolder::Operator(received.operator()?);
    let invitations = app.engine.people().invitations();
    invitations.withdraw(Some(&account), &id, by).await?;
    Ok(Data(ResourceId { id }))
}

/// Lists the invitations to open an account.
pub(crate) async fn invitations(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<WholeList<InvitationRow>, Denial> {
    let listed = app.engine.people().invitations().list(None).await?;
    Ok(WholeList(listed.into_iter().map(Into::into).collect()))
}

/// Invites somebody to open an account.
pub(crate) async fn invite(
    app: Arc<App>,
    received: IncomingRequest,
    Body(new): Body<NewInvitation>,
) -> Result<Data<InvitationRow>, Denial> {
    let by = KeyHolder::Operator(received.operator()?);
    let invitations = app.engine.people().invitations();
    let made = invitations.create(None, request(new), by).await?;
    Ok(Data(made.into()))
}

/// Takes an invitation to open an account back.
pub(crate) async fn withdraw(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let id = received.param(0).to_owned();
    let by = KeyHolder::Operator(received.operator()?);
    let invitations = app.engine.people().invitations();
    invitations.withdraw(None, &id, by).await?;
    Ok(Data(ResourceId { id }))
}
