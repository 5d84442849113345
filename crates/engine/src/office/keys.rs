//! Keys: issued, listed and revoked, by their account or by an operator.

use std::sync::Arc;

use atelier_contract::{AccountId, Code, Refusal, Scopes};
use atelier_store::{AuditRow, KeyAdded, NewKey};

use super::callers::{Caller, Callers};
use crate::crash;
use crate::house::{House, unavailable};
use crate::key;

/// What a new key shall be.
#[derive(Clone, Debug)]
pub struct KeyWish {
    /// Its name.
    pub name: String,
    /// What it may do.
    pub scopes: Scopes,
    /// When it stops working.
    pub expires_ms: Option<i64>,
}

impl KeyWish {
    /// A key that may do everything and does not end.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            scopes: Scopes::ALL,
            expires_ms: None,
        }
    }
}

/// Who issues or revokes a key.
#[derive(Clone, Copy, Debug)]
pub enum KeyHolder<'a> {
    /// A caller, with the key it came with.
    Caller(&'a Caller),
    /// An operator, by name.
    Operator(&'a str),
}

impl KeyHolder<'_> {
    /// The line that tells what it does to a key: an operator's in the audit list, a caller's in its account's.
    fn act(self, house: &House, action: &str, account_id: &AccountId, key_id: &str) -> AuditRow {
        match self {
            Self::Caller(caller) => house.own_act(account_id, &caller.key_id, (action, key_id), ""),
            Self::Operator(name) => house.act(name, action, account_id, key_id),
        }
    }

    /// What a key issued by this one may do at most.
    fn scopes(self) -> Scopes {
        match self {
            Self::Caller(caller) => caller.scopes,
            Self::Operator(_) => Scopes::ALL,
        }
    }
}

/// A key, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyView {
    /// Identifier.
    pub id: String,
    /// The name its owner gave it.
    pub name: String,
    /// The first characters of the key.
    pub prefix: String,
    /// What it may do.
    pub scopes: Scopes,
    /// When it was issued.
    pub created_ms: i64,
    /// When it was last used, to the minute.
    pub last_used_ms: Option<i64>,
    /// When it stops working.
    pub expires_ms: Option<i64>,
}

/// Keys of accounts.
pub struct Keys {
    house: Arc<House>,
    callers: Arc<Callers>,
}

impl Keys {
    pub(super) fn new(house: Arc<House>, callers: Arc<Callers>) -> Self {
        Self { house, callers }
    }

    /// A new key for an account, shown this once; its id and the key.
    pub async fn issue(
        &self,
        account_id: &AccountId,
        wish: KeyWish,
        by: KeyHolder<'_>,
    ) -> Result<(String, String), Refusal> {
        if !by.scopes().cover(wish.scopes) {
            return Err(Refusal::field(
                Code::Forbidden,
                "scopes",
                format!("this key may issue keys with {} at most", by.scopes()),
            ));
        }
        let (now_ms, most) = (self.house.now_ms(), self.house.settings.keys_most);
        if wish.expires_ms.is_some_and(|end_ms| end_ms <= now_ms) {
            return Err(Refusal::invalid("expiresAt", "must be in the future"));
        }
        let (new, secret) = new_key(&self.house, account_id, wish);
        let id = new.id.clone();
        let act = Some(by.act(&self.house, "key.issue", account_id, &id));
        let added = self
            .house
            .store
            .add_key(new, act)
            .await
            .map_err(unavailable)?;
        crash::point("office.acted");
        match added {
            KeyAdded::Done => Ok((id, secret)),
            KeyAdded::TooMany => Err(Refusal::new(
                Code::Conflict,
                format!("an account has at most {most} keys that work; revoke one"),
            )),
            KeyAdded::NoAccount => Err(Refusal::new(Code::NotFound, "no such account")),
        }
    }

    /// The keys of an account, without their secrets.
    pub async fn list(&self, account_id: &AccountId) -> Result<Vec<KeyView>, Refusal> {
        let keys = self
            .house
            .store
            .keys(account_id)
            .await
            .map_err(unavailable)?;
        // Scopes that nobody knows allow nothing; such a key is only listed to be revoked.
        let view = |key: atelier_store::Key| KeyView {
            scopes: Scopes::parse(&key.scopes).unwrap_or(Scopes::NONE),
            id: key.id,
            name: key.name,
            prefix: key.prefix,
            created_ms: key.created_ms,
            last_used_ms: key.last_used_ms,
            expires_ms: key.expires_ms,
        };
        Ok(keys.into_iter().map(view).collect())
    }

    /// Revokes a key of an account, on every node at once; whether it was there.
    pub async fn revoke(
        &self,
        account_id: &AccountId,
        key_id: &str,
        by: KeyHolder<'_>,
    ) -> Result<bool, Refusal> {
        let act = Some(by.act(&self.house, "key.revoke", account_id, key_id));
        let revoked = self
            .house
            .store
            .revoke_key(account_id, key_id, self.house.now_ms(), act)
            .await
            .map_err(unavailable)?;
        if let Some(hash) = &revoked {
            self.callers.void_key(hash);
        }
        Ok(revoked.is_some())
    }
}

/// The key that an account is made with, by the same commit; and its secret.
pub(super) fn first_key(house: &House, account_id: &AccountId) -> (NewKey, String) {
    new_key(house, account_id, KeyWish::named("first key"))
}

/// A key that is not stored yet, and its secret.
fn new_key(house: &House, account_id: &AccountId, wish: KeyWish) -> (NewKey, String) {
    let secret = key::generate();
    let new = NewKey {
        id: house.ids.uuid(),
        account_id: account_id.to_string(),
        hash: key::hash(&secret),
        prefix: key::display_prefix(&secret),
        name: wish.name,
        scopes: wish.scopes.to_string(),
        now_ms: house.now_ms(),
        expires_ms: wish.expires_ms,
        most: house.settings.keys_most,
    };
    (new, secret)
}
