//! Keys of an account.

use atelier_contract::body::{self, Fields};
use atelier_contract::limit_window::{LimitWindow, resets_at};
use atelier_contract::pages::keys::{KeyTerms, NewKey, TAKEN_AWAY};
use atelier_contract::time::timestamp;
use atelier_contract::{Quota, Refusal, Scopes};
use atelier_engine::records::{Key, KeySpending};
use atelier_engine::{KeyRequest, stored_terms};
use schemars::JsonSchema;
use serde::Serialize;

use crate::http::denial::Denial;

/// A key without its secret.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Key")]
pub(crate) struct KeyRow {
    /// Identifier of the key, to revoke it by.
    pub(crate) id: String,
    /// The name its owner gave it.
    pub(crate) name: String,
    /// The first characters of the key.
    pub(crate) prefix: String,
    /// Its scopes.
    pub(crate) scopes: Scopes,
    /// When it was issued, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) created_at: String,
    /// When it was last used, to the minute.
    pub(crate) last_used_at: Option<String>,
    /// When it stops working.
    pub(crate) expires_at: Option<String>,
    /// The key that made it; it limits this one too, and ends it with itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_id: Option<String>,
    /// How much it may spend, and has spent with the keys below it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) limits: Vec<LimitRow>,
    /// The operations it may use; all when absent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) operations: Vec<String>,
    /// The models it may use; all when absent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) models: Vec<String>,
    /// The networks it may be used from; all when absent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) addresses: Vec<String>,
    /// Submits in a second, those of keys below it included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) submits_per_second: Option<u32>,
    /// Unfinished jobs that it may have in a queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_queue: Option<i64>,
    /// A note for its owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// Limit of a key in a window, and its spending.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "KeyLimitState")]
pub(crate) struct LimitRow {
    /// The window it counts in.
    pub(crate) window: LimitWindow,
    /// The most that may be spent in it.
    pub(crate) quota: Quota,
    /// Spending in the window, including reserved quota.
    pub(crate) spent: Quota,
    /// When the next window begins, `YYYY-MM-DD HH:MM:SS` in UTC; null for `total`.
    pub(crate) resets_at: Option<String>,
}

/// Keys with what they have spent, at a moment.
pub(crate) fn key_rows(keys: Vec<Key>, spending: &[KeySpending], now_ms: i64) -> Vec<KeyRow> {
    let row = |key| key_row(key, spending, now_ms);
    keys.into_iter().map(row).collect()
}

fn key_row(key: Key, spending: &[KeySpending], now_ms: i64) -> KeyRow {
    // Rules that nobody can read allow nothing; such a key is only listed to be revoked.
    let KeyTerms {
        limits,
        rules,
        max_queue,
    } = stored_terms(&key).unwrap_or_default();
    let limit = |limit: atelier_contract::pages::keys::KeyLimit| {
        // A clock that was put back leaves the latest window as it is.
        let mut windows = spending.iter().filter(|one| one.key_id == key.id);
        let window = windows.rfind(|one| one.window == limit.window);
        let until_ms = window.map_or_else(|| limit.window.span(now_ms).1, |one| one.until_ms);
        LimitRow {
            window: limit.window,
            quota: limit.quota,
            spent: window.map_or(Quota::ZERO, |one| one.spent),
            resets_at: resets_at(until_ms),
        }
    };
    KeyRow {
        limits: limits.into_iter().map(limit).collect(),
        // Scopes that nobody knows allow nothing; such a key is only listed to be revoked.
        scopes: Scopes::parse(&key.scopes).unwrap_or(Scopes::NONE),
        id: key.id,
        name: key.name,
        prefix: key.prefix,
        created_at: timestamp(key.created_ms),
        last_used_at: key.last_used_ms.map(timestamp),
        expires_at: key.expires_ms.map(timestamp),
        parent_id: key.parent_id,
        operations: rules.operations,
        models: rules.models,
        addresses: rules.addresses.iter().map(ToString::to_string).collect(),
        submits_per_second: rules.submits_per_second,
        max_queue,
        note: key.note,
    }
}

/// What a new key shall be; everything about it is optional.
pub(crate) fn key_request(new: &NewKey, now_ms: i64) -> Result<KeyRequest, Refusal> {
    Ok(KeyRequest {
        name: new.name.as_deref().unwrap_or("key").to_owned(),
        scopes: new.scopes.unwrap_or(Scopes::ALL),
        expires_ms: new.ends_ms(now_ms)?,
        terms: new.terms_over(KeyTerms::default())?,
        note: new.note.as_deref().map(str::to_owned),
    })
}

/// A refusal of an end in the words in which that was given.
pub(crate) fn as_given(given: &NewKey, mut denial: Denial) -> Denial {
    let is_end = denial.refusal.field.as_deref() == Some("expiresAt");
    if is_end && given.expires_in.is_some() {
        denial.refusal.field = Some("expiresIn".to_owned());
    }
    denial
}

/// A change of a key: what is given is changed, and null takes away.
pub(crate) struct KeyChange {
    given: NewKey,
    taken: Vec<&'static str>,
    ends_ms: Option<i64>,
}

impl KeyChange {
    /// What the body gave.
    pub(crate) const fn given(&self) -> &NewKey {
        &self.given
    }

    /// Reads the fields of a body.
    pub(crate) fn read(fields: Fields, now_ms: i64) -> Result<Self, Refusal> {
        let is_null = |name: &&str| fields.get(*name).is_some_and(serde_json::Value::is_null);
        let taken = TAKEN_AWAY.into_iter().filter(is_null).collect();
        let given: NewKey = body::read(fields)?;
        Ok(Self {
            ends_ms: given.ends_ms(now_ms)?,
            given,
            taken,
        })
    }

    /// What a key becomes by it.
    pub(crate) fn over(&self, key: &Key) -> Result<KeyRequest, Refusal> {
        let mut old = stored_terms(key)?;
        for field in &self.taken {
            old.take_away(field);
        }
        let stays = |field: &str| !self.taken.contains(&field);
        let note = key.note.clone().filter(|_| stays("note"));
        let expires_ms = key.expires_ms.filter(|_| stays("expiresAt"));
        Ok(KeyRequest {
            name: self.given.name.as_deref().unwrap_or(&key.name).to_owned(),
            scopes: match self.given.scopes {
                Some(scopes) => scopes,
                None => Scopes::parse(&key.scopes).unwrap_or(Scopes::NONE),
            },
            expires_ms: self.ends_ms.or(expires_ms),
            terms: self.given.terms_over(old)?,
            note: self.given.note.as_deref().map(str::to_owned).or(note),
        })
    }
}
