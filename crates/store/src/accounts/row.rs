//! An account as it is stored.

use atelier_contract::Quota;

use crate::row::{Columns, Read};

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

pub(crate) const ACCOUNT_COLUMNS: &str = "account.id, account.email, account.email_verified_ms, \
     account.balance, account.frozen, account.max_queue, account.disabled, account.created_ms";

impl Read for Account {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            email: columns.text()?,
            email_verified_ms: columns.maybe_int()?,
            balance: columns.quota()?,
            frozen: columns.quota()?,
            max_queue: columns.int()?,
            disabled: columns.flag()?,
            created_ms: columns.int()?,
        })
    }
}
