//! Sessions of the console. A session is a key or an operator's token in another form: it can do what they can, and ends
//! when they do, because it is bound to their hash; so the token of the configuration is no exception. It also ends after a
//! while without use, and after a longer while in any case.

use std::collections::BTreeSet;
use std::sync::Arc;

use atelier_contract::{AccountId, Code, Refusal, Scopes};
use atelier_store::{Membership, OverdueSessions, PersonSession, SessionRow};

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
/// The same of a person who signed in.
const PERSON_MOST_MS: i64 = 30 * 24 * 3_600_000;
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
    /// The person, where one signed in.
    pub person: Option<SignedInPerson>,
}

/// A person who signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedInPerson {
    pub id: Arc<str>,
    /// The session, as it is listed.
    pub session_id: String,
    /// What it was opened with.
    pub means: String,
}

/// Somebody who has proved who they are.
#[derive(Clone, Debug)]
pub struct PersonEntry {
    pub person_id: String,
    /// The account that they enter, if they are a member of one.
    pub membership: Option<Membership>,
    /// What they proved it with: the session ends with that.
    pub means: String,
    /// The browser, by its own word.
    pub agent: String,
    /// The network that they come from.
    pub network: String,
}

/// How a session is listed: by so many digits of its hash.
const SESSION_ID: usize = 32;

/// How a session is listed. Nobody finds its word by that.
pub fn session_id(row: &SessionRow) -> &str {
    row.hash.get(..SESSION_ID).unwrap_or(&row.hash)
}

