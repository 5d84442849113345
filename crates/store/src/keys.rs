//! Keys: only their hash is stored. A key may be below another one, which made it, and may spend no more than that.

pub mod change;
pub mod limits;

use atelier_contract::Scope;

use crate::accounts::row::{ACCOUNT_COLUMNS, Account};
use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::{Conn, args, json};
use crate::first_use;
use crate::keys::limits::{KeyLimit, KeySpending, count_keys, read_limits, write_limits};
use crate::migrate::{KEYS, PEOPLE};
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;
use crate::{Error, Result};

/// What a key may spend and do, beside its scopes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyTerms {
    /// How much it may spend in windows, with those below it.
    pub limits: Vec<KeyLimit>,
    /// How many unfinished jobs it may have in a queue, with those below it.
    pub max_queue: Option<i64>,
    /// What else it may do, as JSON; the store does not look inside.
    pub rules: Option<String>,
}

impl KeyTerms {
    /// Whether they say nothing.
    pub fn is_free(&self) -> bool {
        *self == Self::default()
    }

    /// Whether what is spent under them is counted.
    fn counts(&self) -> bool {
        !self.limits.is_empty() || self.max_queue.is_some()
    }
}

/// A key as its owner may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub id: String,
    pub account_id: String,
    /// Its first characters, for display.
    pub prefix: String,
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
    /// The key that made it.
    pub parent_id: Option<String>,
    /// The keys above it, the first one first, with spaces between them.
    pub above: Option<String>,
    /// What it may spend and do.
    pub terms: KeyTerms,
    /// What its owner notes about it.
    pub note: Option<String>,
    /// The member whose key it is.
    pub member_id: Option<String>,
}

impl Key {
    /// The keys above it, the first one first.
    pub fn ancestors(&self) -> impl Iterator<Item = &str> {
        self.above.iter().flat_map(|above| above.split(' '))
    }
}

/// A key to be stored.
#[derive(Clone, Debug)]
pub struct NewKey {
    pub id: String,
    pub account_id: String,
    /// SHA-256 of the whole key, in hexadecimal.
    pub hash: String,
    /// Its first characters, for display.
    pub prefix: String,
    pub name: String,
    /// What it may do.
    pub scopes: String,
    pub now_ms: i64,
    /// When it stops working.
    pub expires_ms: Option<i64>,
    /// The most keys of the account that may work at once, this one included.
    pub most: i64,
    /// The keys above it, the first one first, with spaces between them; none of an account's first key.
    pub above: Option<String>,
    /// What it may spend and do.
    pub terms: KeyTerms,
    /// What its owner notes about it.
    pub note: Option<String>,
    /// The member whose key it is: the first of those above it, or itself.
    pub member_id: Option<String>,
    /// Nodes that were heard of since then may be at work.
    pub alive_since_ms: i64,
}

/// What became of a key to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddKeyOutcome {
    Done,
    /// The key that was to be above it works no more.
    NoParent,
    /// No key has terms yet, and a node is at work whose program does not keep to them.
    OlderNode(String),
    /// The account has as many keys that work as it may have.
    TooMany,
    /// There is no such account.
    NoAccount,
}

pub(crate) const KEY_COLUMNS: &str = "api_key.id, api_key.account_id, api_key.prefix, api_key.name, \
     api_key.scopes, api_key.created_ms, api_key.last_used_ms, api_key.expires_ms, \
     api_key.revoked_ms, api_key.parent_id, api_key.above, api_key.limits, api_key.max_queue, api_key.rules, api_key.note, \
     api_key.member_id";

/// Whether a row is a key that somebody has: the head of a member's keys is none.
pub(crate) const HELD: &str = "(member_id IS NULL OR member_id <> id)";

