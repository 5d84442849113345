//! Accounts and their credit.

use std::sync::Arc;

use atelier_contract::fields::{Count, Flag};
use atelier_contract::pages::accounts::{
    AccountChange, AccountRow, Credit, Email, MadeAccount, NewAccount,
};
use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::list::ListQuery;
use atelier_contract::time::timestamp;
use atelier_engine::{AccountLimitsPatch, AccountView, NewAccountRequest};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, List, Query};
use crate::http::request::IncomingRequest;

/// Lists accounts.
pub(crate) async fn list(
    app: Arc<App>,
    _: IncomingRequest,
    Query(query): Query<ListQuery>,
) -> Result<List<AccountRow>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let (accounts, total) = app.engine.admin().accounts().list(page, limit).await?;
    Ok(List {
        rows: accounts.into_iter().map(row).collect(),
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
    let request = NewAccountRequest {
        email: new.email.into_string(),
        balance: new.balance.get(),
        max_queue: new.max_queue.map(Count::get),
        email_verified: new.email_verified.on(),
    };
    let (account, api_key) = app
        .engine
        .admin()
        .accounts()
        .create(received.operator()?, request)
        .await?;
    Ok(Data(MadeAccount {
        account: row(account),
        api_key,
    }))
}

/// Shows an account.
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
    Ok(Data(row(account)))
}

/// Changes an account.
pub(crate) async fn change(
    app: Arc<App>,
    received: IncomingRequest,
    Body(wish): Body<AccountChange>,
) -> Result<Data<AccountRow>, Denial> {
    let id = received.account_param(0);
    let change = atelier_engine::AccountChange {
        email: wish.email.map(Email::into_string),
        max_queue: wish.max_queue.map(Count::get),
        email_verified: wish.email_verified.map(Flag::on),
        disabled: wish.disabled.map(Flag::on),
        allowance: AccountLimitsPatch {
            submits_per_second: wish.submits_per_second.map(Count::get),
            calls_per_second: wish.calls_per_second.map(Count::get),
            share_percent: wish.share_percent.map(Count::get),
            max_storage: wish.max_storage.map(Count::get),
        },
    };
    let account = app
        .engine
        .admin()
        .accounts()
        .change(received.operator()?, &id, change)
        .await?;
    Ok(Data(row(account)))
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

/// Grants quota, or takes some away.
pub(crate) async fn credit(
    app: Arc<App>,
    received: IncomingRequest,
    Body(wish): Body<Credit>,
) -> Result<Data<AccountRow>, Denial> {
    let id = received.account_param(0);
    let reason = wish.reason.as_deref().unwrap_or_default();
    let key = wish.idempotency_key.as_deref();
    let engine = &app.engine;
    let account = engine
        .admin()
        .accounts()
        .credit(received.operator()?, &id, wish.amount, reason, key)
        .await?;
    Ok(Data(row(account)))
}

fn row(account: AccountView) -> AccountRow {
    AccountRow {
        id: account.id.to_string(),
        email: account.email,
        email_verified_at: account.email_verified_ms.map(timestamp),
        balance: account.balance,
        freeze_balance: account.frozen,
        max_queue: account.max_queue,
        submits_per_second: account.allowance.submits_per_second,
        calls_per_second: account.allowance.calls_per_second,
        share_percent: account.allowance.share_percent,
        max_storage: account.allowance.max_storage,
        stored_bytes: account.stored,
        disabled: account.disabled,
        created_at: timestamp(account.created_ms),
    }
}
