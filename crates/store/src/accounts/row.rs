//! An account as it is stored.

use atelier_contract::Quota;

use crate::row::{Columns, FromRow};

/// What one account has of what all share, where an operator gave it something else than the settings do; 0 for what the
/// settings say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccountLimits {
    /// Submits per second.
    pub submits_per_second: i64,
    /// Other calls per second.
    pub calls_per_second: i64,
    /// The share of what is not given back by itself, in percent of the whole.
    pub share_percent: i64,
    /// Bytes of files that may be kept for it.
    pub max_storage: i64,
}

impl FromRow for AccountLimits {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            submits_per_second: columns.int()?,
            calls_per_second: columns.int()?,
            share_percent: columns.int()?,
            max_storage: columns.int()?,
        })
    }
}

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
    /// What it has of what all share.
    pub allowance: AccountLimits,
    /// Bytes of all files that are kept for it.
    pub stored: i64,
    /// Whether its keys are refused.
    pub disabled: bool,
    /// When it was made.
    pub created_ms: i64,
}

pub(crate) const ACCOUNT_COLUMNS: &str = "account.id, account.email, account.email_verified_ms, \
     account.balance, account.frozen, account.max_queue, account.submits_per_second, \
     account.calls_per_second, account.share_percent, account.max_storage, \
     COALESCE((SELECT stored.bytes FROM stored WHERE stored.account_id = account.id), 0) + account.words, account.disabled, account.created_ms";

impl FromRow for Account {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            email: columns.text()?,
            email_verified_ms: columns.maybe_int()?,
            balance: columns.quota()?,
            frozen: columns.quota()?,
            max_queue: columns.int()?,
            allowance: AccountLimits::read(columns)?,
            stored: columns.maybe_int()?.unwrap_or(0),
            disabled: columns.flag()?,
            created_ms: columns.int()?,
        })
    }
}
