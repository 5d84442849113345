//! A payment as it is stored: a new column is a line in each list of this file.

use atelier_contract::Quota;

use crate::row::{Columns, FromRow};

/// How far a payment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentState {
    /// It is waited for.
    Pending,
    /// It was made, and what it gives was given.
    Paid,
    /// Nobody made it in time. One that is made after all counts.
    Expired,
    /// The provider says that it cannot be made.
    Failed,
    /// All of its money went back.
    Refunded,
    /// The payer's bank looks into it.
    Disputed,
    /// Something else was paid than was asked for; an operator has to look.
    Mismatch,
}

impl PaymentState {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Paid,
        Self::Expired,
        Self::Failed,
        Self::Refunded,
        Self::Disputed,
        Self::Mismatch,
    ];

    /// The word in the table.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Paid => "paid",
            Self::Expired => "expired",
            Self::Failed => "failed",
            Self::Refunded => "refunded",
            Self::Disputed => "disputed",
            Self::Mismatch => "mismatch",
        }
    }

    /// The state of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }
}

/// A payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentRow {
    pub id: String,
    pub account_id: String,
    /// The product as it was called, and the revision that was bought.
    pub product: String,
    pub product_revision: u32,
    pub provider: String,
    /// In smaller units of the currency.
    pub money: i64,
    pub currency: String,
    /// What it gives, or gave.
    pub quota: Quota,
    /// How many days after it was paid that ends, if it does.
    pub credit_days: Option<i64>,
    /// The plan that it gives a period of, in lower case, and the revision that was sold once it is paid.
    pub plan: Option<String>,
    pub plan_revision: Option<u32>,
    pub state: PaymentState,
    /// Where it is made.
    pub pay_at: Option<String>,
    /// The first payment of the subscription that this one goes on with.
    pub renews_id: Option<String>,
    /// What of the money went back, all together.
    pub refunded: i64,
    /// What of the money the payer's bank holds, or has kept.
    pub disputed: i64,
    /// What was taken back of the quota, and how much of that came out of its own credit.
    pub taken: Quota,
    pub taken_credit: Quota,
    /// The row that granted it; none while a period that was paid ahead has not begun.
    pub ledger_id: Option<String>,
    pub created_ms: i64,
    /// When it is no longer waited for.
    pub expires_ms: i64,
    /// Whether it saves its customer, and whether a top-up began it.
    pub saves: bool,
    pub topup: bool,
    pub paid_ms: Option<i64>,
}

pub(super) const COLUMNS: &str = "id, account_id, product, product_revision, provider, money, currency, quota, credit_days, plan_key, \
     plan_revision, state, pay_at, renews_id, refunded, disputed, taken, taken_credit, ledger_id, created_ms, expires_ms, \
     saves, topup, paid_ms";

impl FromRow for PaymentRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            account_id: columns.text()?,
            product: columns.text()?,
            product_revision: columns.int()? as u32,
            provider: columns.text()?,
            money: columns.int()?,
            currency: columns.text()?,
            quota: columns.quota()?,
            credit_days: columns.maybe_int()?,
            plan: columns.maybe_text()?,
            plan_revision: columns.maybe_int()?.map(|revision| revision as u32),
            state: state(&columns.text()?)?,
            pay_at: columns.maybe_text()?,
            renews_id: columns.maybe_text()?,
            refunded: columns.int()?,
            disputed: columns.int()?,
            taken: columns.quota()?,
            taken_credit: columns.quota()?,
            ledger_id: columns.maybe_text()?,
            created_ms: columns.int()?,
            expires_ms: columns.int()?,
            saves: columns.maybe_int()?.unwrap_or(0) > 0,
            topup: columns.maybe_int()?.unwrap_or(0) > 0,
            paid_ms: columns.maybe_int()?,
        })
    }
}

fn state(word: &str) -> sqlx::Result<PaymentState> {
    let unknown = || sqlx::Error::Decode(format!("{word} is no state of a payment").into());
    PaymentState::from_word(word).ok_or_else(unknown)
}

/// Which payments to list.
#[derive(Clone, Debug, Default)]
pub struct PaymentFilter {
    pub account_id: Option<String>,
    pub state: Option<PaymentState>,
}
