//! Accounts: who may spend what.

pub(crate) mod row;

pub use row::{Account, AccountLimits, AccountLimitsPatch, AccountPatch};

use atelier_contract::Quota;
use atelier_contract::pages::accounts::AccountOrder;

use crate::accounts::row::{ACCOUNT_COLUMNS, LIMITS_COLUMNS};
use crate::audit::AuditRow;
use crate::audited_change;
use crate::batch::ledger_batch::{LedgerBatch, Posting};
use crate::db::{Conn, args};
use crate::first_use;
use crate::groups;
use crate::jobs::filter::containing;
use crate::keys::{self, AddKeyOutcome, NewKey};
use crate::migrate::CREDIT_LIMITS;
use crate::store_core::StoreCore;
use crate::{Error, Result};

/// An account to be made.
#[derive(Clone, Debug)]
pub struct NewAccount {
    pub id: String,
    pub email: String,
    /// When the e-mail was verified.
    pub email_verified_ms: Option<i64>,
    /// First grant; no ledger row when zero.
    pub balance: Quota,
    /// The most unfinished jobs in one queue.
    pub max_queue: i64,
    /// Identifier of the grant's ledger row.
    pub ledger_id: String,
    pub now_ms: i64,
}

/// Which accounts to list, and in which order.
#[derive(Clone, Debug, Default)]
pub struct AccountFilter {
    /// A part of the e-mail address, in any case, or an identifier; empty for all.
    pub text: String,
    /// The order of the list.
    pub order: AccountOrder,
}

/// Whether an account is one that a filter asks for.
const FOUND: &str = "(email_key LIKE $1 ESCAPE '\\' OR id = $2)";

#[derive(Clone, Copy, Debug)]
pub struct Accounts<'a>(pub(crate) &'a StoreCore);

impl Accounts<'_> {
    /// Makes an account, with its first key; a conflict when the e-mail exists in any case.
    pub async fn create(
        self,
        new: NewAccount,
        first_key: Option<NewKey>,
        audit: Option<AuditRow>,
    ) -> Result<Account> {
        let made = audited_change::run(
            self.0,
            (new, first_key),
            audit,
            |conn, (new, first_key)| Box::pin(create(conn, new, first_key.as_ref())),
            Option::is_some,
        )
        .await?;
        made.ok_or_else(taken)
    }

    /// The account with an id: for the service and its operators.
    pub async fn find(self, id: &str) -> Result<Option<Account>> {
        let sql = format!("SELECT {ACCOUNT_COLUMNS} FROM account WHERE id = $1");
        self.0.db.maybe(&sql, args![id]).await
    }

    /// The account with an id: for whoever calls with its key.
    pub async fn find_own(self, id: &str) -> Result<Option<Account>> {
        let sql = format!("SELECT {ACCOUNT_COLUMNS} FROM account WHERE id = $1");
        self.0.db.of(Some(id)).maybe(&sql, args![id]).await
    }

    /// The account with an e-mail, in any case.
    pub async fn by_email(self, email: &str) -> Result<Option<Account>> {
        let sql = format!("SELECT {ACCOUNT_COLUMNS} FROM account WHERE email_key = $1");
        self.0.db.maybe(&sql, args![&email_key(email)]).await
    }

    /// A page of the accounts that a filter asks for, and how many there are of them.
    pub async fn list(
        self,
        filter: &AccountFilter,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<Account>, i64)> {
        let order = match filter.order {
            AccountOrder::Created => "created_ms, id",
            AccountOrder::Email => "email_key",
            AccountOrder::Balance => "balance DESC, created_ms, id",
        };
        let (text, pattern) = (filter.text.as_str(), containing(&email_key(&filter.text)));
        let page = format!(
            "SELECT {ACCOUNT_COLUMNS} FROM account WHERE {FOUND} ORDER BY {order} LIMIT $3 OFFSET $4"
        );
        let count = format!("SELECT COUNT(*) FROM account WHERE {FOUND}");
        Ok((
            self.0
                .db
                .all(&page, args![&pattern, text, limit, offset])
                .await?,
            self.0.db.one(&count, args![&pattern, text]).await?,
        ))
    }

    /// The accounts that have other rates or another share than the settings say.
    pub async fn allowances(self) -> Result<Vec<(String, AccountLimits)>> {
        let sql = format!(
            "SELECT id, {LIMITS_COLUMNS} FROM account \
             WHERE submits_per_second > 0 OR calls_per_second > 0 OR share_percent > 0"
        );
        self.0.db.all(&sql, &[]).await
    }

    /// Changes an account; `None` when there is none, a conflict when the new e-mail is taken.
    pub async fn update(
        self,
        id: &str,
        patch: AccountPatch,
        audit: Option<AuditRow>,
    ) -> Result<Option<Account>> {
        let input = (id.to_owned(), patch);
        let done = audited_change::run(
            self.0,
            input,
            audit,
            |conn, (id, patch)| Box::pin(update(conn, id, patch)),
            |done| matches!(done, Some(Some(_))),
        )
        .await?;
        done.ok_or_else(taken)
    }
}

