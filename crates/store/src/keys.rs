//! Keys: only their hash is stored.

use crate::accounts::row::{ACCOUNT_COLUMNS, Account};
use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::{Conn, args};
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;
use crate::{Error, Result};

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
}

/// What became of a key to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddKeyOutcome {
    Done,
    /// The account has as many keys that work as it may have.
    TooMany,
    /// There is no such account.
    NoAccount,
}

const KEY_COLUMNS: &str = "api_key.id, api_key.account_id, api_key.prefix, api_key.name, \
     api_key.scopes, api_key.created_ms, api_key.last_used_ms, api_key.expires_ms, \
     api_key.revoked_ms";

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
        })
    }
}

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

    /// The keys of an account that are not revoked, oldest first.
    pub async fn list(self, account_id: &str) -> Result<Vec<Key>> {
        let sql = format!(
            "SELECT {KEY_COLUMNS} FROM api_key WHERE account_id = $1 AND revoked_ms IS NULL \
             ORDER BY created_ms, id"
        );
        self.0
            .db
            .of(Some(account_id))
            .all(&sql, args![account_id])
            .await
    }

    /// Revokes a key of an account together with the act of whoever did it; its hash when it was there and not revoked.
    pub async fn revoke(
        self,
        account_id: &str,
        key_id: &str,
        now_ms: i64,
        act: Option<AuditRow>,
    ) -> Result<Option<String>> {
        let input = (account_id.to_owned(), key_id.to_owned(), now_ms);
        audited_change::run(
            self.0,
            input,
            act,
            |conn, (account_id, key_id, now_ms)| {
                Box::pin(async move {
                    let sql = "UPDATE api_key SET revoked_ms = $3 \
                         WHERE account_id = $1 AND id = $2 AND revoked_ms IS NULL RETURNING hash";
                    conn.maybe(sql, args![account_id, key_id, *now_ms]).await
                })
            },
            Option::is_some,
        )
        .await
    }

    /// Who a key belongs to: not revoked, not expired, account not disabled.
    pub async fn account_for(self, hash: &str, now_ms: i64) -> Result<Option<(Account, Key)>> {
        let sql = format!(
            "SELECT {ACCOUNT_COLUMNS}, {KEY_COLUMNS} FROM api_key \
             JOIN account ON account.id = api_key.account_id \
             WHERE api_key.hash = $1 AND api_key.revoked_ms IS NULL AND account.disabled = FALSE \
             AND (api_key.expires_ms IS NULL OR api_key.expires_ms > $2)"
        );
        self.0.db.maybe(&sql, args![hash, now_ms]).await
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

/// Stores a key. The account's row is locked, so that two nodes cannot both issue the last one.
pub(crate) async fn add(conn: &mut Conn, new: &NewKey) -> Result<AddKeyOutcome> {
    let lock = "SELECT id FROM account WHERE id = $1 {lock}";
    let account: Option<String> = conn.maybe(lock, args![&new.account_id]).await?;
    if account.is_none() {
        return Ok(AddKeyOutcome::NoAccount);
    }
    let live = "SELECT COUNT(*) FROM api_key WHERE account_id = $1 AND revoked_ms IS NULL \
         AND (expires_ms IS NULL OR expires_ms > $2)";
    let live: Option<i64> = conn.maybe(live, args![&new.account_id, new.now_ms]).await?;
    if live.unwrap_or_default() >= new.most {
        return Ok(AddKeyOutcome::TooMany);
    }
    let sql = "INSERT INTO api_key (id, account_id, hash, prefix, name, scopes, created_ms, expires_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (hash) DO NOTHING";
    let args = args![
        &new.id,
        &new.account_id,
        &new.hash,
        &new.prefix,
        &new.name,
        &new.scopes,
        new.now_ms,
        new.expires_ms
    ];
    if conn.run(sql, args).await? == 0 {
        return Err(Error::Conflict("the key exists".into()));
    }
    Ok(AddKeyOutcome::Done)
}
