//! The ledger: append-only, one row for every movement of quota.

use atelier_contract::Quota;

use crate::accounts::Account;
use crate::{Result, Store};

/// Why an account's balance changes without a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreditKind {
    /// Quota given.
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
    /// Whose balance.
    pub account_id: String,
    /// How much; may be negative.
    pub amount: Quota,
    /// Why it changes.
    pub kind: CreditKind,
    /// In words.
    pub reason: String,
    /// Repeats with the same key change nothing.
    pub idempotency_key: Option<String>,
    /// The time.
    pub now_ms: i64,
}

/// What became of a [`Credit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credited {
    /// Done; the account after it.
    Done(Account),
    /// The key was used before; nothing changed.
    Repeated(Account),
    /// The balance would go below zero; nothing changed.
    TooLow(Account),
    /// There is no such account.
    NoAccount,
}

/// One row of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerRow {
    /// Identifier.
    pub id: String,
    /// Whose quota moved.
    pub account_id: String,
    /// For which job.
    pub job_id: Option<String>,
    /// grant, adjust, hold, capture or release.
    pub kind: String,
    /// The amount the row is about.
    pub amount: Quota,
    /// What it added to the balance.
    pub balance_delta: Quota,
    /// What it added to the frozen amount.
    pub frozen_delta: Quota,
    /// The balance after it.
    pub balance_after: Quota,
    /// The frozen amount after it.
    pub frozen_after: Quota,
    /// In words.
    pub reason: String,
    /// When.
    pub time_ms: i64,
}

impl Store {
    /// Grants or adjusts quota.
    pub async fn credit(&self, _credit: Credit) -> Result<Credited> {
        Err(crate::Error::NotFound)
    }
    /// A page of the ledger, newest first, and how many rows there are; of one account or of all.
    pub async fn ledger(
        &self,
        _account_id: Option<&str>,
        _offset: i64,
        _limit: i64,
    ) -> Result<(Vec<LedgerRow>, i64)> {
        Err(crate::Error::NotFound)
    }
    /// Every broken invariant of the books in words; empty when all is well.
    pub async fn check_books(&self) -> Result<Vec<String>> {
        Err(crate::Error::NotFound)
    }
}