fn taken() -> Error {
    Error::Conflict("there is an account with this e-mail".into())
}

/// What makes two e-mails the same.
pub(crate) fn email_key(email: &str) -> String {
    email.trim().to_lowercase()
}

/// `None` when the e-mail is taken.
async fn create(
    conn: &mut Conn,
    new: &NewAccount,
    first_key: Option<&NewKey>,
) -> Result<Option<Account>> {
    let made = conn
        .run(
            "INSERT INTO account (id, email, email_key, email_verified_ms, balance, frozen, max_queue, \
             entries, disabled, created_ms) VALUES ($1, $2, $3, $4, 0, 0, $5, 0, FALSE, $6) \
             ON CONFLICT (email_key) DO NOTHING",
            args![
                &new.id,
                &new.email,
                &email_key(&new.email),
                new.email_verified_ms,
                new.max_queue,
                new.now_ms
            ],
        )
        .await?;
    if made == 0 {
        return Ok(None);
    }
    if new.balance > Quota::ZERO {
        let mut books = LedgerBatch::load(conn, &[&new.id], &[]).await?;
        let grant = Posting {
            id: &new.ledger_id,
            job_id: None,
            kind: "grant",
            cause: None,
            amount: new.balance,
            balance_delta: new.balance.thousandths(),
            frozen_delta: 0,
            reason: "first grant",
            idempotency_key: None,
            time_ms: new.now_ms,
            spender: None,
        };
        books.post(&new.id, &grant);
        books.write(conn).await?;
    }
    if let Some(key) = first_key
        && keys::add(conn, key).await? != AddKeyOutcome::Done
    {
        return Err(Error::Conflict("the first key cannot be issued".into()));
    }
    read(conn, &new.id).await
}

/// The account as the writer sees it.
pub(crate) async fn read(conn: &mut Conn, id: &str) -> Result<Option<Account>> {
    let sql = format!("SELECT {ACCOUNT_COLUMNS} FROM account WHERE id = $1");
    conn.maybe(&sql, args![id]).await
}

/// `None` when the new e-mail is taken, `Some(None)` when there is no such account.
async fn update(
    conn: &mut Conn,
    id: &str,
    patch: &AccountPatch,
) -> Result<Option<Option<Account>>> {
    // The account before its group, as whoever renews its plan does.
    let lock = "SELECT id FROM account WHERE id = $1 {lock}";
    conn.maybe::<String>(lock, args![id]).await?;
    let key = patch.email.as_deref().map(email_key);
    let other: Option<String> = conn
        .maybe(
            "SELECT id FROM account WHERE email_key = $1 AND id <> $2",
            args![key.as_deref(), id],
        )
        .await?;
    if other.is_some() {
        return Ok(None);
    }
    if let Some(Some(group)) = &patch.group
        && !groups::is_held(conn, group).await?
    {
        return Err(Error::NoGroup(group.clone()));
    }
    if patch.credit_limit.is_some_and(|limit| limit > Quota::ZERO)
        && let Some(node) = first_use::begin(conn, CREDIT_LIMITS, patch.alive_since_ms).await?
    {
        let why =
            format!("the node {node} runs a release that knows no credit limits; stop it first");
        return Err(Error::Conflict(why));
    }
    patch.write(conn, id, key.as_deref()).await?;
    read(conn, id).await.map(Some)
}