impl FromRow for Key {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            account_id: columns.text()?,
            prefix: columns.text()?,
            name: columns.text()?,
            scopes: columns.text()?,
            created_ms: columns.int()?,
            last_used_ms: columns.maybe_int()?,
            expires_ms: columns.maybe_int()?,
            revoked_ms: columns.maybe_int()?,
            parent_id: columns.maybe_text()?,
            above: columns.maybe_text()?,
            terms: KeyTerms {
                limits: read_limits(columns.maybe_text()?.as_deref()),
                max_queue: columns.maybe_int()?,
                rules: columns.maybe_text()?,
            },
            note: columns.maybe_text()?,
            member_id: columns.maybe_text()?,
        })
    }
}

/// Keys that have ended and are listed.
pub const ENDED_MOST: i64 = 300;

/// API keys of accounts.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a>(pub(crate) &'a StoreCore);

impl Keys<'_> {
    /// Stores a key together with the act of whoever issued it; a conflict when the hash exists.
    pub async fn add(self, new: NewKey, act: Option<AuditRow>) -> Result<AddKeyOutcome> {
        audited_change::run(
            self.0,
            new,
            act,
            |conn, new| Box::pin(add(conn, new)),
            |added| *added == AddKeyOutcome::Done,
        )
        .await
    }

    /// The keys of an account that are not revoked, oldest first: those that work, and the latest [`ENDED_MOST`] that have ended.
    pub async fn list(self, account_id: &str, now_ms: i64) -> Result<Vec<Key>> {
        self.found(account_id, now_ms, ENDED_MOST).await
    }

    /// The keys of an account that work, oldest first; there are never more than an account may have.
    pub async fn working(self, account_id: &str, now_ms: i64) -> Result<Vec<Key>> {
        self.found(account_id, now_ms, 0).await
    }

    async fn found(self, account_id: &str, now_ms: i64, ended: i64) -> Result<Vec<Key>> {
        let which =
            format!("account_id = $1 AND revoked_ms IS NULL AND stands_for IS NULL AND {HELD}");
        // Each by itself, because then an index knows where those that work begin.
        let sql = format!(
            "SELECT {KEY_COLUMNS} FROM api_key WHERE id IN (SELECT id FROM api_key WHERE {which} AND expires_ms IS NULL \
               UNION ALL SELECT id FROM api_key WHERE {which} AND expires_ms > $2 \
               UNION ALL SELECT id FROM (SELECT id FROM api_key WHERE {which} AND expires_ms <= $2 \
                 ORDER BY expires_ms DESC, id LIMIT $3) AS ended) \
             ORDER BY created_ms, id"
        );
        let values = args![account_id, now_ms, ended];
        self.0.db.of(Some(account_id)).all(&sql, values).await
    }

    /// The names of some keys of an account, of revoked ones as well.
    pub async fn names(self, account_id: &str, ids: &[&str]) -> Result<Vec<(String, String)>> {
        let sql = "SELECT id, name FROM api_key WHERE account_id = $1 AND id IN ({list:$2})";
        let reader = self.0.db.of(Some(account_id));
        reader.all(sql, args![account_id, &json(ids)]).await
    }

    /// What the keys of an account hold and have spent in the windows of their limits that a moment is in.
    pub async fn spending(self, account_id: &str, now_ms: i64) -> Result<Vec<KeySpending>> {
        let sql = "SELECT key_id, span, held + spent, from_ms, until_ms FROM key_window \
             WHERE account_id = $1 AND until_ms > $2 AND span IN ('total', 'day', 'week', 'month') ORDER BY key_id, from_ms";
        let reader = self.0.db.of(Some(account_id));
        reader.all(sql, args![account_id, now_ms]).await
    }

    /// Revokes a key of an account and all below it, together with the act of whoever did it; the hashes of those that were not
    /// revoked before, none when there was no such key.
    pub async fn revoke(
        self,
        account_id: &str,
        key_id: &str,
        now_ms: i64,
        act: Option<AuditRow>,
    ) -> Result<Vec<String>> {
        let input = (account_id.to_owned(), key_id.to_owned(), now_ms);
        audited_change::run(
            self.0,
            input,
            act,
            |conn, (account_id, key_id, now_ms)| {
                Box::pin(revoke(conn, account_id, key_id, *now_ms))
            },
            |revoked| !revoked.is_empty(),
        )
        .await
    }

    /// Who a key belongs to, and the keys above it: none of them revoked or expired, the account not disabled.
    pub async fn account_for(
        self,
        hash: &str,
        now_ms: i64,
    ) -> Result<Option<(Account, (Key, Vec<Key>))>> {
        let sql = format!(
            "SELECT {ACCOUNT_COLUMNS}, {KEY_COLUMNS} FROM api_key AS secret \
             JOIN api_key ON api_key.id = COALESCE(secret.stands_for, secret.id) \
             JOIN account ON account.id = api_key.account_id \
             WHERE secret.hash = $1 AND secret.revoked_ms IS NULL AND api_key.revoked_ms IS NULL AND account.disabled = FALSE \
             AND (api_key.expires_ms IS NULL OR api_key.expires_ms > $2) \
             AND (secret.expires_ms IS NULL OR secret.expires_ms > $2)"
        );
        let found: Option<(Account, Key)> = self.0.db.maybe(&sql, args![hash, now_ms]).await?;
        let Some((account, key)) = found else {
            return Ok(None);
        };
        let above: Vec<&str> = key.ancestors().collect();
        if above.is_empty() {
            return Ok(Some((account, (key, Vec::new()))));
        }
        let sql = format!(
            "SELECT {KEY_COLUMNS} FROM api_key WHERE id IN ({{list:$1}}) AND account_id = $2 AND revoked_ms IS NULL \
             AND (expires_ms IS NULL OR expires_ms > $3)"
        );
        let named = json(&above);
        let values = args![&named, &key.account_id, now_ms];
        let mut keys: Vec<Key> = self.0.db.all(&sql, values).await?;
        let work = keys.len() == above.len();
        keys.sort_by_key(|one| above.iter().position(|id| *id == one.id));
        Ok(work.then_some((account, (key, keys))))
    }

    /// Notes that a key was used.
    pub async fn touch(self, key_id: &str, now_ms: i64) -> Result<()> {
        self.0
            .change((key_id.to_owned(), now_ms), |conn, (key_id, now_ms)| {
                Box::pin(async move {
                    let sql = "UPDATE api_key SET last_used_ms = $2 WHERE id = $1";
                    conn.run(sql, args![key_id, *now_ms]).await.map(|_| ())
                })
            })
            .await
    }
}

