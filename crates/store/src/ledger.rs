//! The ledger: append-only, one row for every movement of quota.

use atelier_contract::Quota;

use crate::Result;
use crate::accounts::{self, Account};
use crate::audit::AuditRow;
use crate::audited_change;
use crate::batch::ledger_batch::{LedgerBatch, Posting};
use crate::db::{Conn, args};
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// Why an account's balance changes without a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreditKind {
    Grant,
    /// A correction, up or down.
    Adjust,
}

impl CreditKind {
    /// The word in the ledger.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Grant => "grant",
            Self::Adjust => "adjust",
        }
    }
}

/// A change of balance asked for by the operator.
#[derive(Clone, Debug)]
pub struct Credit {
    /// Identifier of the ledger row.
    pub id: String,
    pub account_id: String,
    /// How much; may be negative.
    pub amount: Quota,
    pub kind: CreditKind,
    /// Why, in words for people.
    pub reason: String,
    /// Repeats with the same key, amount and reason change nothing.
    pub idempotency_key: Option<String>,
    pub now_ms: i64,
}

/// What became of a [`Credit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CreditOutcome {
    /// Done; the account after it.
    Done(Account),
    /// The key was used before for the same; nothing changed.
    Repeated(Account),
    /// The key was used before for another amount or reason; nothing changed.
    Mismatch,
    /// The balance would go below zero; nothing changed.
    TooLow(Account),
    /// There is no such account.
    NoAccount,
}

/// One row of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerRow {
    pub id: String,
    pub account_id: String,
    pub job_id: Option<String>,
    /// grant, adjust, hold, capture or release.
    pub kind: String,
    /// The amount the row is about.
    pub amount: Quota,
    /// What it added to the balance.
    pub balance_delta: Quota,
    /// What it added to the frozen amount.
    pub frozen_delta: Quota,
    /// The account's balance once this row counts.
    pub balance_after: Quota,
    /// The account's held quota once this row counts.
    pub frozen_after: Quota,
    /// Why, in words for people.
    pub reason: String,
    pub time_ms: i64,
    /// The key that its job came by.
    pub key_id: Option<String>,
    /// The member who asked for that job.
    pub member_id: Option<String>,
    /// The model that it names.
    pub model: Option<String>,
    /// What the job costs, line by line, as JSON.
    pub price_lines: Option<String>,
}

impl FromRow for LedgerRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            account_id: columns.text()?,
            job_id: columns.maybe_text()?,
            kind: columns.text()?,
            amount: columns.quota()?,
            balance_delta: columns.quota()?,
            frozen_delta: columns.quota()?,
            balance_after: columns.quota()?,
            frozen_after: columns.quota()?,
            reason: columns.text()?,
            time_ms: columns.int()?,
            key_id: columns.maybe_text()?,
            member_id: columns.maybe_text()?,
            model: columns.maybe_text()?,
            price_lines: columns.maybe_text()?,
        })
    }
}

pub(crate) const LEDGER_COLUMNS: &str = "ledger.id, ledger.account_id, ledger.job_id, ledger.kind, ledger.amount, \
     ledger.balance_delta, ledger.frozen_delta, ledger.balance_after, ledger.frozen_after, ledger.reason, ledger.time_ms, \
     ledger.key_id, ledger.member_id, ledger.used_model, \
     (SELECT priced.price_lines FROM job AS priced WHERE priced.id = ledger.job_id)";

/// Credits and ledger rows.
#[derive(Clone, Copy, Debug)]
pub struct Ledger<'a>(pub(crate) &'a StoreCore);

impl Ledger<'_> {
    /// Grants or adjusts quota.
    pub async fn credit(self, credit: Credit, audit: Option<AuditRow>) -> Result<CreditOutcome> {
        audited_change::run(
            self.0,
            credit,
            audit,
            |conn, credit| Box::pin(post(conn, credit)),
            |credited| matches!(credited, CreditOutcome::Done(_)),
        )
        .await
    }

    /// A page of the ledger, newest first, and how many rows there are; of one account or of all.
    pub async fn list(
        self,
        account_id: Option<&str>,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<LedgerRow>, i64)> {
        // The rows of an account are numbered, so that neither counting nor skipping reads any of them. Those up to a
        // checkpoint are in the archive.
        let entries = match account_id {
            Some(_) => {
                "SELECT entries, COALESCE((SELECT number FROM ledger_checkpoint WHERE account_id = $1), 0) \
                 FROM account WHERE id = $1"
            }
            None => {
                "SELECT CAST(COALESCE(SUM(entries), 0) AS BIGINT), \
                 (SELECT CAST(COALESCE(SUM(number), 0) AS BIGINT) FROM ledger_checkpoint) FROM account WHERE $1 IS NULL"
            }
        };
        let reader = self.0.db.of(account_id);
        let counts: Option<(i64, i64)> = reader.maybe(entries, args![account_id]).await?;
        let Some((entries, archived)) = counts else {
            return Ok((Vec::new(), 0));
        };
        let page = match account_id {
            Some(_) => format!(
                "SELECT {LEDGER_COLUMNS} FROM ledger WHERE account_id = $1 AND number <= $3 \
                 ORDER BY number DESC LIMIT $2"
            ),
            None => format!(
                "SELECT {LEDGER_COLUMNS} FROM ledger WHERE $1 IS NULL \
                 ORDER BY time_ms DESC, id DESC LIMIT $2 OFFSET $3"
            ),
        };
        let start = if account_id.is_some() {
            entries - offset
        } else {
            offset
        };
        let rows = reader.all(&page, args![account_id, limit, start]).await?;
        Ok((rows, entries - archived))
    }
}

async fn post(conn: &mut Conn, credit: &Credit) -> Result<CreditOutcome> {
    let mut books = LedgerBatch::load(conn, &[&credit.account_id], &[]).await?;
    let Some(account) = accounts::read(conn, &credit.account_id).await? else {
        return Ok(CreditOutcome::NoAccount);
    };
    let before: Option<(i64, String)> = conn
        .maybe(
            "SELECT amount, reason FROM ledger WHERE account_id = $1 AND idempotency_key = $2 \
             UNION ALL SELECT amount, reason FROM archived_credit WHERE account_id = $1 AND key = $2",
            args![&credit.account_id, credit.idempotency_key.as_deref()],
        )
        .await?;
    if let Some((amount, reason)) = before {
        let same = amount == credit.amount.thousandths() && reason == credit.reason;
        return Ok(if same {
            CreditOutcome::Repeated(account)
        } else {
            CreditOutcome::Mismatch
        });
    }
    if account.balance + credit.amount < Quota::ZERO {
        return Ok(CreditOutcome::TooLow(account));
    }
    let posting = Posting {
        id: &credit.id,
        job_id: None,
        kind: credit.kind.word(),
        amount: credit.amount,
        balance_delta: credit.amount.thousandths(),
        frozen_delta: 0,
        reason: &credit.reason,
        idempotency_key: credit.idempotency_key.as_deref(),
        time_ms: credit.now_ms,
        spender: None,
    };
    books.post(&credit.account_id, &posting);
    books.write(conn).await?;
    let balance = account.balance + credit.amount;
    Ok(CreditOutcome::Done(Account { balance, ..account }))
}
