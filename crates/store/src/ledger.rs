//! The ledger: append-only, one row for every movement of quota.

use atelier_contract::Quota;

use crate::Result;
use crate::accounts::{self, Account};
use crate::audit::AuditRow;
use crate::audited_change;
use crate::batch::credits::NewCredit;
use crate::batch::ledger_batch::{CREDITS_MOST, LedgerBatch, Posting};
use crate::credits::Credits;
use crate::db::{Conn, args};
use crate::exports::Exports;
use crate::first_use;
use crate::migrate::CREDITS;
use crate::payments::Payments;
use crate::plans::Plans;
use crate::products::Products;
use crate::receipts::Receipts;
use crate::row::{Columns, FromRow};
use crate::statements::Statements;
use crate::store_core::StoreCore;
use crate::subscriptions::Subscriptions;
use crate::topups::Topups;
use crate::vouchers::Vouchers;

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
    /// When what is granted ends, if it does.
    pub end: Option<CreditEnd>,
    pub now_ms: i64,
}

/// When quota that is granted ends.
#[derive(Clone, Copy, Debug)]
pub struct CreditEnd {
    /// From then on it is of no use.
    pub expires_ms: i64,
    /// Nodes that were heard of since then may be at work.
    pub alive_since_ms: i64,
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
    /// The account has as many credits that have not ended as it may; nothing changed.
    TooMany {
        /// How many it may have.
        most: i64,
    },
    /// Nothing ends yet, and a node is at work whose program does not know that anything may.
    OlderNode(String),
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
    /// What an adjustment is, where that is not an operator's correction: `expire` of a credit that ended, `refund` of a payment, `debt`
    /// that was lent for one or paid.
    pub cause: Option<String>,
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
            cause: columns.maybe_text()?,
        })
    }
}

pub(crate) const LEDGER_COLUMNS: &str = "ledger.id, ledger.account_id, ledger.job_id, ledger.kind, ledger.amount, \
     ledger.balance_delta, ledger.frozen_delta, ledger.balance_after, ledger.frozen_after, ledger.reason, ledger.time_ms, \
     ledger.key_id, ledger.member_id, ledger.used_model, \
     (SELECT priced.price_lines FROM job AS priced WHERE priced.id = ledger.job_id), ledger.cause";

/// Credits and ledger rows.
#[derive(Clone, Copy, Debug)]
pub struct Ledger<'a>(pub(crate) &'a StoreCore);

impl<'a> Ledger<'a> {
    /// Quota that ends.
    pub fn credits(self) -> Credits<'a> {
        Credits(self.0)
    }

    /// What accounts buy.
    pub fn payments(self) -> Payments<'a> {
        Payments(self.0)
    }

    /// Their subscriptions at providers.
    pub fn subscriptions(self) -> Subscriptions<'a> {
        Subscriptions(self.0)
    }

    /// What they buy by themselves.
    pub fn topups(self) -> Topups<'a> {
        Topups(self.0)
    }

    /// What they were charged for.
    pub fn receipts(self) -> Receipts<'a> {
        Receipts(self.0)
    }

    /// What they can buy.
    pub fn products(self) -> Products<'a> {
        Products(self.0)
    }

    /// Plans and the accounts that have one.
    pub fn plans(self) -> Plans<'a> {
        Plans(self.0)
    }

    /// Codes that are worth quota.
    pub fn vouchers(self) -> Vouchers<'a> {
        Vouchers(self.0)
    }

    /// What accounts had, got and spent in months.
    pub fn statements(self) -> Statements<'a> {
        Statements(self.0)
    }

    /// Rows in the order of their index, for whoever takes all of them.
    pub fn exports(self) -> Exports<'a> {
        Exports(self.0)
    }
}

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
    let account_id = &*credit.account_id;
    let mut books = LedgerBatch::load(conn, &[account_id], &[]).await?;
    let Some(account) = accounts::read(conn, account_id).await? else {
        return Ok(CreditOutcome::NoAccount);
    };
    let before: Option<((i64, String), Option<i64>)> = conn
        .maybe(BEFORE, args![account_id, credit.idempotency_key.as_deref()])
        .await?;
    if let Some(((amount, reason), expires_ms)) = before {
        let wanted_ms = credit.end.map_or(NEVER, |end| end.expires_ms);
        let same = amount == credit.amount.thousandths()
            && reason == credit.reason
            && expires_ms.is_none_or(|expires_ms| expires_ms == wanted_ms);
        return Ok(if same {
            CreditOutcome::Repeated(account)
        } else {
            CreditOutcome::Mismatch
        });
    }
    books.end_credits(account_id, credit.now_ms);
    let balance = books.balance(account_id);
    if balance + credit.amount < Quota::ZERO {
        return Ok(CreditOutcome::TooLow(Account { balance, ..account }));
    }
    let posting = posting_of(credit);
    match &credit.end {
        Some(end) => {
            if books.has_most_credits(account_id) {
                return Ok(CreditOutcome::TooMany { most: CREDITS_MOST });
            }
            if let Some(node) = first_use::begin(conn, CREDITS, end.alive_since_ms).await? {
                return Ok(CreditOutcome::OlderNode(node));
            }
            let new = NewCredit {
                source: "grant",
                expires_ms: end.expires_ms,
                origin: &credit.reason,
                stays: false,
                alone: false,
            };
            books.grant(account_id, &new, &posting);
        }
        None if credit.amount < Quota::ZERO => books.withdraw(account_id, &posting),
        None => books.post(account_id, &posting),
    }
    books.write(conn).await?;
    let balance = books.balance(account_id);
    Ok(CreditOutcome::Done(Account { balance, ..account }))
}

fn posting_of(credit: &Credit) -> Posting<'_> {
    Posting {
        id: &credit.id,
        job_id: None,
        kind: credit.kind.word(),
        cause: None,
        amount: credit.amount,
        balance_delta: credit.amount.thousandths(),
        frozen_delta: 0,
        reason: &credit.reason,
        idempotency_key: credit.idempotency_key.as_deref(),
        time_ms: credit.now_ms,
        spender: None,
    }
}

/// What stands for the end of what has none.
const NEVER: i64 = 0;

// Of what is in the archive it is not known when it was to end.
const BEFORE: &str = "SELECT amount, reason, COALESCE((SELECT credit.expires_ms FROM credit WHERE credit.id = ledger.id), 0) \
     FROM ledger WHERE account_id = $1 AND idempotency_key = $2 \
     UNION ALL SELECT amount, reason, CAST(NULL AS BIGINT) FROM archived_credit WHERE account_id = $1 AND key = $2";
