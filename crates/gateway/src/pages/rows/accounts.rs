//! Accounts as the operator sees and makes them.

use atelier_contract::Quota;
use atelier_contract::fields::{Count, Flag, OperatorDate, Text};
use atelier_contract::models::DEFAULT_GROUP;
use atelier_contract::pages::accounts::{
    Email, MaxQueue, NonNegativeQuota, Percent, Rate, Storage,
};
use atelier_contract::time::timestamp;
use atelier_engine::records::{Account, AccountLimitsPatch, AccountPatch};
use atelier_engine::{CreditRequest, NewAccountRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A new account.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct NewAccount {
    /// E-mail address of its owner.
    pub(crate) email: Email,
    /// Quota granted at once.
    pub(crate) balance: NonNegativeQuota,
    /// Unfinished jobs allowed in one queue; the configured number when absent.
    #[serde(default)]
    pub(crate) max_queue: Option<MaxQueue>,
    /// Whether the address counts as verified.
    #[serde(default)]
    pub(crate) email_verified: Flag<true>,
}

impl From<NewAccount> for NewAccountRequest {
    fn from(new: NewAccount) -> Self {
        Self {
            email: new.email.into_string(),
            balance: new.balance.get(),
            max_queue: new.max_queue.map(Count::get),
            email_verified: new.email_verified.on(),
        }
    }
}

/// Changes of an account.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct AccountChange {
    /// New e-mail address of its owner.
    #[serde(default)]
    pub(crate) email: Option<Email>,
    /// Unfinished jobs allowed in one queue.
    #[serde(default)]
    pub(crate) max_queue: Option<MaxQueue>,
    /// How much quota it may owe for work, to be invoiced later; 0 for none.
    #[serde(default)]
    pub(crate) credit_limit: Option<Quota>,
    /// Submits per second that it may make; 0 for the configured number.
    #[serde(default)]
    pub(crate) submits_per_second: Option<Rate>,
    /// Other calls per second that it may make; 0 for the configured number.
    #[serde(default)]
    pub(crate) calls_per_second: Option<Rate>,
    /// The most that it may have of what is not given back by itself (requests under way, bodies, inputs, event streams,
    /// downloads), in percent of the whole; 0 for an eighth.
    #[serde(default)]
    pub(crate) share_percent: Option<Percent>,
    /// Bytes of results and inputs that may be kept for it; 0 for the configured number.
    #[serde(default)]
    pub(crate) max_storage: Option<Storage>,
    /// Whether the address counts as verified.
    #[serde(default)]
    pub(crate) email_verified: Option<Flag<true>>,
    /// Whether its keys are refused.
    #[serde(default)]
    pub(crate) disabled: Option<Flag<false>>,
    /// The group that it shall be in; `default` is the one that all begin in.
    #[serde(default)]
    pub(crate) group: Option<Text<64>>,
    /// The operators' note, for one another; blanks remove it.
    #[serde(default)]
    pub(crate) notes: Option<Text<2000>>,
}

impl AccountChange {
    /// The change of the record, at a time.
    pub(crate) fn patch(self, now_ms: i64) -> AccountPatch {
        let verified = self.email_verified.map(Flag::on);
        let group = self.group.map(|group| group.trim().to_ascii_lowercase());
        let group = group.filter(|group| !group.is_empty());
        let notes = self.notes.map(|notes| notes.trim().to_owned());
        AccountPatch {
            notes: notes.map(|notes| Some(notes).filter(|notes| !notes.is_empty())),
            group: group.map(|group| Some(group).filter(|group| group != DEFAULT_GROUP)),
            email: self.email.map(Email::into_string),
            max_queue: self.max_queue.map(Count::get),
            email_verified_ms: verified.map(|verified| verified.then_some(now_ms)),
            disabled: self.disabled.map(Flag::on),
            credit_limit: self.credit_limit,
            alive_since_ms: 0,
            allowance: AccountLimitsPatch {
                submits_per_second: self.submits_per_second.map(Count::get),
                calls_per_second: self.calls_per_second.map(Count::get),
                share_percent: self.share_percent.map(Count::get),
                max_storage: self.max_storage.map(Count::get),
            },
        }
    }
}

