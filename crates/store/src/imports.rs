//! What is taken over from other programs: accounts with what is left of their money, and keys. A page of it is one commit, and each
//! row of a source is taken over once.

use atelier_contract::Quota;
use serde::Serialize;

use crate::accounts::email_key;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::batch::ledger_batch::{LedgerBatch, Posting};
use crate::db::{Conn, args, json};
use crate::first_use;
use crate::keys::KeyTerms;
use crate::keys::limits::{COUNT_KEYS, write_limits};
use crate::migrate::KEYS;
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;
use crate::{Error, Result};

/// What the ledger says of what an account brought along.
const CAUSE: &str = "import";
const REASON: &str = "brought along";

/// What a row of a source became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedRow {
    /// What names the row there.
    pub origin: String,
    /// What that program called it; empty of an account that was deleted since.
    pub name: String,
    /// The account or the key.
    pub target: String,
}

impl FromRow for ImportedRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            origin: columns.text()?,
            name: columns.text()?,
            target: columns.text()?,
        })
    }
}

/// An account to be taken over.
#[derive(Clone, Debug)]
pub struct ImportedAccount {
    pub id: String,
    /// What names the row there.
    pub origin: String,
    /// What that program calls it.
    pub name: String,
    pub email: String,
    pub max_queue: i64,
    pub disabled: bool,
    /// Its group in lower case; none of the one that all begin in.
    pub group: Option<String>,
    /// What it brings along.
    pub balance: Quota,
    /// Identifier of the ledger row of that.
    pub ledger_id: String,
    pub created_ms: i64,
}

/// A key to be taken over.
#[derive(Clone, Debug)]
pub struct ImportedKey {
    pub id: String,
    /// What names the row there.
    pub origin: String,
    pub account_id: String,
    /// What stands for the whole key.
    pub hash: String,
    /// Its first characters, for display.
    pub prefix: String,
    pub name: String,
    /// What it may do.
    pub scopes: String,
    pub created_ms: i64,
    pub expires_ms: Option<i64>,
    /// What it may spend and do.
    pub terms: KeyTerms,
}

/// A page of accounts or keys, from one source.
#[derive(Clone, Debug)]
pub struct ImportPage<T> {
    /// The name of the source.
    pub source: String,
    pub rows: Vec<T>,
    pub now_ms: i64,
    /// Nodes that were heard of since then may be at work.
    pub alive_since_ms: i64,
}

/// What is taken over from other programs.
#[derive(Clone, Copy, Debug)]
pub struct Imports<'a>(pub(crate) &'a StoreCore);

impl Imports<'_> {
    /// Whether anything was taken over.
    pub async fn any(self) -> Result<bool> {
        let first: Option<String> = self
            .0
            .db
            .maybe("SELECT target FROM imported LIMIT 1", &[])
            .await?;
        Ok(first.is_some())
    }

    /// What became of some accounts of a source.
    pub async fn accounts(self, source: &str, origins: &[String]) -> Result<Vec<ImportedRow>> {
        self.found(source, "account", origins).await
    }

    /// What became of some keys of a source.
    pub async fn keys(self, source: &str, origins: &[String]) -> Result<Vec<ImportedRow>> {
        self.found(source, "key", origins).await
    }

    async fn found(self, source: &str, kind: &str, origins: &[String]) -> Result<Vec<ImportedRow>> {
        let sql = "SELECT origin, name, target FROM imported WHERE source = $1 AND kind = $2 AND origin IN ({list:$3})";
        let origins = json(origins);
        self.0.db.all(sql, args![source, kind, &origins]).await
    }

    /// Those of some e-mail addresses, in lower case, that an account has.
    pub async fn emails_taken(self, emails: &[String]) -> Result<Vec<String>> {
        let sql = "SELECT email_key FROM account WHERE email_key IN ({list:$1})";
        self.0.db.all(sql, args![&json(emails)]).await
    }

    /// Those of some hashes that a key has.
    pub async fn hashes_taken(self, hashes: &[String]) -> Result<Vec<String>> {
        let sql = "SELECT hash FROM api_key WHERE hash IN ({list:$1})";
        self.0.db.all(sql, args![&json(hashes)]).await
    }

    /// What the ledger says that the accounts of a source brought along, all together.
    pub async fn brought(self, source: &str) -> Result<Quota> {
        let sum: i64 = self.0.db.one(BROUGHT, args![source]).await?;
        Ok(Quota::from_thousandths(sum))
    }

    /// Takes over a page of accounts; a conflict when one of them was taken over meanwhile, or its e-mail was.
    pub async fn add_accounts(
        self,
        page: ImportPage<ImportedAccount>,
        act: AuditRow,
    ) -> Result<()> {
        audited_change::run(
            self.0,
            page,
            Some(act),
            |conn, page| Box::pin(add_accounts(conn, page)),
            |()| true,
        )
        .await
    }

    /// Takes over a page of keys; the node that speaks against it, if one does.
    pub async fn add_keys(
        self,
        page: ImportPage<ImportedKey>,
        act: AuditRow,
    ) -> Result<Option<String>> {
        audited_change::run(
            self.0,
            page,
            Some(act),
            |conn, page| Box::pin(add_keys(conn, page)),
            Option::is_none,
        )
        .await
    }
}

