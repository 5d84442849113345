//! Changing a key: its name and what it may spend and do, or its secret.

use crate::Result;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::{Conn, args};
use crate::keys::limits::{CountedKey, KeyLimit, count_keys, write_limits};
use crate::keys::{KEY_COLUMNS, Key, Keys, begin_terms, live};

/// What a key becomes.
#[derive(Clone, Debug)]
pub struct KeyChange {
    /// The key as whoever changes it saw it.
    pub seen: Key,
    /// The same with what is to be changed: its name, scopes, end, terms and note.
    pub wanted: Key,
    pub now_ms: i64,
    /// Nodes that were heard of since then may be at work.
    pub alive_since_ms: i64,
}

/// What became of a [`KeyChange`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyChangeOutcome {
    /// Done; the hash of its secret.
    Done(String),
    /// It was changed since it was seen; nothing changed.
    Crossed,
    /// There is no such key that works.
    NoKey,
    /// No key has terms yet, and a node is at work whose program does not keep to them.
    OlderNode(String),
}

/// A new secret for a key.
#[derive(Clone, Debug)]
pub struct KeyRotation {
    pub account_id: String,
    pub key_id: String,
    /// SHA-256 of the new secret, in hexadecimal.
    pub hash: String,
    /// Its first characters, for display.
    pub prefix: String,
    /// Identifier of the row that the old secret has from now on.
    pub old_id: String,
    /// Until when the old secret works.
    pub old_until_ms: i64,
    pub now_ms: i64,
    /// The most keys of the account that may work at once, an old secret among them.
    pub most: i64,
}

/// What became of a [`KeyRotation`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RotateOutcome {
    /// Done; the hash of the old secret.
    Done(String),
    /// The account has as many keys that work as it may have.
    TooMany,
    /// There is no such key that works.
    NoKey,
}

impl Keys<'_> {
    /// Changes a key together with the act of whoever did it. What it spends from now on is held against the new limits, with
    /// what it has spent in their windows already.
    pub async fn change(
        self,
        change: KeyChange,
        act: Option<AuditRow>,
    ) -> Result<KeyChangeOutcome> {
        audited_change::run(
            self.0,
            change,
            act,
            |conn, change| Box::pin(apply(conn, change)),
            |outcome| matches!(outcome, KeyChangeOutcome::Done(_)),
        )
        .await
    }

    /// Gives a key a new secret together with the act of whoever did it; what it is and has spent stays.
    pub async fn rotate(
        self,
        rotation: KeyRotation,
        act: Option<AuditRow>,
    ) -> Result<RotateOutcome> {
        audited_change::run(
            self.0,
            rotation,
            act,
            |conn, rotation| Box::pin(rotate(conn, rotation)),
            |outcome| matches!(outcome, RotateOutcome::Done(_)),
        )
        .await
    }
}

/// A key that works and its hash, with its account locked: nothing is spent meanwhile.
async fn locked(
    conn: &mut Conn,
    account_id: &str,
    key_id: &str,
    now_ms: i64,
) -> Result<Option<(Key, String)>> {
    let lock = "SELECT id FROM account WHERE id = $1 {lock}";
    conn.maybe::<String>(lock, args![account_id]).await?;
    let sql = format!(
        "SELECT {KEY_COLUMNS}, api_key.hash FROM api_key WHERE account_id = $1 AND id = $2 AND stands_for IS NULL \
         AND revoked_ms IS NULL AND (expires_ms IS NULL OR expires_ms > $3)"
    );
    conn.maybe(&sql, args![account_id, key_id, now_ms]).await
}

