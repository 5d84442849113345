//! Accounts: who may spend what.

use atelier_contract::Quota;

use crate::{Result, Store};

/// A caller's account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Identifier.
    pub id: String,
    /// E-mail as given; unique in any case.
    pub email: String,
    /// When the e-mail was verified.
    pub email_verified_ms: Option<i64>,
    /// What can be spent.
    pub balance: Quota,
    /// What is held by unfinished jobs.
    pub frozen: Quota,
    /// The most unfinished jobs in one queue.
    pub max_queue: i64,
    /// Whether its keys are refused.
    pub disabled: bool,
    /// When it was made.
    pub created_ms: i64,
}

/// An account to be made.
#[derive(Clone, Debug)]
pub struct NewAccount {
    /// Identifier.
    pub id: String,
    /// E-mail.
    pub email: String,
    /// When the e-mail was verified.
    pub email_verified_ms: Option<i64>,
    /// First grant; no ledger row when zero.
    pub balance: Quota,
    /// The most unfinished jobs in one queue.
    pub max_queue: i64,
    /// Identifier of the grant's ledger row.
    pub ledger_id: String,
    /// The time.
    pub now_ms: i64,
}

/// What to change of an account; `None` leaves a field as it is.
#[derive(Clone, Debug, Default)]
pub struct AccountPatch {
    /// A new e-mail.
    pub email: Option<String>,
    /// A new queue limit.
    pub max_queue: Option<i64>,
    /// A new verification time, or none.
    pub email_verified_ms: Option<Option<i64>>,
    /// Whether its keys are refused.
    pub disabled: Option<bool>,
}

impl Store {
    /// Makes an account; a conflict when the e-mail exists in any case.
    pub async fn create_account(&self, _new: NewAccount) -> Result<Account> {
        Err(crate::Error::NotFound)
    }
    /// The account with an id.
    pub async fn account(&self, _id: &str) -> Result<Option<Account>> {
        Err(crate::Error::NotFound)
    }
    /// The account with an e-mail, in any case.
    pub async fn account_by_email(&self, _email: &str) -> Result<Option<Account>> {
        Err(crate::Error::NotFound)
    }
    /// A page of accounts, oldest first, and how many there are.
    pub async fn accounts(&self, _offset: i64, _limit: i64) -> Result<(Vec<Account>, i64)> {
        Err(crate::Error::NotFound)
    }
    /// Changes an account; `None` when there is none, a conflict when the new e-mail is taken.
    pub async fn update_account(&self, _id: &str, _patch: AccountPatch) -> Result<Option<Account>> {
        Err(crate::Error::NotFound)
    }
}
