//! Accounts, their keys and their credit.

use std::sync::Arc;

use atelier_contract::body as contract_body;
use atelier_contract::family::{SMALL_BODY, timestamp};
use atelier_contract::fields::{Count, Flag, Text};
use atelier_contract::{Code, Quota, Refusal};
use atelier_engine::{AccountChange, AccountView, KeyHolder, NewAccountRequest};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::super::{Answer, Received, body, caller, paging, reply, rows};
use super::ACTOR;
use crate::app::App;

/// Lists accounts.
pub(in super::super) async fn list(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    let paging = paging::of(&body::query(&received.head)?)?;
    let (accounts, total) = app.engine.accounts(paging.page, paging.limit).await?;
    Ok(reply::page(
        accounts.iter().map(view).collect(),
        total,
        paging,
    ))
}

/// Makes an account with a first key.
pub(in super::super) async fn create(app: Arc<App>, received: Received) -> Answer {
    #[derive(Deserialize)]
    struct New {
        email: Text<254>,
        balance: Quota,
        #[serde(default)]
        max_queue: Option<Count<1, 1_000_000, 10>>,
        #[serde(default)]
        email_verified: Flag<true>,
    }
    caller::operator(&app, &received)?;
    let new: New = read(&app, received).await?;
    let request = NewAccountRequest {
        email: email(&new.email)?,
        balance: not_negative(new.balance, "balance")?,
        max_queue: new.max_queue.map(Count::get),
        email_verified: new.email_verified.on(),
    };
    let (account, key) = app.engine.create_account(ACTOR, request).await?;
    let mut shown = view(&account);
    shown["api_key"] = key.into();
    Ok(reply::success(shown))
}

/// Shows an account.
pub(in super::super) async fn show(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    Ok(reply::success(view(
        &app.engine.account(id_of(&received)).await?,
    )))
}

/// Changes an account.
pub(in super::super) async fn change(app: Arc<App>, received: Received) -> Answer {
    #[derive(Deserialize)]
    struct Change {
        #[serde(default)]
        email: Option<Text<254>>,
        #[serde(default)]
        max_queue: Option<Count<1, 1_000_000, 10>>,
        #[serde(default)]
        email_verified: Option<Flag<true>>,
        #[serde(default)]
        disabled: Option<Flag<false>>,
    }
    caller::operator(&app, &received)?;
    let id = id_of(&received).to_owned();
    let wish: Change = read(&app, received).await?;
    let change = AccountChange {
        email: wish.email.map(|text| email(&text)).transpose()?,
        max_queue: wish.max_queue.map(Count::get),
        email_verified: wish.email_verified.map(Flag::on),
        disabled: wish.disabled.map(Flag::on),
    };
    let account = app.engine.patch_account(ACTOR, &id, change).await?;
    Ok(reply::success(view(&account)))
}

/// Grants quota, or takes some away.
pub(in super::super) async fn credit(app: Arc<App>, received: Received) -> Answer {
    #[derive(Deserialize)]
    struct Credit {
        amount: Quota,
        #[serde(default)]
        reason: Option<Text<500>>,
        #[serde(default)]
        idempotency_key: Option<Text<255>>,
    }
    caller::operator(&app, &received)?;
    let id = id_of(&received).to_owned();
    let wish: Credit = read(&app, received).await?;
    let reason = wish.reason.map(|text| text.to_string()).unwrap_or_default();
    let key = wish.idempotency_key.map(|text| text.to_string());
    let account = app
        .engine
        .credit(ACTOR, &id, wish.amount, &reason, key.as_deref())
        .await?;
    Ok(reply::success(view(&account)))
}

/// Lists an account's keys.
pub(in super::super) async fn keys(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    let account = app.engine.account(id_of(&received)).await?;
    let keys = app.engine.keys(&account.id).await?;
    Ok(reply::success(
        keys.iter().map(rows::key).collect::<Vec<_>>(),
    ))
}

/// Issues a key for an account.
pub(in super::super) async fn issue_key(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    let account = app.engine.account(id_of(&received)).await?;
    let (fields, _) = body::fields(&app, &received.head, received.body, SMALL_BODY).await?;
    let wish = rows::key_wish(fields)?;
    let (id, key) = app
        .engine
        .issue_key(&account.id, wish, KeyHolder::Operator(ACTOR))
        .await?;
    Ok(reply::success(json!({ "id": id, "api_key": key })))
}

/// Revokes a key of an account.
pub(in super::super) async fn revoke_key(app: Arc<App>, received: Received) -> Answer {
    caller::operator(&app, &received)?;
    let key_id = received
        .params
        .get(1)
        .map(String::as_str)
        .unwrap_or_default();
    let by = KeyHolder::Operator(ACTOR);
    let revoked = app.engine.revoke_key(id_of(&received), key_id, by).await?;
    if !revoked {
        return Err(Refusal::new(Code::NotFound, "no such key").into());
    }
    Ok(reply::success(json!({ "id": key_id })))
}

fn view(account: &AccountView) -> Value {
    json!({
        "id": account.id,
        "email": account.email,
        "email_verified_at": account.email_verified_ms.map(timestamp),
        "balance": account.balance,
        "freeze_balance": account.frozen,
        "max_queue": account.max_queue,
        "disabled": account.disabled,
        "created_at": timestamp(account.created_ms),
    })
}

fn id_of(received: &Received) -> &str {
    received
        .params
        .first()
        .map(String::as_str)
        .unwrap_or_default()
}

async fn read<T: DeserializeOwned>(app: &App, received: Received) -> Result<T, Refusal> {
    let (fields, _) = body::fields(app, &received.head, received.body, SMALL_BODY).await?;
    contract_body::read(fields)
}

fn email(text: &str) -> Result<String, Refusal> {
    let text = text.trim();
    let plausible = text
        .split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
    if !plausible || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(Refusal::invalid("email", "must be an e-mail address"));
    }
    Ok(text.to_owned())
}

fn not_negative(amount: Quota, field: &str) -> Result<Quota, Refusal> {
    if amount < Quota::ZERO {
        return Err(Refusal::invalid(field, "must not be negative"));
    }
    Ok(amount)
}
