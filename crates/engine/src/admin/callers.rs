//! Key to account: one hash, one look into a small cache whose entries live a second, else one indexed read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use atelier_contract::{AccountId, Code, Refusal, Scopes};
use quick_cache::sync::Cache;
use tokio::time::timeout;

use super::key_terms::KeyPolicy;
use crate::context::{Context, unavailable};
use crate::hint::Hint;
use crate::key;
use crate::tracer::TraceContext;

/// How long a key is believed without asking the store again.
const BELIEVED_MS: i64 = 1_000;
/// How long the store is asked about a key: whoever calls is answered in time, whatever is silent.
const ASKED_WITHIN: Duration = Duration::from_secs(3);
/// How many keys are remembered.
const REMEMBERED: usize = 10_000;
/// A key's last use is written down at most this often.
const TOUCH_MS: i64 = 60_000;

/// The account behind a call, and the key it came with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The account whose jobs and quota the call is about.
    pub account_id: AccountId,
    /// The key it came with.
    pub key_id: Arc<str>,
    /// The keys above that one, the first one first, with spaces between them.
    pub key_above: Option<Arc<str>>,
    /// The account's group in lower case; `None` of the one that all begin in.
    pub group: Option<Arc<str>>,
    /// What that key may do.
    pub scopes: Scopes,
    /// What it and those above it allow; `None` for everything.
    pub policy: Option<Arc<KeyPolicy>>,
    /// What its caller tags the call with, as JSON; nobody remembers it beyond that.
    pub tags: Option<Arc<str>>,
    /// The trace that its call belongs to; nobody remembers it beyond that.
    pub trace: Option<TraceContext>,
    /// Whether its call came through somebody in between of whom nobody told the service; nobody remembers it either.
    pub outside: bool,
    /// The hash of that key, to look whether it still works.
    hash: Arc<str>,
    /// The hashes of operators' tokens that it stands for nothing without: of a session that an operator looks with.
    bound: Option<Arc<[String]>>,
}

impl Caller {
    /// The same, for as long as these operators' tokens work.
    pub(super) fn bound_to(self, tokens: Vec<String>) -> Self {
        Self {
            bound: (!tokens.is_empty()).then(|| tokens.into()),
            ..self
        }
    }
}

/// A caller and for how long nobody has to ask about its key again.
#[derive(Clone, Debug)]
pub struct CachedCaller {
    /// The caller as it was when its key was looked up.
    pub caller: Caller,
    until_ms: i64,
    /// What had been voided when the key was looked at.
    voids: u64,
}

/// Callers by the hash of their key, as they were seen lately.
struct CallerCache {
    /// By hash, until when they are believed.
    known: Cache<Arc<str>, (Caller, i64)>,
    /// Keys by hash and accounts by id that were changed, and when.
    voided: Cache<String, i64>,
    /// When a use was last written down, by the id of a key or the hash of an operator's token or a session.
    touched: Cache<String, i64>,
    /// How many times anything was voided; whoever remembers a caller by itself believes nothing from before the last.
    voids: AtomicU64,
}

impl Default for CallerCache {
    fn default() -> Self {
        Self {
            known: Cache::new(REMEMBERED),
            voided: Cache::new(REMEMBERED),
            touched: Cache::new(REMEMBERED),
            voids: AtomicU64::new(0),
        }
    }
}

impl CallerCache {
    /// Forgets one key: it was revoked.
    fn void_key(&self, hash: &str, now_ms: i64) {
        self.voided.insert(hash.to_owned(), now_ms);
        self.known.remove(hash);
        self.voids.fetch_add(1, Ordering::SeqCst);
    }

    /// Forgets the keys of one account: what holds for all of them was changed.
    fn void_account(&self, account_id: &AccountId, now_ms: i64) {
        self.voided.insert(account_id.to_string(), now_ms);
        self.known
            .retain(|_, (caller, _)| caller.account_id != *account_id);
        self.voids.fetch_add(1, Ordering::SeqCst);
    }

    /// Believes a key that the store was asked about at a time.
    fn believe(&self, caller: &Caller, asked_ms: i64, until_ms: i64) {
        let entry = (caller.clone(), until_ms);
        self.known.insert(Arc::clone(&caller.hash), entry);
        // Looked at after the insert, so that a change while we were asking is missed in neither order.
        let changed = |name: &str| self.voided.get(name).is_some_and(|at_ms| at_ms >= asked_ms);
        if changed(&caller.hash) || changed(&caller.account_id) {
            self.known.remove(&caller.hash);
        }
    }

    /// Whether a key, token or session was known lately; whoever guesses cannot make one up that was.
    fn knew(&self, hash: &str) -> bool {
        self.known.get(hash).is_some() || self.touched.get(hash).is_some()
    }

    /// In whose name one that was known lately is looked up again: a key's account has one, however many keys it has.
    fn holder(&self, hash: String) -> Option<Arc<str>> {
        if let Some((caller, _)) = self.known.get(hash.as_str()) {
            return Some(Arc::clone(caller.account_id.shared()));
        }
        self.touched.get(&hash).map(|_| hash.into())
    }