/// Ends a key, what stands for it, and all below it.
async fn revoke(
    conn: &mut Conn,
    account_id: &str,
    key_id: &str,
    now_ms: i64,
) -> Result<Vec<String>> {
    // So that none is made below it meanwhile.
    let lock = "SELECT id FROM account WHERE id = $1 {lock}";
    conn.maybe::<String>(lock, args![account_id]).await?;
    let there = format!(
        "SELECT id FROM api_key WHERE account_id = $1 AND id = $2 AND revoked_ms IS NULL AND stands_for IS NULL AND {HELD}"
    );
    let there: Option<String> = conn.maybe(&there, args![account_id, key_id]).await?;
    if there.is_none() {
        return Ok(Vec::new());
    }
    end_line(conn, account_id, key_id, now_ms).await
}

/// Ends a key whose account is locked, what stands for it, and all below it; the hashes of those that were not revoked before.
pub(crate) async fn end_line(
    conn: &mut Conn,
    account_id: &str,
    key_id: &str,
    now_ms: i64,
) -> Result<Vec<String>> {
    let sql = "UPDATE api_key SET revoked_ms = $3 WHERE account_id = $1 AND revoked_ms IS NULL \
         AND (id = $2 OR stands_for = $2 OR ' ' || above || ' ' LIKE '% ' || $2 || ' %') RETURNING hash";
    conn.all(sql, args![account_id, key_id, now_ms]).await
}