/// Changes a key, or the head of a member's keys, as whoever does it saw it.
pub(crate) async fn apply(conn: &mut Conn, change: &KeyChange) -> Result<KeyChangeOutcome> {
    let KeyChange { seen, wanted, .. } = change;
    let found = locked(conn, &seen.account_id, &seen.id, change.now_ms).await?;
    let Some((mut key, hash)) = found else {
        return Ok(KeyChangeOutcome::NoKey);
    };
    // When it was used last changes all the time and matters to nobody here.
    key.last_used_ms = seen.last_used_ms;
    if key != *seen {
        return Ok(KeyChangeOutcome::Crossed);
    }
    let since_ms = change.alive_since_ms;
    if let Some(node) = begin_terms(conn, &wanted.terms, &wanted.scopes, since_ms).await? {
        return Ok(KeyChangeOutcome::OlderNode(node));
    }
    let limits = write_limits(&wanted.terms.limits);
    let values = args![
        &key.id,
        &wanted.name,
        &wanted.scopes,
        wanted.expires_ms,
        limits.as_deref(),
        wanted.terms.max_queue,
        wanted.terms.rules.as_deref(),
        wanted.note.as_deref()
    ];
    conn.run(UPDATE, values).await?;
    if let Some(end_ms) = wanted
        .expires_ms
        .filter(|_| wanted.expires_ms != key.expires_ms)
    {
        // With it end those below it and the old secrets of all: otherwise their rows would be listed and counted for ever.
        conn.run(END_BELOW, args![&key.account_id, &key.id, end_ms])
            .await?;
    }
    recount(conn, change).await?;
    Ok(KeyChangeOutcome::Done(hash))
}

/// Begins the windows of what is limited from now on, and ends those of what no longer is.
async fn recount(conn: &mut Conn, change: &KeyChange) -> Result<()> {
    let (before, after) = (&change.seen.terms, &change.wanted.terms);
    let counted = CountedKey {
        account_id: &change.seen.account_id,
        key_id: &change.seen.id,
        above: change.seen.above.as_deref(),
        now_ms: change.now_ms,
    };
    let has = |limits: &[KeyLimit], limit: &KeyLimit| {
        limits.iter().any(|other| other.window == limit.window)
    };
    for gone in before.limits.iter().filter(|one| !has(&after.limits, one)) {
        counted.end(conn, gone.window).await?;
    }
    for new in after.limits.iter().filter(|one| !has(&before.limits, one)) {
        counted.begin(conn, new.window).await?;
    }
    match (before.max_queue, after.max_queue) {
        (None, Some(_)) => counted.begin_queues(conn).await?,
        (Some(_), None) => counted.end_queues(conn).await?,
        _ => {}
    }
    count_keys(conn, &change.seen.account_id).await
}

async fn rotate(conn: &mut Conn, rotation: &KeyRotation) -> Result<RotateOutcome> {
    let KeyRotation {
        account_id,
        key_id,
        now_ms,
        ..
    } = rotation;
    let Some((key, old)) = locked(conn, account_id, key_id, *now_ms).await? else {
        return Ok(RotateOutcome::NoKey);
    };
    let stays = rotation.old_until_ms > *now_ms;
    if stays && live(conn, account_id, *now_ms).await? >= rotation.most {
        return Ok(RotateOutcome::TooMany);
    }
    let values = args![key_id, &rotation.hash, &rotation.prefix];
    conn.run(NEW_SECRET, values).await?;
    if stays {
        let until_ms = key.expires_ms.map_or(rotation.old_until_ms, |end_ms| {
            end_ms.min(rotation.old_until_ms)
        });
        let values = args![
            &rotation.old_id,
            key_id,
            &old,
            &key.prefix,
            *now_ms,
            until_ms
        ];
        conn.run(OLD_SECRET, values).await?;
    }
    Ok(RotateOutcome::Done(old))
}

const UPDATE: &str = "UPDATE api_key SET name = $2, scopes = $3, expires_ms = $4, limits = $5, max_queue = $6, rules = $7, \
     note = $8 WHERE id = $1";

const END_BELOW: &str = "UPDATE api_key SET expires_ms = $3 WHERE account_id = $1 AND (expires_ms IS NULL OR expires_ms > $3) \
     AND (stands_for = $2 OR ' ' || above || ' ' LIKE '% ' || $2 || ' %')";

const NEW_SECRET: &str = "UPDATE api_key SET hash = $2, prefix = $3 WHERE id = $1";

const OLD_SECRET: &str = "INSERT INTO api_key (id, account_id, hash, prefix, name, scopes, created_ms, expires_ms, parent_id, above, stands_for, member_id) \
     SELECT $1, account_id, $3, $4, name, scopes, $5, $6, parent_id, above, id, member_id FROM api_key WHERE id = $2";
