//! Keys: only their hash is stored.

use crate::accounts::Account;
use crate::{Result, Store};

/// A key as its owner may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Identifier.
    pub id: String,
    /// Whose it is.
    pub account_id: String,
    /// Its first characters, for display.
    pub prefix: String,
    /// Its name.
    pub name: String,
    /// What it may do.
    pub scopes: String,
    /// When it was issued.
    pub created_ms: i64,
    /// When it was last used, to the minute.
    pub last_used_ms: Option<i64>,
    /// When it stops working.
    pub expires_ms: Option<i64>,
    /// When it was revoked.
    pub revoked_ms: Option<i64>,
}

/// A key to be stored.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// Identifier.
    pub id: String,
    /// Whose it is.
    pub account_id: String,
    /// SHA-256 of the whole key, in hexadecimal.
    pub hash: String,
    /// Its first characters, for display.
    pub prefix: String,
    /// Its name.
    pub name: String,
    /// What it may do.
    pub scopes: String,
    /// The time.
    pub now_ms: i64,
    /// When it stops working.
    pub expires_ms: Option<i64>,
}

impl Store {
    /// Stores a key; a conflict when the hash exists or there is no such account.
    pub async fn add_key(&self, _new: NewKey) -> Result<()> {
        Err(crate::Error::NotFound)
    }
    /// The keys of an account that are not revoked, oldest first.
    pub async fn keys(&self, _account_id: &str) -> Result<Vec<Key>> {
        Err(crate::Error::NotFound)
    }
    /// Revokes a key of an account; whether it was there and not revoked.
    pub async fn revoke_key(&self, _account_id: &str, _key_id: &str, _now_ms: i64) -> Result<bool> {
        Err(crate::Error::NotFound)
    }
    /// Who a key belongs to: not revoked, not expired, account not disabled.
    pub async fn account_for_key(
        &self,
        _hash: &str,
        _now_ms: i64,
    ) -> Result<Option<(Account, Key)>> {
        Err(crate::Error::NotFound)
    }
    /// Notes that a key was used.
    pub async fn touch_key(&self, _key_id: &str, _now_ms: i64) -> Result<()> {
        Err(crate::Error::NotFound)
    }
}
