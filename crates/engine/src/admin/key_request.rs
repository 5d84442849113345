//! What is asked for a key, and by whom.

use atelier_contract::pages::keys::KeyTerms;
use atelier_contract::{AccountId, Code, Refusal, Scopes};
use atelier_store::{AuditRow, Key};

use super::callers::Caller;
use crate::context::Context;

/// What a key shall be.
#[derive(Clone, Debug)]
pub struct KeyRequest {
    /// A name by which its owner tells keys apart.
    pub name: String,
    /// Its permissions.
    pub scopes: Scopes,
    /// When it stops working.
    pub expires_ms: Option<i64>,
    /// What it may spend and do.
    pub terms: KeyTerms,
    /// A note for its owner.
    pub note: Option<String>,
}

/// How a key is changed: from what it is to what it shall be. It may be asked more than once.
pub type KeyEdit<'a> = &'a (dyn Fn(&Key) -> Result<KeyRequest, Refusal> + Send + Sync);

impl KeyRequest {
    /// A key that may do everything and does not end.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            scopes: Scopes::ALL,
            expires_ms: None,
            terms: KeyTerms::default(),
            note: None,
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
    /// An operator who looks at the account with its own eyes, by name.
    Visitor(&'a str),
}

impl KeyHolder<'_> {
    /// The line that tells what it does to a key: an operator's in the audit list, a caller's in its account's.
    pub(super) fn act(
        self,
        context: &Context,
        action: &str,
        account_id: &AccountId,
        key_id: &str,
    ) -> AuditRow {
        match self {
            Self::Caller(caller) => context.own_act(account_id, &caller.key_id, action, key_id, ""),
            Self::Operator(name) | Self::Visitor(name) => {
                context.act(name, action, account_id, key_id)
            }
        }
    }

    /// What a key issued by this one may do at most.
    pub(super) fn scopes(self) -> Scopes {
        match self {
            Self::Caller(caller) => caller.scopes,
            Self::Operator(_) | Self::Visitor(_) => Scopes::ALL,
        }
    }
}

pub(super) fn no_key() -> Refusal {
    Refusal::new(Code::NotFound, "no such key")
}