/// A row of the table of accounts.
#[derive(Serialize)]
struct AccountLine<'a> {
    id: &'a str,
    email: &'a str,
    email_key: String,
    verified_ms: i64,
    max_queue: i64,
    disabled: i64,
    group_key: Option<&'a str>,
    created_ms: i64,
}

/// A row of the table of keys.
#[derive(Serialize)]
struct KeyLine<'a> {
    id: &'a str,
    account_id: &'a str,
    hash: &'a str,
    prefix: &'a str,
    name: &'a str,
    scopes: &'a str,
    created_ms: i64,
    expires_ms: Option<i64>,
    limits: Option<String>,
    rules: Option<&'a str>,
}

/// A row of what was taken over.
#[derive(Serialize)]
struct OriginLine<'a> {
    origin: &'a str,
    name: &'a str,
    target: &'a str,
    amount: i64,
}

fn met(wanted: usize, done: u64) -> Result<()> {
    if done == wanted as u64 {
        return Ok(());
    }
    let why = "something of what is taken over was made here meanwhile; run it again";
    Err(Error::Conflict(why.into()))
}

async fn add_accounts(conn: &mut Conn, page: &ImportPage<ImportedAccount>) -> Result<()> {
    let rows = &page.rows;
    let lines: Vec<AccountLine<'_>> = rows
        .iter()
        .map(|row| AccountLine {
            id: &row.id,
            email: &row.email,
            email_key: email_key(&row.email),
            verified_ms: page.now_ms,
            max_queue: row.max_queue,
            disabled: i64::from(row.disabled),
            group_key: row.group.as_deref(),
            created_ms: row.created_ms,
        })
        .collect();
    met(
        rows.len(),
        conn.run(INSERT_ACCOUNTS, args![&json(&lines)]).await?,
    )?;
    let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let keys: Vec<String> = rows
        .iter()
        .map(|row| format!("import:{}:{}", page.source, row.origin))
        .collect();
    let mut books = LedgerBatch::load(conn, &ids, &[]).await?;
    for (row, key) in rows.iter().zip(&keys) {
        if row.balance > Quota::ZERO {
            books.post(&row.id, &posting(row, key, page.now_ms));
        }
    }
    books.write(conn).await?;
    let origins: Vec<OriginLine<'_>> = rows
        .iter()
        .map(|row| OriginLine {
            origin: &row.origin,
            name: &row.name,
            target: &row.id,
            amount: row.balance.thousandths(),
        })
        .collect();
    note(conn, &page.source, "account", &origins, page.now_ms).await
}

fn posting<'a>(row: &'a ImportedAccount, key: &'a str, now_ms: i64) -> Posting<'a> {
    Posting {
        id: &row.ledger_id,
        job_id: None,
        kind: "grant",
        cause: Some(CAUSE),
        amount: row.balance,
        balance_delta: row.balance.thousandths(),
        frozen_delta: 0,
        reason: REASON,
        idempotency_key: Some(key),
        time_ms: now_ms,
        spender: None,
    }
}

