//! Keys: issued, listed and revoked, by their account or by an operator.

use std::sync::Arc;

use atelier_contract::{AccountId, Code, Refusal, Scopes};
use atelier_store::{AddKeyOutcome, AuditRow, Key, NewKey};

use super::callers::{Caller, Callers};
use crate::context::{Context, unavailable};
use crate::crash;
use crate::key;

/// What a new key shall be.
#[derive(Clone, Debug)]
pub struct KeyRequest {
    /// A name by which its owner tells keys apart.
    pub name: String,
    /// What it may do.
    pub scopes: Scopes,
    /// When it stops working.
    pub expires_ms: Option<i64>,
}

impl KeyRequest {
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
    /// An operator who looks at the account with its own eyes, by name.
    Visitor(&'a str),
}

/// The identifiers of keys of visits begin with this. Such a key is part of a session; nobody is shown it.
const VISIT: &str = "visit-";

impl KeyHolder<'_> {
    /// The line that tells what it does to a key: an operator's in the audit list, a caller's in its account's.
    fn act(
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
    fn scopes(self) -> Scopes {
        match self {
            Self::Caller(caller) => caller.scopes,
            Self::Operator(_) | Self::Visitor(_) => Scopes::ALL,
        }
    }
}

/// Issues, lists and revokes keys.
pub struct Keys {
    context: Arc<Context>,
    callers: Arc<Callers>,
}

impl Keys {
    pub(super) fn new(context: Arc<Context>, callers: Arc<Callers>) -> Self {
        Self { context, callers }
    }

    /// A new key for an account, shown this once; its id and the key.
    pub async fn issue(
        &self,
        account_id: &AccountId,
        request: KeyRequest,
        by: KeyHolder<'_>,
    ) -> Result<(String, String), Refusal> {
        self.check(&request, by)?;
        self.add(account_id, request, by).await
    }

    /// A new key that a caller issues for its own account, shown this once; its id and the key. Whether it may is asked when
    /// nothing else speaks against it.
    pub async fn issue_own<E: From<Refusal>>(
        &self,
        caller: &Caller,
        request: KeyRequest,
        may: impl FnOnce() -> Result<(), E>,
    ) -> Result<(String, String), E> {
        let (by, now_ms) = (KeyHolder::Caller(caller), self.context.now_ms());
        self.check(&request, by)?;
        let keys = self.list(&caller.account_id).await?;
        let works = |key: &&Key| key.expires_ms.is_none_or(|end_ms| end_ms > now_ms);
        if keys.iter().filter(works).count() as i64 >= self.most() {
            return Err(self.too_many().into());
        }
        may()?;
        Ok(self.add(&caller.account_id, request, by).await?)
    }

    /// Refuses a key that whoever issues it cannot give, or that would never work.
    fn check(&self, request: &KeyRequest, by: KeyHolder<'_>) -> Result<(), Refusal> {
        if !by.scopes().cover(request.scopes) {
            return Err(Refusal::field(
                Code::Forbidden,
                "scopes",
                format!("this key may issue keys with {} at most", by.scopes()),
            ));
        }
        let now_ms = self.context.now_ms();
        if request.expires_ms.is_some_and(|end_ms| end_ms <= now_ms) {
            return Err(Refusal::invalid("expiresAt", "must be in the future"));
        }
        Ok(())
    }

    async fn add(
        &self,
        account_id: &AccountId,
        request: KeyRequest,
        by: KeyHolder<'_>,
    ) -> Result<(String, String), Refusal> {
        let (mut new, secret) = new_key(&self.context, account_id, request);
        if matches!(by, KeyHolder::Visitor(_)) {
            new.id.insert_str(0, VISIT);
        }
        let id = new.id.clone();
        let act = Some(by.act(&self.context, "key.issue", account_id, &id));
        let added = self
            .context
            .store()
            .keys()
            .add(new, act)
            .await
            .map_err(unavailable)?;
        crash::point("admin.acted");
        match added {
            AddKeyOutcome::Done => Ok((id, secret)),
            AddKeyOutcome::TooMany => Err(self.too_many()),
            AddKeyOutcome::NoAccount => Err(Refusal::new(Code::NotFound, "no such account")),
        }
    }

    fn most(&self) -> i64 {
        self.context.settings().limits.keys_per_account
    }

    fn too_many(&self) -> Refusal {
        let most = self.most();
        let message = format!("an account has at most {most} keys that work; revoke one");
        Refusal::new(Code::Conflict, message)
    }

    /// The keys of an account, without their secrets, and without those of visits.
    pub async fn list(&self, account_id: &AccountId) -> Result<Vec<Key>, Refusal> {
        let keys = self.context.store().keys().list(account_id).await;
        let mut keys = keys.map_err(unavailable)?;
        keys.retain(|key| !key.id.starts_with(VISIT));
        Ok(keys)
    }

    /// Revokes a key of an account, on every node at once; whether it was there.
    pub async fn revoke(
        &self,
        account_id: &AccountId,
        key_id: &str,
        by: KeyHolder<'_>,
    ) -> Result<bool, Refusal> {
        let act = Some(by.act(&self.context, "key.revoke", account_id, key_id));
        let revoked = self
            .context
            .store()
            .keys()
            .revoke(account_id, key_id, self.context.now_ms(), act)
            .await
            .map_err(unavailable)?;
        if let Some(hash) = &revoked {
            self.callers.void_key(hash);
        }
        Ok(revoked.is_some())
    }
}

/// The key that an account is made with, by the same commit; and its secret.
pub(super) fn first_key(context: &Context, account_id: &AccountId) -> (NewKey, String) {
    new_key(context, account_id, KeyRequest::named("first key"))
}

/// A key that is not stored yet, and its secret.
fn new_key(context: &Context, account_id: &AccountId, request: KeyRequest) -> (NewKey, String) {
    let secret = key::generate();
    let new = NewKey {
        id: context.ids().uuid(),
        account_id: account_id.to_string(),
        hash: key::hash(&secret),
        prefix: key::display_prefix(&secret),
        name: request.name,
        scopes: request.scopes.to_string(),
        now_ms: context.now_ms(),
        expires_ms: request.expires_ms,
        most: context.settings().limits.keys_per_account,
    };
    (new, secret)
}
