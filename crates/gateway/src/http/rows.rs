//! Rows of lists that both an account and the operator see.

use atelier_contract::body::{self as contract_body, Fields};
use atelier_contract::family::timestamp;
use atelier_contract::fields::Text;
use atelier_contract::{Refusal, Scopes};
use atelier_engine::{CallbackView, KeyView, KeyWish, LedgerView, TryView};
use serde::Deserialize;
use serde_json::{Value, json};

use super::paging;

/// A key without its secret.
pub(super) fn key(key: &KeyView) -> Value {
    json!({
        "id": key.id,
        "name": key.name,
        "prefix": key.prefix,
        "scopes": key.scopes.words(),
        "createdAt": timestamp(key.created_ms),
        "lastUsedAt": key.last_used_ms.map(timestamp),
        "expiresAt": key.expires_ms.map(timestamp),
    })
}

/// A movement of quota.
pub(super) fn ledger_entry(entry: &LedgerView) -> Value {
    json!({
        "id": entry.id,
        "time": timestamp(entry.time_ms),
        "kind": entry.kind,
        "amount": entry.amount,
        "jobId": entry.job_id,
        "balance": entry.balance,
        "freezeBalance": entry.frozen,
        "reason": entry.reason,
    })
}

/// A callback and how it goes.
pub(super) fn callback(callback: &CallbackView) -> Value {
    json!({
        "id": callback.id,
        "jobId": callback.job_id,
        "url": callback.url,
        "status": callback.status,
        "attempts": callback.attempts,
        "nextAttemptAt": callback.next_attempt_ms.map(timestamp),
        "lastStatus": callback.last_status,
        "lastError": callback.last_error,
    })
}

/// One try of a callback.
pub(super) fn callback_try(one: &TryView) -> Value {
    json!({
        "attempt": one.attempt,
        "time": timestamp(one.time_ms),
        "status": one.status,
        "error": one.error,
        "durationMs": one.duration_ms,
        "answer": one.answer,
    })
}

/// Reads the wish for a new key; everything about it is optional.
pub(super) fn key_wish(fields: Fields) -> Result<KeyWish, Refusal> {
    #[derive(Deserialize)]
    struct Wish {
        #[serde(default)]
        name: Option<Text<100>>,
        #[serde(default)]
        scopes: Option<Vec<String>>,
    }
    let expires_ms = paging::moment(&fields, "expiresAt")?;
    let wish: Wish = contract_body::read(fields)?;
    let scopes = match &wish.scopes {
        None => Scopes::ALL,
        Some(words) => Scopes::of_words(words.iter().map(String::as_str)).ok_or_else(|| {
            Refusal::invalid("scopes", "must be a list of submit, read, account or all")
        })?,
    };
    let name = wish
        .name
        .map_or_else(|| "key".to_owned(), |name| name.to_string());
    Ok(KeyWish {
        name,
        scopes,
        expires_ms,
    })
}
