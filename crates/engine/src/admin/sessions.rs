//! Sessions of the console. A session is a key or an operator's token in another form: it can do what they can, and ends
//! when they do, because it is bound to their hash; so the token of the configuration is no exception. It also ends after a
//! while without use, and after a longer while in any case.

use std::collections::BTreeSet;
use std::sync::Arc;

use atelier_contract::{AccountId, Code, Refusal, Scopes};
use atelier_store::{OverdueSessions, SessionRow};

use super::callers::{Caller, Callers};
use super::key_request::{KeyHolder, KeyRequest};
use super::keys::Keys;
use super::operators::{Operator, Operators};
use crate::context::{Context, unavailable};
use crate::key;

/// A session that was not used for this long is over.
const IDLE_MS: i64 = 12 * 3_600_000;
/// A session is over after this long, however much it is used.
const MOST_MS: i64 = 7 * 24 * 3_600_000;
/// A link that nobody followed for this long leads nowhere.
const LINK_MS: i64 = 24 * 3_600_000;
/// A session or a link that was not used for this long is over, whichever it is.
pub(crate) const KEEP_MS: i64 = LINK_MS;
/// An operator looks at an account for this long at the most.
const VISIT_MS: i64 = 3_600_000;

/// Who a session stands for.
#[derive(Clone, Debug, Default)]
pub struct Principal {
    /// The caller, where the session stands for a key.
    pub caller: Option<Caller>,
    /// The operator, where it stands for a token.
    pub operator: Option<Operator>,
}

