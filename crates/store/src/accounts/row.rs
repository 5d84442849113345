//! An account as it is stored, and what may be changed of it: a new column is a line in each list of this file.

use atelier_contract::models::DEFAULT_GROUP;
use atelier_contract::{AccountId, Quota};

use crate::Result;
use crate::db::{Conn, args};
use crate::row::{Columns, FromRow};

/// What one account has of what all share, where an operator gave it something else than the settings do; 0 for what the
/// settings say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccountLimits {
    pub submits_per_second: i64,
    /// Other calls per second.
    pub calls_per_second: i64,
    /// The share of what is not given back by itself, in percent of the whole.
    pub share_percent: i64,
    /// Bytes of files that may be kept for it.
    pub max_storage: i64,
}

pub(crate) const LIMITS_COLUMNS: &str =
    "submits_per_second, calls_per_second, share_percent, max_storage";

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub id: AccountId,
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
    /// Its group in lower case; without one it is in the group that all begin in.
    pub group: Option<String>,
    /// What operators note of it.
    pub notes: Option<String>,
    /// What it owes: quota of a payment that went back after it was spent, and what was lent for work.
    pub debt: Quota,
    /// How much it may owe for work.
    pub credit_limit: Quota,
    /// When it was made.
    pub created_ms: i64,
}

pub(crate) const ACCOUNT_COLUMNS: &str = "account.id, account.email, account.email_verified_ms, \
     account.balance, account.frozen, account.max_queue, account.submits_per_second, \
     account.calls_per_second, account.share_percent, account.max_storage, \
     COALESCE((SELECT stored.bytes FROM stored WHERE stored.account_id = account.id), 0) + account.words, account.disabled, \
     account.group_key, account.notes, COALESCE(account.debt, 0), COALESCE(account.credit_limit, 0), account.created_ms";

impl FromRow for Account {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?.into(),
            email: columns.text()?,
            email_verified_ms: columns.maybe_int()?,
            balance: columns.quota()?,
            frozen: columns.quota()?,
            max_queue: columns.int()?,
            allowance: AccountLimits::read(columns)?,
            stored: columns.maybe_int()?.unwrap_or(0),
            disabled: columns.flag()?,
            group: columns.maybe_text()?,
            notes: columns.maybe_text()?,
            debt: columns.quota()?,
            credit_limit: columns.quota()?,
            created_ms: columns.int()?,
        })
    }
}

/// What to change of an account; `None` leaves a field as it is.
#[derive(Clone, Debug, Default)]
pub struct AccountPatch {
    /// A new e-mail.
    pub email: Option<String>,
    /// A new queue limit.
    pub max_queue: Option<i64>,
    /// What it shall have of what all share.
    pub allowance: AccountLimitsPatch,
    /// A new verification time, or none.
    pub email_verified_ms: Option<Option<i64>>,
    /// Whether its keys are refused.
    pub disabled: Option<bool>,
    /// Another group, which has to be there, or the one that all begin in.
    pub group: Option<Option<String>>,
    /// Other notes, or none.
    pub notes: Option<Option<String>>,
    /// How much it may owe for work.
    pub credit_limit: Option<Quota>,
    /// Nodes that were heard of since then may be at work.
    pub alive_since_ms: i64,
}

/// What to change of an account's part of what all share; 0 for what the settings say.
#[derive(Clone, Copy, Debug, Default)]
pub struct AccountLimitsPatch {
    pub submits_per_second: Option<i64>,
    /// Other calls per second.
    pub calls_per_second: Option<i64>,
    /// The share of what is not given back by itself, in percent of the whole.
    pub share_percent: Option<i64>,
    /// Bytes of files that may be kept for it.
    pub max_storage: Option<i64>,
}

impl AccountPatch {
    /// The changed fields with their new values, for the audit list.
    pub fn summary(&self) -> String {
        let number = |value: Option<i64>| value.map(|value| value.to_string());
        let flag = |value: Option<bool>| value.map(|value| value.to_string());
        let limits = &self.allowance;
        let group = self.group.as_ref();
        let group = group.map(|group| group.as_deref().unwrap_or(DEFAULT_GROUP).to_owned());
        // The record of acts is kept for ever; what was noted may be about people and has to go when it is changed.
        let notes = self.notes.as_ref();
        let notes = notes.map(|notes| if notes.is_some() { "changed" } else { "none" }.to_owned());
        let verified = self.email_verified_ms.map(|at_ms| at_ms.is_some());
        let all = [
            ("email", self.email.clone()),
            ("max_queue", number(self.max_queue)),
            ("email_verified", flag(verified)),
            ("disabled", flag(self.disabled)),
            ("group", group),
            ("notes", notes),
            ("submits_per_second", number(limits.submits_per_second)),
            ("calls_per_second", number(limits.calls_per_second)),
            ("share_percent", number(limits.share_percent)),
            ("max_storage", number(limits.max_storage)),
            (
                "credit_limit",
                self.credit_limit.map(|limit| limit.to_string()),
            ),
        ];
        let given = all
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name}={}", value?)));
        given.collect::<Vec<_>>().join(" ")
    }

    /// Writes what is changed, with the key of the new e-mail.
    pub(super) async fn write(
        &self,
        conn: &mut Conn,
        id: &str,
        email_key: Option<&str>,
    ) -> Result<()> {
        conn.run(
            "UPDATE account SET email = COALESCE($2, email), email_key = COALESCE($3, email_key), \
             max_queue = COALESCE($4, max_queue), \
             email_verified_ms = CASE WHEN $5 THEN $6 ELSE email_verified_ms END, \
             disabled = CASE WHEN $7 THEN $8 ELSE disabled END, \
             submits_per_second = COALESCE($9, submits_per_second), \
             calls_per_second = COALESCE($10, calls_per_second), \
             share_percent = COALESCE($11, share_percent), max_storage = COALESCE($12, max_storage), \
             group_key = CASE WHEN $13 THEN $14 ELSE group_key END, \
             notes = CASE WHEN $15 THEN $16 ELSE notes END, \
             credit_limit = COALESCE($17, credit_limit) \
             WHERE id = $1",
            args![
                id,
                self.email.as_deref(),
                email_key,
                self.max_queue,
                self.email_verified_ms.is_some(),
                self.email_verified_ms.flatten(),
                self.disabled.is_some(),
                self.disabled.unwrap_or_default(),
                self.allowance.submits_per_second,
                self.allowance.calls_per_second,
                self.allowance.share_percent,
                self.allowance.max_storage,
                self.group.is_some(),
                self.group.as_ref().and_then(Option::as_deref),
                self.notes.is_some(),
                self.notes.as_ref().and_then(Option::as_deref),
                self.credit_limit.map(Quota::thousandths)
            ],
        )
        .await
        .map(|_| ())
    }
}