    /// A key, token or session turned out to be nobody's, whoever's it was.
    fn unlearn(&self, hash: &str) {
        self.known.remove(hash);
        self.touched.remove(hash);
    }

    /// Whether it is time to write down that a key or operator was used.
    fn is_touch_due(&self, id: &str, now_ms: i64) -> bool {
        let lately = |last: i64| now_ms - last < TOUCH_MS;
        if self.touched.get(id).is_some_and(lately) {
            return false;
        }
        self.touched.insert(id.to_owned(), now_ms);
        true
    }
}

/// Knows callers by their keys.
pub struct Callers {
    context: Arc<Context>,
    cache: CallerCache,
}

impl Callers {
    pub(super) fn new(context: Arc<Context>) -> Self {
        Self {
            context,
            cache: CallerCache::default(),
        }
    }

    /// The caller behind a key.
    pub async fn authenticate(&self, key: &str) -> Result<Caller, Refusal> {
        Ok(self.believe(key).await?.caller)
    }

    /// The caller behind a key, and for how long whoever remembers both may go on believing it.
    pub async fn believe(&self, key: &str) -> Result<CachedCaller, Refusal> {
        if !key::well_formed(key) {
            return Err(wrong_key());
        }
        // Read before the key is looked at, so that whatever is voided meanwhile counts as later.
        let voids = self.cache.voids.load(Ordering::SeqCst);
        let (caller, until_ms) = self.looked_up(&key::hash(key)).await?;
        Ok(CachedCaller {
            caller,
            until_ms,
            voids,
        })
    }

    /// A caller as its account and its keys are now: while a long body was read, the account may have got another group, or the key
    /// may have been limited or revoked.
    pub async fn refreshed(&self, caller: &Caller) -> Result<Caller, Refusal> {
        let now = self.caller_of(&caller.hash).await?;
        Ok(Caller {
            group: now.group,
            policy: now.policy,
            ..caller.clone()
        })
    }

    /// Whether a caller may still be believed: its time is not over, and nothing was voided since, whoever's it was.
    pub fn still_believed(&self, believed: &CachedCaller) -> bool {
        believed.voids == self.cache.voids.load(Ordering::SeqCst)
            && believed.until_ms > self.context.steady_ms()
    }

    /// Whether the key of a caller still works, and the operators' tokens that it is bound to; a store that is away for a moment
    /// says nothing against it.
    pub async fn still_known(&self, caller: &Caller) -> bool {
        if let Err(refusal) = self.caller_of(&caller.hash).await {
            return refusal.code != Code::Unauthorized;
        }
        for hash in caller.bound.iter().flat_map(|tokens| tokens.iter()) {
            let found = self.context.store().admin().operator_for_token(hash);
            if let Ok(Ok(None)) = timeout(ASKED_WITHIN, found).await {
                return false;
            }
        }
        true
    }

    /// Whether a key, an operator's token or a session was known here lately.
    pub fn knew_lately(&self, secret: &str) -> bool {
        self.cache.knew(&key::hash(secret))
    }

    /// In whose name a key, an operator's token or a session that was known here lately is looked up again.
    pub fn holder_lately(&self, secret: &str) -> Option<Arc<str>> {
        self.cache.holder(key::hash(secret))
    }

    /// A key, token or session by its hash turned out to be nobody's.
    pub(super) fn unlearn(&self, hash: &str) {
        self.cache.unlearn(hash);
    }

    pub(super) async fn caller_of(&self, hash: &str) -> Result<Caller, Refusal> {
        Ok(self.looked_up(hash).await?.0)
    }

    /// The caller behind the hash of a key, and until when it is believed.
    async fn looked_up(&self, hash: &str) -> Result<(Caller, i64), Refusal> {
        let steady_ms = self.context.steady_ms();
        if let Some((caller, until_ms)) = self.cache.known.get(hash)
            && until_ms > steady_ms
        {
            return Ok((caller, until_ms));
        }
        let now_ms = self.context.now_ms();
        let found = self.context.store().keys().account_for(hash, now_ms);
        let found = timeout(ASKED_WITHIN, found).await;
        let found = found.unwrap_or(Err(atelier_store::Error::Busy));
        let found = found.map_err(unavailable)?;
        let verified = found.filter(|(account, _)| account.email_verified_ms.is_some());
        let Some((account, (key, above))) = verified else {
            self.unlearn(hash);
            return Err(wrong_key());
        };
        let Some(scopes) = Scopes::parse(&key.scopes) else {
            tracing::error!(
                key = key.id,
                scopes = key.scopes,
                "a key has unknown scopes"
            );
            return Err(wrong_key());
        };
        // Whatever is written in its own row: it may do no more than each of those above it may now.
        let scopes = above.iter().fold(scopes, |scopes, one| {
            scopes.common(Scopes::parse(&one.scopes).unwrap_or(Scopes::NONE))
        });
        let policy = KeyPolicy::of(std::iter::once(&key).chain(above.iter().rev()))?;
        let ends = above.iter().filter_map(|one| one.expires_ms);
        let ends_ms = ends.chain(key.expires_ms).min();
        let caller = Caller {
            account_id: account.id,
            group: account.group.map(Into::into),
            key_id: key.id.into(),
            key_above: key.above.map(Arc::from),
            scopes,
            policy,
            tags: None,
            trace: None,
            outside: false,
            hash: hash.into(),
            bound: None,
        };
        let left_ms = ends_ms.map_or(BELIEVED_MS, |end_ms| end_ms - now_ms);
        let until_ms = steady_ms + left_ms.min(BELIEVED_MS);
        self.cache.believe(&caller, steady_ms, until_ms);
        self.touch(&caller.key_id, now_ms);
        Ok((caller, until_ms))
    }