/// Credential that opens a session.
pub enum SessionCredential<'a> {
    /// A key, a token of a named operator, or the word of a link.
    Secret(&'a str),
    /// The token of the configuration, which was compared already, by its hash.
    Root(&'a str),
}

/// An operator's look at an account: a key that may only read, and the token that it ends with.
struct Impersonation {
    key_hash: String,
    bound_hash: String,
}

/// Sessions of the console.
pub struct Sessions {
    context: Arc<Context>,
    callers: Arc<Callers>,
    operators: Arc<Operators>,
    keys: Keys,
}

impl Sessions {
    pub(super) fn new(
        context: Arc<Context>,
        callers: Arc<Callers>,
        operators: Arc<Operators>,
    ) -> Self {
        Self {
            keys: Keys::new(context.clone(), callers.clone()),
            context,
            callers,
            operators,
        }
    }

    /// Opens a session; what the earlier one stands for, by the hash of the configuration's token, is kept beside it, and the
    /// earlier one ends. Whether a caller may is asked before anything is written.
    pub async fn open<E: From<Refusal>>(
        &self,
        opener: SessionCredential<'_>,
        earlier: Option<&str>,
        root_hash: &str,
        may: impl FnOnce(&Caller) -> Result<(), E>,
    ) -> Result<String, E> {
        let now_ms = self.context.now_ms();
        let word = key::generate_session();
        let mut new = SessionRow {
            hash: key::hash(&word),
            key_hash: None,
            operator_hash: None,
            bound_hash: None,
            link: false,
            created_ms: now_ms,
            seen_ms: now_ms,
        };
        let (mut replaces, mut caller) = (None, None);
        match opener {
            SessionCredential::Root(hash) => new.operator_hash = Some(hash.to_owned()),
            SessionCredential::Secret(secret) if key::well_formed_session(secret) => {
                let link = self.live(secret, true).await?.ok_or_else(wrong)?;
                if let Some(hash) = &link.key_hash {
                    caller = Some(self.callers.caller_of(hash).await?);
                }
                new.key_hash = link.key_hash;
                replaces = Some(link.hash);
            }
            SessionCredential::Secret(secret) if key::well_formed(secret) => {
                caller = Some(self.callers.authenticate(secret).await?);
                new.key_hash = Some(key::hash(secret));
            }
            SessionCredential::Secret(secret) => {
                self.operators.known(secret).await?.ok_or_else(wrong)?;
                new.operator_hash = Some(key::hash(secret));
            }
        }
        let mut act = None;
        if let Some(caller) = &caller {
            may(caller)?;
            let (account_id, by) = (&caller.account_id, &caller.key_id);
            act = Some(self.context.own_act(account_id, by, "session.open", by, ""));
        }
        if replaces.is_none()
            && let Some(earlier) = self.earlier(earlier, root_hash).await?
        {
            if new.key_hash.is_none() {
                (new.key_hash, new.bound_hash) = (earlier.key_hash, earlier.bound_hash);
            }
            new.operator_hash = new.operator_hash.or(earlier.operator_hash);
            replaces = Some(earlier.hash);
        }
        let opened = self
            .context
            .store()
            .sessions()
            .open(new, replaces.as_deref(), act)
            .await;
        if !opened.map_err(unavailable)? {
            return Err(wrong().into());
        }
        Ok(word)
    }

    /// Lets an operator look at an account with its own eyes: a key that may only read, for an hour, stands beside the
    /// operator in a new session that takes the place of the earlier one.
    pub async fn visit(
        &self,
        by: &Operator,
        account_id: &AccountId,
        earlier: Option<&str>,
        root_hash: &str,
    ) -> Result<String, Refusal> {
        let request = KeyRequest {
            scopes: Scopes::of_words(["read"]).unwrap_or(Scopes::NONE),
            expires_ms: Some(self.context.now_ms() + VISIT_MS),
            ..KeyRequest::named(&format!("looked at by {}", by.name))
        };
        let holder = KeyHolder::Visitor(&by.name);
        let (_, secret) = self.keys.issue(account_id, request, holder).await?;
        let look = Impersonation {
            key_hash: key::hash(&secret),
            bound_hash: by.hash.clone(),
        };
        let earlier = self.earlier(earlier, root_hash).await?;
        self.stand_beside(Some(look), earlier).await
    }

    /// Ends such a look: what is left is the operator.
    pub async fn end_visit(&self, word: &str) -> Result<String, Refusal> {
        let earlier = self.live(word, false).await?;
        self.stand_beside(None, earlier).await
    }

    /// A new session with a look, or without any, beside the operator of the earlier one.
    async fn stand_beside(
        &self,
        look: Option<Impersonation>,
        earlier: Option<SessionRow>,
    ) -> Result<String, Refusal> {
        let (now_ms, word) = (self.context.now_ms(), key::generate_session());
        let (key_hash, bound_hash) = look.map(|look| (look.key_hash, look.bound_hash)).unzip();
        let new = SessionRow {
            hash: key::hash(&word),
            key_hash,
            operator_hash: earlier.as_ref().and_then(|row| row.operator_hash.clone()),
            bound_hash,
            link: false,
            created_ms: earlier.as_ref().map_or(now_ms, |row| row.created_ms),
            seen_ms: now_ms,
        };
        let replaces = earlier.map(|row| row.hash);
        let store = self.context.store();
        let opened = store.sessions().open(new, replaces.as_deref(), None).await;
        if !opened.map_err(unavailable)? {
            return Err(wrong());
        }
        Ok(word)
    }

    /// A word that opens a session for a key once, to be put into a link.
    pub async fn link(&self, secret: &str) -> Result<String, Refusal> {
        let word = key::generate_session();
        let now_ms = self.context.now_ms();
        let row = SessionRow {
            hash: key::hash(&word),
            key_hash: Some(key::hash(secret)),
            operator_hash: None,
            bound_hash: None,
            link: true,
            created_ms: now_ms,
            seen_ms: now_ms,
        };
        self.context
            .store()
            .sessions()
            .open(row, None, None)
            .await
            .map_err(unavailable)?;
        Ok(word)
    }

    /// Who a session stands for, by the hash of the configuration's token; nobody when it is over, or when its key or
    /// token is. An operator whose token is over leaves nothing behind, not even an account beside it.
    pub async fn visitor(&self, word: &str, root_hash: &str) -> Result<Option<Principal>, Refusal> {
        let visitor = match self.live(word, false).await? {
            Some(row) => self.stands_for(&row, root_hash).await?,
            None => None,
        };
        let hash = key::hash(word);
        if visitor.is_some() {
            self.touch(hash);
        } else {
            self.callers.unlearn(&hash);
        }
        Ok(visitor)
    }

    /// Who the row of a session stands for.
    async fn stands_for(
        &self,
        row: &SessionRow,
        root_hash: &str,
    ) -> Result<Option<Principal>, Refusal> {
        let mut visitor = Principal::default();
        let tokens = row.operator_hash.iter().chain(&row.bound_hash);
        // What goes on for longer than a request looks again at these; the configuration's token ends with the process alone.
        let mut bound = Vec::new();
        for hash in tokens.collect::<BTreeSet<_>>() {
            let Some(operator) = self.operator(hash, root_hash).await? else {
                return Ok(None);
            };
            if row.operator_hash.as_ref() == Some(hash) {
                visitor.operator = Some(operator);
            }
            if hash != root_hash {
                bound.push(hash.clone());
            }
        }
        if let Some(hash) = &row.key_hash {
            visitor.caller = match self.callers.caller_of(hash).await {
                Ok(caller) => Some(caller.bound_to(bound)),
                Err(refusal) if refusal.code == Code::Unauthorized => None,
                Err(refusal) => return Err(refusal),
            };
        }
        let somebody = visitor.caller.is_some() || visitor.operator.is_some();
        Ok(somebody.then_some(visitor))
    }

    /// An earlier session with what it still stands for. A key or a token that is over is left out: it would take whatever is
    /// opened beside it along.
    async fn earlier(
        &self,
        word: Option<&str>,
        root_hash: &str,
    ) -> Result<Option<SessionRow>, Refusal> {
        let Some(word) = word else {
            return Ok(None);
        };
        let Some(mut row) = self.live(word, false).await? else {
            return Ok(None);
        };
        let visitor = self.stands_for(&row, root_hash).await?.unwrap_or_default();
        if visitor.caller.is_none() {
            (row.key_hash, row.bound_hash) = (None, None);
        }
        if visitor.operator.is_none() {
            row.operator_hash = None;
        }
        Ok(Some(row))
    }

    /// Ends a session, or with it all that stand for the same key or operator.
    pub async fn close(&self, word: &str, everywhere: bool) -> Result<(), Refusal> {
        let closed = self
            .context
            .store()
            .sessions()
            .close(&key::hash(word), everywhere)
            .await;
        closed.map(|_| ()).map_err(unavailable)
    }

    /// Ends every session and link that is over by then, or the clock would bring them back when it is set back; how many.
    pub(crate) async fn end_overdue(&self, now_ms: i64) -> Result<u64, atelier_store::Error> {
        let overdue = OverdueSessions {
            links: now_ms - LINK_MS,
            opened: now_ms - MOST_MS,
            seen: now_ms - IDLE_MS,
        };
        self.context.store().sessions().end_overdue(overdue).await
    }

    /// What a page must send beside its session with everything that changes something.
    pub fn proof(&self, word: &str) -> String {
        self.context.keyring().session_proof(word)
    }

    /// The operator behind the hash of a token, also of the configuration's.
    async fn operator(&self, hash: &str, root_hash: &str) -> Result<Option<Operator>, Refusal> {
        if hash == root_hash {
            return Ok(Some(Operator::root(root_hash)));
        }
        self.operators.of_hash(hash).await
    }

    async fn live(&self, word: &str, link: bool) -> Result<Option<SessionRow>, Refusal> {
        if !key::well_formed_session(word) {
            return Ok(None);
        }
        let found = self.context.store().sessions().find(&key::hash(word)).await;
        let now_ms = self.context.now_ms();
        let lives = |row: &SessionRow| {
            let age_ms = now_ms - row.created_ms;
            let fresh = if link {
                age_ms < LINK_MS
            } else {
                age_ms < MOST_MS && now_ms - row.seen_ms < IDLE_MS
            };
            row.link == link && fresh
        };
        Ok(found.map_err(unavailable)?.filter(lives))
    }

    fn touch(&self, hash: String) {
        let now_ms = self.context.now_ms();
        if !self.callers.is_touch_due(&hash) {
            return;
        }
        let store = self.context.store().clone();
        self.context.tasks().spawn(async move {
            if let Err(error) = store.sessions().touch(&hash, now_ms).await {
                tracing::debug!(%error, "the last use of a session could not be stored");
            }
        });
    }
}

fn wrong() -> Refusal {
    Refusal::new(
        Code::Unauthorized,
        "this is no key, operator's token or link that works",
    )
}
