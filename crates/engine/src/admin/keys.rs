//! Keys: issued, listed and revoked, by their account or by an operator.

use std::collections::HashMap;
use std::sync::Arc;

use atelier_contract::pages::keys::KeyTerms;
use atelier_contract::{AccountId, Code, Refusal, Scopes};
use atelier_store::{
    AddKeyOutcome, AuditRow, Key, KeyChange, KeyChangeOutcome, KeyRotation, KeySpending, NewKey,
    RotateOutcome,
};

use super::callers::{Caller, Callers};
use super::key_terms::{stored_terms, to_store};
use crate::context::{Context, unavailable};
use crate::crash;
use crate::key;

/// Keys below an account's first one.
const LEVELS: usize = 3;
/// How often a change is tried that others cross.
const CROSSED_MOST: usize = 3;

/// What a key shall be.
#[derive(Clone, Debug)]
pub struct KeyRequest {
    /// A name by which its owner tells keys apart.
    pub name: String,
    /// What it may do.
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
            AddKeyOutcome::OlderNode(node) => Err(older_node(&node)),
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
            check_change(&keys, seen, &wanted, (by, now_ms))?;
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
                KeyChangeOutcome::OlderNode(node) => return Err(older_node(&node).into()),
            }
        }
        let message = "the key is being changed by somebody else; look at it again";
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

/// Whether a key is another one or below it.
fn is_related(key: &Key, own: &str) -> bool {
    key.id == own || key.ancestors().any(|id| id == own)
}

/// Keys of an account that its owner is shown.
fn without_visits(mut keys: Vec<Key>) -> Vec<Key> {
    keys.retain(|key| !key.id.starts_with(VISIT));
    keys
}

/// A key that whoever acts may change: an operator any; a key itself and those below it; and one that is below none, is limited by
/// nothing and does not end all others of the account that may do no more than it does.
fn managed<'a>(keys: &'a [Key], key_id: &str, by: KeyHolder<'_>) -> Result<&'a Key, Refusal> {
    let found = keys
        .iter()
        .find(|key| key.id == key_id)
        .ok_or_else(no_key)?;
    let KeyHolder::Caller(caller) = by else {
        return Ok(found);
    };
    let own = keys.iter().find(|key| key.id == *caller.key_id);
    // One that ends would outlive its end with the secret of one that does not.
    let is_free = own
        .is_some_and(|own| own.above.is_none() && own.terms.is_free() && own.expires_ms.is_none());
    let scopes = Scopes::parse(&found.scopes).unwrap_or(Scopes::NONE);
    if is_related(found, &caller.key_id) || (is_free && caller.scopes.cover(scopes)) {
        return Ok(found);
    }
    let message = "a key changes itself and the keys below it, and no other";
    Err(Refusal::new(Code::Forbidden, message))
}

/// Refuses a change that allows more than the keys above do, or that a key would allow itself.
fn check_change(
    keys: &[Key],
    seen: &Key,
    wanted: &KeyRequest,
    (by, now_ms): (KeyHolder<'_>, i64),
) -> Result<(), Refusal> {
    let moved = wanted.expires_ms != seen.expires_ms;
    if moved && wanted.expires_ms.is_some_and(|end_ms| end_ms <= now_ms) {
        return Err(Refusal::invalid("expiresAt", "must be in the future"));
    }
    let above = seen
        .ancestors()
        .filter_map(|id| keys.iter().find(|key| key.id == id));
    check_line(wanted, Some(seen), above)?;
    let KeyHolder::Caller(caller) = by else {
        return Ok(());
    };
    let before = Scopes::parse(&seen.scopes).unwrap_or(Scopes::NONE);
    if !caller.scopes.cover(wanted.scopes) && wanted.scopes != before {
        let message = format!("this key may give {} at most", caller.scopes);
        return Err(Refusal::field(Code::Forbidden, "scopes", message));
    }
    if seen.id == *caller.key_id {
        // By its row as well as by the caller: another node may have taken scopes away a moment ago.
        if !before.cover(wanted.scopes) {
            let message = "a key gives itself no scope";
            return Err(Refusal::field(Code::Forbidden, "scopes", message));
        }
        let later = match (wanted.expires_ms, seen.expires_ms) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(new), Some(old)) => new > old,
        };
        if later {
            let message = "a key does not let itself work for longer";
            return Err(Refusal::field(Code::Forbidden, "expiresAt", message));
        }
        wanted.terms.check_narrower(&stored_terms(seen)?)?;
    }
    Ok(())
}

/// Refuses what allows more than one of the keys above does. What stays as it was is not judged again: a key above may have been
/// narrowed since, and limits this one all the same.
fn check_line<'a>(
    request: &KeyRequest,
    seen: Option<&Key>,
    mut above: impl Iterator<Item = &'a Key>,
) -> Result<(), Refusal> {
    let terms = match seen {
        Some(seen) => request.terms.changed_since(&stored_terms(seen)?),
        None => request.terms.clone(),
    };
    let moved = seen.is_none_or(|seen| seen.expires_ms != request.expires_ms);
    let rescoped = seen.is_none_or(|seen| Scopes::parse(&seen.scopes) != Some(request.scopes));
    above.try_for_each(|key| {
        let outlasts = key
            .expires_ms
            .is_some_and(|end_ms| request.expires_ms.is_none_or(|own_ms| own_ms > end_ms));
        if moved && outlasts {
            let message = "is later than that of the key above it";
            return Err(Refusal::field(Code::Forbidden, "expiresAt", message));
        }
        let most = Scopes::parse(&key.scopes).unwrap_or(Scopes::NONE);
        if rescoped && !most.cover(request.scopes) {
            let message = format!("the key above it may do {most} at most");
            return Err(Refusal::field(Code::Forbidden, "scopes", message));
        }
        terms.check_below(&stored_terms(key)?)
    })
}

fn no_key() -> Refusal {
    Refusal::new(Code::NotFound, "no such key")
}

fn older_node(node: &str) -> Refusal {
    let message = format!(
        "the node {node} runs an older release that keeps to no limits of keys; upgrade or stop it first"
    );
    Refusal::new(Code::Conflict, message)
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