/// Quota to grant, or to take away.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Credit {
    /// How much; negative to take away.
    pub(crate) amount: Quota,
    /// Why, for the ledger.
    #[serde(default)]
    pub(crate) reason: Option<Text<500>>,
    /// The same key credits once.
    #[serde(default)]
    pub(crate) idempotency_key: Option<Text<255>>,
    /// Expiry of the grant, `YYYY-MM-DD` (midnight UTC) or RFC 3339; never if absent.
    #[serde(default)]
    pub(crate) expires: Option<OperatorDate>,
}

impl From<Credit> for CreditRequest {
    fn from(wish: Credit) -> Self {
        let text = |text: &str| text.to_owned();
        Self {
            amount: wish.amount,
            reason: wish.reason.as_deref().map(text).unwrap_or_default(),
            idempotency_key: wish.idempotency_key.as_deref().map(text),
            expires_ms: wish.expires.map(OperatorDate::ms),
        }
    }
}

/// An account as the operator sees it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Account")]
pub(crate) struct AccountRow {
    /// Identifier of the account.
    pub(crate) id: String,
    /// E-mail address of its owner.
    pub(crate) email: String,
    /// When the address was verified, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) email_verified_at: Option<String>,
    /// Quota that can be spent.
    pub(crate) balance: Quota,
    /// Quota reserved for unfinished jobs.
    pub(crate) freeze_balance: Quota,
    /// Quota that it owes: of a payment that was refunded after it was spent, and what its credit limit lent. Incoming quota pays it first.
    pub(crate) debt: Quota,
    /// How much quota it may owe for work.
    pub(crate) credit_limit: Quota,
    /// Unfinished jobs allowed in one queue.
    pub(crate) max_queue: i64,
    /// Submits per second that it may make; 0 for the configured number.
    pub(crate) submits_per_second: i64,
    /// Other calls per second that it may make; 0 for the configured number.
    pub(crate) calls_per_second: i64,
    /// The most that it may have of what is not given back by itself, in percent of the whole; 0 for an eighth.
    pub(crate) share_percent: i64,
    /// Bytes of results and inputs that may be kept for it; 0 for the configured number.
    pub(crate) max_storage: i64,
    /// Bytes of results and inputs that are kept for it.
    pub(crate) stored_bytes: i64,
    /// Whether its keys are refused.
    pub(crate) disabled: bool,
    /// Group of the account; it decides prices and visible models.
    pub(crate) group: String,
    /// The operators' note; never shown to the account.
    pub(crate) notes: Option<String>,
    /// When it was made.
    pub(crate) created_at: String,
}

impl From<Account> for AccountRow {
    fn from(account: Account) -> Self {
        Self {
            id: account.id.to_string(),
            email: account.email,
            email_verified_at: account.email_verified_ms.map(timestamp),
            balance: account.balance,
            freeze_balance: account.frozen,
            debt: account.debt,
            credit_limit: account.credit_limit,
            max_queue: account.max_queue,
            submits_per_second: account.allowance.submits_per_second,
            calls_per_second: account.allowance.calls_per_second,
            share_percent: account.allowance.share_percent,
            max_storage: account.allowance.max_storage,
            stored_bytes: account.stored,
            disabled: account.disabled,
            group: account.group.unwrap_or_else(|| DEFAULT_GROUP.to_owned()),
            notes: account.notes,
            created_at: timestamp(account.created_ms),
        }
    }
}

/// An account that was just made.
#[derive(Serialize, JsonSchema)]
pub(crate) struct MadeAccount {
    /// The account.
    #[serde(flatten)]
    pub(crate) account: AccountRow,
    /// Its first key; no other answer shows it.
    pub(crate) api_key: String,
}
