//! Keys: issued, listed and revoked, by their account or by an operator.

use std::collections::HashMap;
use std::sync::Arc;

use atelier_contract::{AccountId, Code, Refusal, Scopes};
use atelier_store::{
    AddKeyOutcome, Key, KeyChange, KeyChangeOutcome, KeyRotation, KeySpending, NewKey,
    RotateOutcome,
};

use super::callers::{Caller, Callers};
use super::key_judgement::{check_change, check_end, check_line, is_related, managed};
use super::key_request::{KeyEdit, KeyHolder, KeyRequest, no_key};
use super::key_terms::to_store;
use super::registry::older_node;
use crate::context::{Context, unavailable};
use crate::crash;
use crate::key;

/// Keys below an account's first one.
const LEVELS: usize = 3;
/// Why an older release may not work beside limited keys.
const LACKS: &str = "keeps to no limits of keys";
/// How often a change is tried that others cross.
const CROSSED_MOST: usize = 3;

/// The identifiers of keys of visits begin with this. Such a key is part of a session; nobody is shown it.
const VISIT: &str = "visit-";

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

    /// A new key that a caller issues for its own account, shown this once; its id and the key. It is below the caller's key.
    /// Whether it may is asked when nothing else speaks against it.
    pub async fn issue_own<E: From<Refusal>>(
        &self,
        caller: &Caller,
        mut request: KeyRequest,
        may: impl FnOnce() -> Result<(), E>,
    ) -> Result<(String, String), E> {
        let by = KeyHolder::Caller(caller);
        self.check(&request, by)?;
        let keys = self.working(&caller.account_id).await?;
        if line_of(caller).count() > LEVELS {
            let message = format!(
                "keys are {LEVELS} levels deep below an account's first one; this one is the last"
            );
            return Err(Refusal::new(Code::Forbidden, message).into());
        }
        let above: Vec<&Key> = line_of(caller)
            .filter_map(|id| keys.iter().find(|key| key.id == id))
            .collect();
        let ends_ms = above.iter().filter_map(|key| key.expires_ms).min();
        request.expires_ms = request.expires_ms.or(ends_ms);
        check_line(&request, None, above.into_iter())?;
        if keys.len() as i64 >= self.most() {
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
        check_end(request.expires_ms, self.context.now_ms())
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
        if let KeyHolder::Caller(caller) = by {
            new.above = Some(line_of(caller).collect::<Vec<_>>().join(" "));
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
            AddKeyOutcome::NoParent => Err(Refusal::new(
                Code::Conflict,
                "the key that issues it works no more",
            )),
            AddKeyOutcome::OlderNode(node) => Err(older_node(&node, LACKS)),
            AddKeyOutcome::NoAccount => Err(Refusal::new(Code::NotFound, "no such account")),
        }
    }

    /// Changes a key of an account, on every node at once. What it has spent stays counted. Whether it may is asked once, when
    /// nothing else speaks against it.
    pub async fn change<E: From<Refusal>>(
        &self,
        account_id: &AccountId,
        key_id: &str,
        edit: KeyEdit<'_>,
        by: KeyHolder<'_>,
        may: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let mut may = Some(may);
        for _ in 0..CROSSED_MOST {
            let keys = self.working(account_id).await?;
            let seen = managed(&keys, key_id, by)?;
            let wanted = edit(seen)?;
            let now_ms = self.context.now_ms();
            if wanted.expires_ms != seen.expires_ms {
                check_end(wanted.expires_ms, now_ms)?;
            }
            check_change(&keys, seen, &wanted, by)?;
            may.take().map_or(Ok(()), |may| may())?;
            let mut after = seen.clone();
            after.name = wanted.name;
            after.scopes = wanted.scopes.to_string();
            after.expires_ms = wanted.expires_ms;
            after.terms = to_store(&wanted.terms);
            after.note = wanted.note;
            let change = KeyChange {
                seen: seen.clone(),
                wanted: after,
                now_ms,
                alive_since_ms: self.context.alive_since_ms(),
            };
            let act = Some(by.act(&self.context, "key.change", account_id, key_id));
            let changed = self.context.store().keys().change(change, act).await;
            crash::point("admin.acted");
            match changed.map_err(unavailable)? {
                KeyChangeOutcome::Done(_) => {
                    // Keys below it are believed with what it allowed, too.
                    self.callers.void_account(account_id);
                    return Ok(());
                }
                KeyChangeOutcome::Crossed => {}
                KeyChangeOutcome::NoKey => return Err(no_key().into()),
                KeyChangeOutcome::OlderNode(node) => return Err(older_node(&node, LACKS).into()),
            }
        }
        let message = "the key was changed meanwhile; read it again";
        Err(Refusal::new(Code::Conflict, message).into())
    }

    /// A new secret for a key of an account, shown this once; the old one works for so many seconds more. What the key is, has
    /// spent and has below it stays. Whether it may is asked when nothing else speaks against it.
    pub async fn rotate<E: From<Refusal>>(
        &self,
        account_id: &AccountId,
        key_id: &str,
        overlap_s: i64,
        by: KeyHolder<'_>,
        may: impl FnOnce() -> Result<(), E>,
    ) -> Result<String, E> {
        let keys = self.working(account_id).await?;
        let seen = managed(&keys, key_id, by)?;
        let scopes = Scopes::parse(&seen.scopes).unwrap_or(Scopes::NONE);
        if !by.scopes().cover(scopes) {
            let message = "a key gets no secret of a key that may do more than it does";
            return Err(Refusal::new(Code::Forbidden, message).into());
        }
        may()?;
        let (secret, now_ms) = (key::generate(), self.context.now_ms());
        let rotation = KeyRotation {
            account_id: account_id.to_string(),
            key_id: key_id.to_owned(),
            hash: key::hash(&secret),
            prefix: key::display_prefix(&secret),
            old_id: self.context.ids().uuid(),
            old_until_ms: now_ms + overlap_s * 1000,
            now_ms,
            most: self.most(),
        };
        let act = Some(by.act(&self.context, "key.rotate", account_id, key_id));
        let rotated = self.context.store().keys().rotate(rotation, act).await;
        crash::point("admin.acted");
        match rotated.map_err(unavailable)? {
            RotateOutcome::Done(old) => {
                self.callers.void_key(&old);
                Ok(secret)
            }
            RotateOutcome::TooMany => Err(self.too_many().into()),
            RotateOutcome::NoKey => Err(no_key().into()),
        }
    }

    /// What the keys of an account hold and have spent in the windows of their limits.
    pub async fn spending(&self, account_id: &AccountId) -> Result<Vec<KeySpending>, Refusal> {
        let now_ms = self.context.now_ms();
        let spending = self.context.store().keys().spending(account_id, now_ms);
        spending.await.map_err(unavailable)
    }

    fn most(&self) -> i64 {
        self.context.settings().limits.keys_per_account
    }

    fn too_many(&self) -> Refusal {
        let most = self.most();
        let message = format!("an account has at most {most} keys that work; revoke one");
        Refusal::new(Code::Conflict, message)
    }

    /// The keys of an account, without their secrets, and without those of visits; of those that have ended the latest.
    pub async fn list(&self, account_id: &AccountId) -> Result<Vec<Key>, Refusal> {
        let keys = self.context.store().keys();
        let listed = keys.list(account_id, self.context.now_ms()).await;
        listed.map(without_visits).map_err(unavailable)
    }

    /// Those that a caller is shown: a key that another one made sees itself and those below it.
    pub async fn list_own(&self, caller: &Caller) -> Result<Vec<Key>, Refusal> {
        let mut keys = self.list(&caller.account_id).await?;
        if caller.key_above.is_some() {
            keys.retain(|key| is_related(key, &caller.key_id));
        }
        Ok(keys)
    }

    /// Those that work.
    async fn working(&self, account_id: &AccountId) -> Result<Vec<Key>, Refusal> {
        let keys = self.context.store().keys();
        let working = keys.working(account_id, self.context.now_ms()).await;
        working.map(without_visits).map_err(unavailable)
    }

    /// The names of some keys of an account by their identifiers, of revoked ones as well.
    pub async fn names(
        &self,
        account_id: &AccountId,
        ids: &[&str],
    ) -> Result<HashMap<String, String>, Refusal> {
        let names = self.context.store().keys().names(account_id, ids).await;
        Ok(names.map_err(unavailable)?.into_iter().collect())
    }

    /// Revokes a key of an account and all below it, on every node at once; whether it was there.
    pub async fn revoke(
        &self,
        account_id: &AccountId,
        key_id: &str,
        by: KeyHolder<'_>,
    ) -> Result<bool, Refusal> {
        let keys = self.list(account_id).await?;
        if !keys.iter().any(|key| key.id == key_id) {
            return Ok(false);
        }
        if matches!(by, KeyHolder::Caller(caller) if caller.key_above.is_some()) {
            managed(&keys, key_id, by)?;
        }
        let act = Some(by.act(&self.context, "key.revoke", account_id, key_id));
        let revoked = self
            .context
            .store()
            .keys()
            .revoke(account_id, key_id, self.context.now_ms(), act)
            .await
            .map_err(unavailable)?;
        for hash in &revoked {
            self.callers.void_key(hash);
        }
        Ok(!revoked.is_empty())
    }
}

/// The keys above one that a caller makes, the first one first; the last is the caller's own.
fn line_of(caller: &Caller) -> impl Iterator<Item = &str> {
    let above = caller.key_above.iter().flat_map(|above| above.split(' '));
    above.chain(std::iter::once(&*caller.key_id))
}

/// Keys of an account that its owner is shown.
fn without_visits(mut keys: Vec<Key>) -> Vec<Key> {
    keys.retain(|key| !key.id.starts_with(VISIT));
    keys
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
        above: None,
        terms: to_store(&request.terms),
        note: request.note,
        alive_since_ms: context.alive_since_ms(),
    };
    (new, secret)
}
