//! The beginning of a payment: what it is for and how much it is, taken from the product as it is now; then where it is made.

use atelier_contract::Quota;

use super::row::{COLUMNS, PaymentRow};
use crate::Result;
use crate::db::{Conn, args};
use crate::plans;
use crate::products;
use crate::subscriptions;

/// Payments of an account that may be waited for at once.
const PENDING_MOST: i64 = 20;
/// Payments of an account that may be begun in a day and not be made: each leaves a row.
const UNPAID_MOST: i64 = 100;
const DAY_MS: i64 = 86_400_000;

/// A payment to be made.
#[derive(Clone, Debug)]
pub struct NewPayment {
    pub id: String,
    pub account_id: String,
    pub product: String,
    pub provider: String,
    /// The revision of the product that was looked at; another one by now is looked at again.
    pub product_revision: u32,
    /// Whether a payment for a plan begins a subscription there.
    pub subscribes: bool,
    /// Whether the provider is to save the customer, for top-ups.
    pub saves: bool,
    pub now_ms: i64,
    /// When it is no longer waited for.
    pub expires_ms: i64,
}

/// What became of a [`NewPayment`]. Nothing has changed unless it was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaymentOutcome {
    Done(Box<PaymentRow>),
    /// There is no such product.
    NoProduct,
    /// The plan that it gives a period of is not there.
    NoPlan(String),
    /// The product was changed meanwhile.
    Crossed,
    /// The account has another plan.
    OtherPlan(String),
    /// The account has a subscription that goes on.
    Subscribed,
    /// The account has as many payments that are waited for as it may.
    TooMany {
        most: i64,
    },
    /// The account is paused.
    Paused,
    /// There is no such account.
    NoAccount,
}

/// Where a payment is made.
#[derive(Clone, Debug)]
pub struct PaymentPlace {
    pub pay_at: Option<String>,
    /// What the provider calls it.
    pub reference: Option<String>,
    /// Whether the provider did not take it.
    pub failed: bool,
}

pub(super) async fn create(conn: &mut Conn, new: &NewPayment) -> Result<PaymentOutcome> {
    let account_id = &*new.account_id;
    let paused: Option<i64> = conn.maybe(ACCOUNT, args![account_id]).await?;
    match paused {
        None => return Ok(PaymentOutcome::NoAccount),
        Some(0) => {}
        Some(_) => return Ok(PaymentOutcome::Paused),
    }
    let Some((product, revision)) = products::definition(conn, &new.product).await? else {
        return Ok(PaymentOutcome::NoProduct);
    };
    if revision != new.product_revision {
        return Ok(PaymentOutcome::Crossed);
    }
    let pending: Option<i64> = conn.maybe(PENDING, args![account_id, new.now_ms]).await?;
    if pending.unwrap_or(0) >= PENDING_MOST {
        return Ok(PaymentOutcome::TooMany { most: PENDING_MOST });
    }
    let values = args![account_id, new.now_ms.saturating_sub(DAY_MS)];
    let unpaid: Option<i64> = conn.maybe(UNPAID, values).await?;
    if unpaid.unwrap_or(0) >= UNPAID_MOST {
        return Ok(PaymentOutcome::TooMany { most: UNPAID_MOST });
    }
    let mut quota = product.quota.unwrap_or(Quota::ZERO);
    if let Some(plan) = &product.plan {
        let Some(sold) = plans::pay::sold(conn, plan).await? else {
            return Ok(PaymentOutcome::NoPlan(plan.clone()));
        };
        quota = sold.quota;
        if new.subscribes && subscriptions::is_active(conn, account_id).await? {
            return Ok(PaymentOutcome::Subscribed);
        }
        let other: Option<String> = conn.maybe(OTHER_PLAN, args![account_id, plan]).await?;
        if let Some(other) = other {
            return Ok(PaymentOutcome::OtherPlan(other));
        }
    }
    let values = args![
        &new.id,
        account_id,
        &product.name,
        i64::from(revision),
        &new.provider,
        product.money,
        &product.currency,
        quota.thousandths(),
        product.credit_days,
        product.plan.as_deref(),
        new.now_ms,
        new.expires_ms,
        new.saves.then_some(1_i64),
        None::<i64>
    ];
    conn.run(INSERT, values).await?;
    Ok(PaymentOutcome::Done(Box::new(read(conn, &new.id).await?)))
}

pub(super) async fn place(conn: &mut Conn, id: &str, place: &PaymentPlace) -> Result<bool> {
    let PaymentPlace {
        pay_at,
        reference,
        failed,
    } = place;
    if let Some(reference) = reference {
        conn.run(REFER, args![id, reference]).await?;
    }
    let values = args![id, pay_at.as_deref(), i64::from(*failed)];
    Ok(conn.run(PLACE, values).await? > 0)
}

/// A payment that the writer knows to be there.
pub(super) async fn read(conn: &mut Conn, id: &str) -> Result<PaymentRow> {
    let sql = format!("SELECT {COLUMNS} FROM payment WHERE id = $1");
    let found = conn.maybe(&sql, args![id]).await?;
    found.ok_or_else(|| sqlx::Error::RowNotFound.into())
}

// One that was deleted keeps its row.
const ACCOUNT: &str = "SELECT CAST(CASE WHEN disabled THEN 1 ELSE 0 END AS BIGINT) FROM account \
     WHERE id = $1 AND email_key <> 'deleted-' || id {lock}";

const PENDING: &str =
    "SELECT COUNT(*) FROM payment WHERE account_id = $1 AND state = 'pending' AND expires_ms > $2";

const OTHER_PLAN: &str = "SELECT plan_key FROM account_plan WHERE account_id = $1 AND begun = 1 AND ends = 0 AND plan_key <> $2";

const UNPAID: &str =
    "SELECT COUNT(*) FROM payment WHERE account_id = $1 AND created_ms > $2 AND paid_ms IS NULL";

pub(super) const INSERT: &str = "INSERT INTO payment (id, account_id, product, product_revision, provider, money, currency, quota, credit_days, \
     plan_key, state, refunded, disputed, taken, taken_credit, created_ms, expires_ms, saves, topup) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'pending', 0, 0, 0, 0, $11, $12, $13, $14)";

const REFER: &str = "INSERT INTO payment_reference (provider, reference, payment_id) \
     SELECT provider, $2, id FROM payment WHERE id = $1 ON CONFLICT (provider, reference) DO NOTHING";

// What was told meanwhile stays.
const PLACE: &str = "UPDATE payment SET pay_at = $2, state = CASE WHEN state = 'pending' AND $3 = 1 THEN 'failed' ELSE state END WHERE id = $1";

pub(super) const EXPIRE: &str = "UPDATE payment SET state = 'expired' WHERE state = 'pending' AND id IN \
     (SELECT late.id FROM payment AS late WHERE late.state = 'pending' AND late.expires_ms <= $1 ORDER BY late.expires_ms LIMIT $2)";