async fn add_keys(conn: &mut Conn, page: &ImportPage<ImportedKey>) -> Result<Option<String>> {
    let rows = &page.rows;
    let mut accounts: Vec<&str> = rows.iter().map(|row| row.account_id.as_str()).collect();
    accounts.sort_unstable();
    accounts.dedup();
    let accounts = json(&accounts);
    let lock = "SELECT id FROM account WHERE id IN ({list:$1}) ORDER BY id {lock}";
    let _: Vec<String> = conn.all(lock, args![&accounts]).await?;
    let limited = rows.iter().any(|row| !row.terms.is_free());
    if limited && let Some(node) = first_use::begin(conn, KEYS, page.alive_since_ms).await? {
        return Ok(Some(node));
    }
    let lines: Vec<KeyLine<'_>> = rows
        .iter()
        .map(|row| KeyLine {
            id: &row.id,
            account_id: &row.account_id,
            hash: &row.hash,
            prefix: &row.prefix,
            name: &row.name,
            scopes: &row.scopes,
            created_ms: row.created_ms,
            expires_ms: row.expires_ms,
            limits: write_limits(&row.terms.limits),
            rules: row.terms.rules.as_deref(),
        })
        .collect();
    met(
        rows.len(),
        conn.run(INSERT_KEYS, args![&json(&lines)]).await?,
    )?;
    if limited {
        // Nothing was spent by them yet, so the first job begins their windows.
        conn.run(COUNT_KEYS, args![&accounts]).await?;
    }
    let origins: Vec<OriginLine<'_>> = rows
        .iter()
        .map(|row| OriginLine {
            origin: &row.origin,
            name: "",
            target: &row.id,
            amount: 0,
        })
        .collect();
    note(conn, &page.source, "key", &origins, page.now_ms).await?;
    Ok(None)
}

async fn note(
    conn: &mut Conn,
    source: &str,
    kind: &str,
    origins: &[OriginLine<'_>],
    now_ms: i64,
) -> Result<()> {
    let (count, origins) = (origins.len(), json(origins));
    let values = args![&origins, source, kind, now_ms];
    met(count, conn.run(INSERT_ORIGINS, values).await?)
}

const INSERT_ACCOUNTS: &str = "INSERT INTO account (id, email, email_key, email_verified_ms, balance, frozen, max_queue, entries, \
     disabled, created_ms, group_key) SELECT v.id, v.email, v.email_key, v.verified_ms, 0, 0, v.max_queue, 0, v.disabled = 1, \
     v.created_ms, v.group_key FROM {rows:$1 id text, email text, email_key text, verified_ms bigint, max_queue bigint, \
     disabled bigint, group_key text, created_ms bigint} WHERE TRUE ON CONFLICT (email_key) DO NOTHING";

const INSERT_KEYS: &str = "INSERT INTO api_key (id, account_id, hash, prefix, name, scopes, created_ms, expires_ms, limits, rules) \
     SELECT v.id, v.account_id, v.hash, v.prefix, v.name, v.scopes, v.created_ms, v.expires_ms, v.limits, v.rules \
     FROM {rows:$1 id text, account_id text, hash text, prefix text, name text, scopes text, created_ms bigint, expires_ms bigint, \
     limits text, rules text} WHERE TRUE ON CONFLICT (hash) DO NOTHING";

const INSERT_ORIGINS: &str = "INSERT INTO imported (source, kind, origin, name, target, amount, imported_ms) \
     SELECT CAST($2 AS TEXT), CAST($3 AS TEXT), v.origin, v.name, v.target, v.amount, CAST($4 AS BIGINT) \
     FROM {rows:$1 origin text, name text, target text, amount bigint} WHERE TRUE ON CONFLICT DO NOTHING";

const BROUGHT: &str = "SELECT CAST(COALESCE(SUM(ledger.amount), 0) AS BIGINT) FROM imported JOIN ledger \
     ON ledger.account_id = imported.target AND ledger.idempotency_key = 'import:' || imported.source || ':' || imported.origin \
     WHERE imported.source = $1 AND imported.kind = 'account'";