/// What a session is opened with.
pub enum SessionCredential<'a> {
    /// A key, a token of a named operator, or the word of a link.
    Secret(&'a str),
    /// The token of the configuration, which was compared already, by its hash.
    Root(&'a str),
}

/// What a session stands for besides an operator.
#[derive(Default)]
struct SessionKey {
    key_hash: Option<String>,
    /// The hash of the token of the operator whose look at an account it is.
    bound_hash: Option<String>,
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
            person: None,
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
            && let Some(mut earlier) = self.earlier(earlier, root_hash).await?
        {
            // What a person signed in with ends with the person's session.
            if earlier.person.is_some() {
                (earlier.key_hash, earlier.operator_hash) = (None, None);
            }
            if new.key_hash.is_none() {
                (new.key_hash, new.bound_hash) = (earlier.key_hash, earlier.bound_hash);
            }
            new.operator_hash = new.operator_hash.or(earlier.operator_hash);
            replaces = Some(earlier.hash);
        }
        let opened = self
            .context
            .store()
            .people()
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
        let look = SessionKey {
            key_hash: Some(key::hash(&secret)),
            bound_hash: Some(by.hash.clone()),
        };
        let earlier = self.earlier(earlier, root_hash).await?;
        self.stand_beside(look, earlier).await
    }

    /// Ends such a look: what is left is the operator, and of a person its own first account.
    pub async fn end_visit(&self, word: &str) -> Result<String, Refusal> {
        let earlier = self.live(word, false).await?;
        let person = earlier.as_ref().and_then(|row| row.person.as_ref());
        let own = match person {
            Some(person) => self.memberships(&person.person_id).await?,
            None => Vec::new(),
        };
        let own = SessionKey {
            key_hash: own.into_iter().next().map(|own| own.head_hash),
            bound_hash: None,
        };
        self.stand_beside(own, earlier).await
    }

    /// Opens a session for somebody who has proved who they are, in place of any earlier one: whatever a browser had before is not
    /// worth more by it.
    pub async fn open_person(
        &self,
        entry: PersonEntry,
        earlier: Option<&str>,
    ) -> Result<String, Refusal> {
        let (now_ms, word) = (self.context.now_ms(), key::generate_session());
        let store = self.context.store();
        let operator = store.admin().operator_of_person(&entry.person_id).await;
        let act = entry.membership.as_ref().map(|own| {
            let member = &own.member;
            let account_id = AccountId::new(member.account_id.clone());
            self.context
                .own_act(&account_id, &member.id, "session.open", &member.id, "")
        });
        let new = SessionRow {
            hash: key::hash(&word),
            key_hash: entry.membership.map(|own| own.head_hash),
            operator_hash: operator.map_err(unavailable)?,
            bound_hash: None,
            link: false,
            created_ms: now_ms,
            seen_ms: now_ms,
            person: Some(PersonSession {
                person_id: entry.person_id.clone(),
                means: entry.means,
                agent: entry.agent,
                network: entry.network,
            }),
        };
        let earlier = match earlier {
            Some(earlier) => self.live(earlier, false).await?,
            None => None,
        };
        let replaces = earlier.map(|row| row.hash);
        let opened = store
            .people()
            .sessions()
            .open(new, replaces.as_deref(), act)
            .await;
        if !opened.map_err(unavailable)? {
            return Err(wrong());
        }
        if let Err(error) = store.people().saw(&entry.person_id, now_ms).await {
            tracing::debug!(%error, "when a person signed in was not written down");
        }
        Ok(word)
    }

    /// The accounts that a person is a member of.
    pub async fn memberships(&self, person_id: &str) -> Result<Vec<Membership>, Refusal> {
        let members = self.context.store().people().members();
        members.of_person(person_id).await.map_err(unavailable)
    }

    /// Has a person's session stand for another account of theirs; the word of the session that takes its place.
    pub async fn switch(&self, word: &str, account_id: &str) -> Result<String, Refusal> {
        let row = self.live(word, false).await?.ok_or_else(wrong)?;
        let Some(person) = &row.person else {
            return Err(wrong());
        };
        let own = self.memberships(&person.person_id).await?;
        let own = own
            .into_iter()
            .find(|own| own.member.account_id == account_id);
        let none = || {
            Refusal::field(
                Code::NotFound,
                "id",
                "is no account that you are a member of",
            )
        };
        let own = SessionKey {
            key_hash: Some(own.ok_or_else(none)?.head_hash),
            bound_hash: None,
        };
        self.stand_beside(own, Some(row)).await
    }

    /// The sessions of a person, the latest first.
    pub async fn of_person(&self, person_id: &str) -> Result<Vec<SessionRow>, Refusal> {
        let listed = self
            .context
            .store()
            .people()
            .sessions()
            .of_person(person_id)
            .await;
        let now_ms = self.context.now_ms();
        let mut rows = listed.map_err(unavailable)?;
        rows.retain(|row| is_fresh(row, now_ms));
        Ok(rows)
    }

    /// Ends one of a person's sessions; whether it was there.
    pub async fn end(&self, person_id: &str, id: &str) -> Result<bool, Refusal> {
        let rows = self.of_person(person_id).await?;
        let Some(row) = rows.iter().find(|row| session_id(row) == id) else {
            return Ok(false);
        };
        let sessions = self.context.store().people().sessions();
        let ended = sessions.close(&row.hash, false).await;
        Ok(ended.map_err(unavailable)? > 0)
    }

    /// A new session that stands for a key, or for none, beside the operator and the person of the earlier one.
    async fn stand_beside(
        &self,
        stands_for: SessionKey,
        earlier: Option<SessionRow>,
    ) -> Result<String, Refusal> {
        let (now_ms, word) = (self.context.now_ms(), key::generate_session());
        let new = SessionRow {
            hash: key::hash(&word),
            key_hash: stands_for.key_hash,
            operator_hash: earlier.as_ref().and_then(|row| row.operator_hash.clone()),
            bound_hash: stands_for.bound_hash,
            link: false,
            created_ms: earlier.as_ref().map_or(now_ms, |row| row.created_ms),
            seen_ms: now_ms,
            person: earlier.as_ref().and_then(|row| row.person.clone()),
        };
        let replaces = earlier.map(|row| row.hash);
        let store = self.context.store();
        let opened = store
            .people()
            .sessions()
            .open(new, replaces.as_deref(), None)
            .await;
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
            person: None,
        };
        self.context
            .store()
            .people()
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
        let mut visitor = Principal {
            person: row.person.as_ref().map(|person| SignedInPerson {
                id: person.person_id.as_str().into(),
                session_id: session_id(row).to_owned(),
                means: person.means.clone(),
            }),
            ..Principal::default()
        };
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
        let somebody =
            visitor.caller.is_some() || visitor.operator.is_some() || visitor.person.is_some();
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
            .people()
            .sessions()
            .close(&key::hash(word), everywhere)
            .await;
        closed.map(|_| ()).map_err(unavailable)
    }

    /// Ends every session and link that is over by then, or the clock would bring them back when it is set back; how many.
    pub(crate) async fn end_overdue(&self, now_ms: i64) -> Result<u64, atelier_store::Error> {
        let overdue = OverdueSessions {
            links: now_ms - LINK_MS,
            people: now_ms - PERSON_MOST_MS,
            opened: now_ms - MOST_MS,
            seen: now_ms - IDLE_MS,
        };
        self.context
            .store()
            .people()
            .sessions()
            .end_overdue(overdue)
            .await
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
        let found = self
            .context
            .store()
            .people()
            .sessions()
            .find(&key::hash(word))
            .await;
        let now_ms = self.context.now_ms();
        let lives = |row: &SessionRow| row.link == link && is_fresh(row, now_ms);
        Ok(found.map_err(unavailable)?.filter(lives))
    }

    fn touch(&self, hash: String) {
        let now_ms = self.context.now_ms();
        if !self.callers.is_touch_due(&hash) {
            return;
        }
        let store = self.context.store().clone();
        self.context.tasks().spawn(async move {
            if let Err(error) = store.people().sessions().touch(&hash, now_ms).await {
                tracing::debug!(%error, "last use of a session was not written down");
            }
        });
    }
}

/// Whether the time of a session or a link is not over.
fn is_fresh(row: &SessionRow, now_ms: i64) -> bool {
    let age_ms = now_ms - row.created_ms;
    if row.link {
        return age_ms < LINK_MS;
    }
    let most_ms = if row.person.is_some() {
        PERSON_MOST_MS
    } else {
        MOST_MS
    };
    age_ms < most_ms && now_ms - row.seen_ms < IDLE_MS
}

fn wrong() -> Refusal {
    Refusal::new(
        Code::Unauthorized,
        "this is no key, operator's token or link that works",
    )
}
