//! Keys of an account.

use atelier_contract::Scopes;
use atelier_contract::fields::Moment;
use atelier_contract::pages::keys::NewKey;
use atelier_contract::time::timestamp;
use atelier_engine::KeyRequest;
use atelier_engine::records::Key;
use schemars::JsonSchema;
use serde::Serialize;

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
    /// What it is good for.
    pub(crate) scopes: Scopes,
    /// When it was issued, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) created_at: String,
    /// When it was last used, to the minute.
    pub(crate) last_used_at: Option<String>,
    /// When it stops working.
    pub(crate) expires_at: Option<String>,
}

impl From<Key> for KeyRow {
    fn from(key: Key) -> Self {
        Self {
            // Scopes that nobody knows allow nothing; such a key is only listed to be revoked.
            scopes: Scopes::parse(&key.scopes).unwrap_or(Scopes::NONE),
            id: key.id,
            name: key.name,
            prefix: key.prefix,
            created_at: timestamp(key.created_ms),
            last_used_at: key.last_used_ms.map(timestamp),
            expires_at: key.expires_ms.map(timestamp),
        }
    }
}

/// What a new key shall be; everything about it is optional.
pub(crate) fn key_request(new: &NewKey) -> KeyRequest {
    KeyRequest {
        name: new.name.as_deref().unwrap_or("key").to_owned(),
        scopes: new.scopes.unwrap_or(Scopes::ALL),
        expires_ms: new.expires_at.map(Moment::ms),
    }
}