    /// Another node says that a key was revoked.
    pub(crate) fn forget_key(&self, hash: &str) {
        self.cache.void_key(hash, self.context.steady_ms());
    }

    /// Another node says that an account was changed.
    pub(crate) fn forget_account(&self, id: &AccountId) {
        self.cache.void_account(id, self.context.steady_ms());
    }

    /// Whether it is time to write down that a key, operator or session was used.
    pub(super) fn is_touch_due(&self, id: &str) -> bool {
        self.cache.is_touch_due(id, self.context.steady_ms())
    }

    /// A key was revoked: nobody may believe it any longer.
    pub(super) fn void_key(&self, hash: &str) {
        self.forget_key(hash);
        self.context.broadcast(Hint::Key(hash.to_owned()));
    }

    /// What holds for all keys of an account was changed: none of them may be believed without asking.
    pub(super) fn void_account(&self, id: &AccountId) {
        self.forget_account(id);
        self.context.broadcast(Hint::Account(id.clone()));
    }

    fn touch(&self, key_id: &str, now_ms: i64) {
        if !self.is_touch_due(key_id) {
            return;
        }
        let (store, key_id) = (self.context.store().clone(), key_id.to_owned());
        self.context.tasks().spawn(async move {
            if let Err(error) = store.keys().touch(&key_id, now_ms).await {
                tracing::debug!(%error, "the last use of a key could not be stored");
            }
        });
    }
}

fn wrong_key() -> Refusal {
    Refusal::new(
        Code::Unauthorized,
        "Wrong SVC-API-KEY or email is not activated.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(account_id: &str, hash: &str) -> Caller {
        Caller {
            account_id: account_id.into(),
            group: None,
            key_id: format!("key of {hash}").into(),
            key_above: None,
            scopes: Scopes::ALL,
            policy: None,
            tags: None,
            trace: None,
            outside: false,
            hash: hash.into(),
            bound: None,
        }
    }

    fn knows(cache: &CallerCache, hash: &str) -> bool {
        cache.known.get(hash).is_some()
    }

    #[test]
    fn a_revoked_key_is_forgotten_alone() {
        let cache = CallerCache::default();
        for (account, hash) in [("a", "a1"), ("a", "a2"), ("b", "b1")] {
            cache.believe(&caller(account, hash), 10, 1_010);
        }
        cache.void_key("a1", 20);
        assert!(!knows(&cache, "a1") && knows(&cache, "a2") && knows(&cache, "b1"));
        cache.void_account(&"a".into(), 20);
        assert!(!knows(&cache, "a2") && knows(&cache, "b1"));
        assert_eq!(
            cache.voids.load(Ordering::SeqCst),
            2,
            "who remembers a caller by itself learns of both"
        );
    }

    /// The promise: who is no longer believed without a look is known all the same, until the look says otherwise.
    #[test]
    fn what_was_known_lately_is_told_from_what_is_made_up() {
        let cache = CallerCache::default();
        cache.believe(&caller("a", "a1"), 10, 20);
        assert!(cache.is_touch_due("a token", 10));
        assert!(cache.knew("a1") && cache.knew("a token") && !cache.knew("made up"));
        let holder = |hash: &str| cache.holder(hash.to_owned());
        assert_eq!(holder("a1").as_deref(), Some("a"), "its account");
        assert_eq!(holder("a token").as_deref(), Some("a token"));
        assert_eq!(holder("made up"), None);
        for gone in ["a1", "a token"] {
            cache.unlearn(gone);
            assert!(!cache.knew(gone), "{gone}");
        }
    }

    #[test]
    fn a_key_that_was_revoked_while_the_store_was_asked_is_not_believed() {
        let cache = CallerCache::default();
        cache.void_key("a1", 20);
        cache.void_account(&"b".into(), 20);
        cache.believe(&caller("a", "a1"), 20, 1_020);
        cache.believe(&caller("b", "b1"), 20, 1_020);
        assert!(!knows(&cache, "a1") && !knows(&cache, "b1"));
        // Asked later, the answer already knew of the change.
        cache.believe(&caller("b", "b1"), 21, 1_021);
        assert!(knows(&cache, "b1"));
    }
}
