//! Records as pages show them: each file has the type on the wire and its one conversion from the stored record.

pub(super) mod accounts;
pub(super) mod audit;
pub(super) mod callbacks;
pub(super) mod ledger;
pub(super) mod trail;
pub(super) mod usage;

use atelier_contract::Scopes;
use atelier_contract::fields::Moment;
use atelier_contract::pages::keys::{KeyRow, NewKey};
use atelier_contract::time::timestamp;
use atelier_engine::{KeyRequest, KeyView};

/// A key without its secret.
pub(super) fn key(key: KeyView) -> KeyRow {
    KeyRow {
        id: key.id,
        name: key.name,
        prefix: key.prefix,
        scopes: key.scopes,
        created_at: timestamp(key.created_ms),
        last_used_at: key.last_used_ms.map(timestamp),
        expires_at: key.expires_ms.map(timestamp),
    }
}

/// What a new key shall be; everything about it is optional.
pub(super) fn key_wish(new: &NewKey) -> KeyRequest {
    KeyRequest {
        name: new.name.as_deref().unwrap_or("key").to_owned(),
        scopes: new.scopes.unwrap_or(Scopes::ALL),
        expires_ms: new.expires_at.map(Moment::ms),
    }
}
