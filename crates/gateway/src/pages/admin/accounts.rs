//! Accounts.

use std::sync::Arc;

use atelier_contract::pages::accounts::AccountsQuery;
use atelier_contract::pages::keys::ResourceId;
use atelier_engine::records::AccountFilter;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, List, Query};
use crate::http::request::IncomingRequest;
use crate::pages::rows::accounts::{AccountChange, AccountRow, MadeAccount, NewAccount};

pub(crate) async fn list(
    app: Arc<App>,
    _: IncomingRequest,
    Query(query): Query<AccountsQuery>,
) -> Result<List<AccountRow>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let filter = AccountFilter {
        text: query.q.as_deref().unwrap_or_default().trim().to_owned(),
        order: query.sort,
    };
    let accounts = app.engine.admin().accounts();
    let (accounts, total) = accounts.list(&filter, page, limit).await?;
    Ok(List {
        rows: accounts.into_iter().map(AccountRow::from).collect(),
        total,
        page,
        limit,
    })
}

/// Makes an account with a first key.
pub(crate) async fn create(
    app: Arc<App>,
    received: IncomingRequest,
    Body(new): Body<NewAccount>,
) -> Result<Data<MadeAccount>, Denial> {
    let (account, api_key) = app
        .engine
        .admin()
        .accounts()
        .create(received.operator()?, new.into())
        .await?;
    Ok(Data(MadeAccount {
        account: account.into(),
        api_key,
    }))
}

pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<AccountRow>, Denial> {
    let account = app
        .engine
        .admin()
        .accounts()
        .one(&received.account_param(0))
        .await?;
    Ok(Data(account.into()))
}

pub(crate) async fn change(
    app: Arc<App>,
    received: IncomingRequest,
    Body(wish): Body<AccountChange>,
) -> Result<Data<AccountRow>, Denial> {
    let id = received.account_param(0);
    let patch = wish.patch(app.engine.now_ms());
    let account = app
        .engine
        .admin()
        .accounts()
        .change(received.operator()?, &id, patch)
        .await?;
    Ok(Data(account.into()))
}

/// Removes everything of an account, but its ledger.
pub(crate) async fn remove(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let (id, by) = (received.account_param(0), received.operator()?);
    app.engine.admin().accounts().delete(by, &id).await?;
    Ok(Data(ResourceId { id: id.to_string() }))
}