/// How many keys of an account work.
async fn live(conn: &mut Conn, account_id: &str, now_ms: i64) -> Result<i64> {
    let live = format!(
        "SELECT COUNT(*) FROM api_key WHERE account_id = $1 AND revoked_ms IS NULL \
         AND (expires_ms IS NULL OR expires_ms > $2) AND {HELD}"
    );
    let live: Option<i64> = conn.maybe(&live, args![account_id, now_ms]).await?;
    Ok(live.unwrap_or_default())
}

/// Stores a key. The account's row is locked, so that two nodes cannot both issue the last one.
pub(crate) async fn add(conn: &mut Conn, new: &NewKey) -> Result<AddKeyOutcome> {
    let lock = "SELECT id FROM account WHERE id = $1 {lock}";
    let account: Option<String> = conn.maybe(lock, args![&new.account_id]).await?;
    if account.is_none() {
        return Ok(AddKeyOutcome::NoAccount);
    }
    if live(conn, &new.account_id, new.now_ms).await? >= new.most {
        return Ok(AddKeyOutcome::TooMany);
    }
    let parent_id = new
        .above
        .as_deref()
        .and_then(|above| above.rsplit(' ').next());
    if let Some(parent_id) = parent_id {
        let parent = "SELECT id FROM api_key WHERE account_id = $1 AND id = $2 AND revoked_ms IS NULL \
             AND (expires_ms IS NULL OR expires_ms > $3)";
        let values = args![&new.account_id, parent_id, new.now_ms];
        if conn.maybe::<String>(parent, values).await?.is_none() {
            return Ok(AddKeyOutcome::NoParent);
        }
    }
    let since_ms = new.alive_since_ms;
    if let Some(node) = begin_terms(conn, &new.terms, &new.scopes, since_ms).await? {
        return Ok(AddKeyOutcome::OlderNode(node));
    }
    insert(conn, new, parent_id).await?;
    if new.terms.counts() {
        // Nothing was spent by it yet, so the first job begins its windows.
        count_keys(conn, &new.account_id).await?;
    }
    Ok(AddKeyOutcome::Done)
}

/// The node that does not know what a key is to be given, if there is one; from then on none of its release starts.
pub(crate) async fn begin_terms(
    conn: &mut Conn,
    terms: &KeyTerms,
    scopes: &str,
    alive_since_ms: i64,
) -> Result<Option<String>> {
    if !terms.is_free()
        && let Some(node) = first_use::begin(conn, KEYS, alive_since_ms).await?
    {
        return Ok(Some(node));
    }
    if scopes.split(',').any(|scope| scope == Scope::Keys.word()) {
        return first_use::begin(conn, PEOPLE, alive_since_ms).await;
    }
    Ok(None)
}

/// Writes the row of a key; a conflict when the hash exists.
pub(crate) async fn insert(conn: &mut Conn, new: &NewKey, parent_id: Option<&str>) -> Result<()> {
    let sql = "INSERT INTO api_key (id, account_id, hash, prefix, name, scopes, created_ms, expires_ms, \
         parent_id, above, limits, max_queue, rules, note, member_id) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) ON CONFLICT (hash) DO NOTHING";
    let limits = write_limits(&new.terms.limits);
    let args = args![
        &new.id,
        &new.account_id,
        &new.hash,
        &new.prefix,
        &new.name,
        &new.scopes,
        new.now_ms,
        new.expires_ms,
        parent_id,
        new.above.as_deref(),
        limits.as_deref(),
        new.terms.max_queue,
        new.terms.rules.as_deref(),
        new.note.as_deref(),
        new.member_id.as_deref()
    ];
    if conn.run(sql, args).await? == 0 {
        return Err(Error::Conflict("the key exists".into()));
    }
    Ok(())
}
