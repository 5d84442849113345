//! Refunds that operators ask for. Each is written down before its provider is asked, and repeated under its identifier until the answer is
//! known, so that money goes back once whatever is cut off in between.

use super::row::PaymentRow;
use crate::Result;
use crate::db::{Conn, args};
use crate::row::{Columns, FromRow};

/// A refund that an operator asks for.
#[derive(Clone, Debug)]
pub struct NewRefund {
    pub id: String,
    pub payment_id: String,
    /// How much of the money; all that is left without.
    pub money: Option<i64>,
    /// The same key refunds once.
    pub idempotency_key: Option<String>,
    pub now_ms: i64,
}

/// A refund.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefundRow {
    pub id: String,
    pub payment_id: String,
    pub money: i64,
    /// asked, done or refused.
    pub state: String,
    /// Why the provider refused it.
    pub why: Option<String>,
    pub created_ms: i64,
    /// When the provider was asked last.
    pub tried_ms: i64,
}

impl FromRow for RefundRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            payment_id: columns.text()?,
            money: columns.int()?,
            state: columns.text()?,
            why: columns.maybe_text()?,
            created_ms: columns.int()?,
            tried_ms: columns.int()?,
        })
    }
}

/// What became of a [`NewRefund`]. Nothing has changed unless it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefundOutcome {
    Asked(RefundRow),
    /// It was asked before.
    Repeated(RefundRow),
    /// The key was used before for another amount.
    Mismatch,
    /// The answer to another one is not known yet.
    Open(RefundRow),
    /// There is not so much left of the money.
    TooMuch {
        left: i64,
    },
    /// There is no such payment.
    NoPayment,
}

pub(super) async fn ask(conn: &mut Conn, new: &NewRefund) -> Result<RefundOutcome> {
    let account: Option<String> = conn.maybe(LOCK, args![&new.payment_id]).await?;
    if account.is_none() {
        return Ok(RefundOutcome::NoPayment);
    }
    let payment: PaymentRow = super::create::read(conn, &new.payment_id).await?;
    let values = args![&new.payment_id, new.idempotency_key.as_deref()];
    let before: Option<RefundRow> = conn.maybe(BEFORE, values).await?;
    if let Some(before) = before {
        let is_same = new.money.is_none_or(|money| money == before.money);
        return Ok(if is_same {
            RefundOutcome::Repeated(before)
        } else {
            RefundOutcome::Mismatch
        });
    }
    let open: Option<RefundRow> = conn.maybe(OPEN, args![&new.payment_id]).await?;
    if let Some(open) = open {
        // Without a key it is the same one while no one knows what became of that.
        let is_same = new.money.is_none_or(|money| money == open.money);
        return Ok(if is_same && new.idempotency_key.is_none() {
            RefundOutcome::Repeated(open)
        } else {
            RefundOutcome::Open(open)
        });
    }
    let gone = payment.refunded.saturating_add(payment.disputed);
    let left = match payment.paid_ms {
        Some(_) => (payment.money - gone).max(0),
        None => 0,
    };
    let money = new.money.unwrap_or(left);
    if money < 1 || money > left {
        return Ok(RefundOutcome::TooMuch { left });
    }
    let values = args![
        &new.id,
        &new.payment_id,
        money,
        new.idempotency_key.as_deref(),
        new.now_ms
    ];
    conn.run(INSERT, values).await?;
    Ok(RefundOutcome::Asked(RefundRow {
        id: new.id.clone(),
        payment_id: new.payment_id.clone(),
        money,
        state: "asked".into(),
        why: None,
        created_ms: new.now_ms,
        tried_ms: new.now_ms,
    }))
}

/// Takes a refund in hand that was tried before; whether no one else did meanwhile.
pub(super) async fn claim(conn: &mut Conn, open: &RefundRow, now_ms: i64) -> Result<bool> {
    let values = args![&open.id, open.tried_ms, now_ms];
    Ok(conn.run(CLAIM, values).await? > 0)
}

/// Notes that a refund was made.
pub(super) async fn done(conn: &mut Conn, id: &str) -> Result<()> {
    conn.run(DONE, args![id]).await.map(|_| ())
}

/// Notes that the provider refused it.
pub(super) async fn refuse(conn: &mut Conn, id: &str, why: &str) -> Result<()> {
    conn.run(REFUSE, args![id, why]).await.map(|_| ())
}

// The account first, as everywhere.
const LOCK: &str = "SELECT id FROM account WHERE id = (SELECT payment.account_id FROM payment WHERE payment.id = $1) {lock}";

const BEFORE: &str = "SELECT id, payment_id, money, state, why, created_ms, tried_ms FROM refund \
     WHERE payment_id = $1 AND idempotency_key = $2";

const OPEN: &str = "SELECT id, payment_id, money, state, why, created_ms, tried_ms FROM refund \
     WHERE payment_id = $1 AND state = 'asked' LIMIT 1";

pub(super) const OF_PAYMENT: &str = "SELECT id, payment_id, money, state, why, created_ms, tried_ms FROM refund \
     WHERE payment_id = $1 ORDER BY created_ms DESC, id DESC LIMIT $2";

pub(super) const TO_REPEAT: &str = "SELECT id, payment_id, money, state, why, created_ms, tried_ms FROM refund \
     WHERE state = 'asked' AND tried_ms < $1 ORDER BY tried_ms LIMIT 1";

const INSERT: &str = "INSERT INTO refund (id, payment_id, money, idempotency_key, state, created_ms, tried_ms) \
     VALUES ($1, $2, $3, $4, 'asked', $5, $5)";

const CLAIM: &str =
    "UPDATE refund SET tried_ms = $3 WHERE id = $1 AND tried_ms = $2 AND state = 'asked'";

const DONE: &str = "UPDATE refund SET state = 'done' WHERE id = $1";

const REFUSE: &str =
    "UPDATE refund SET state = 'refused', why = $2 WHERE id = $1 AND state = 'asked'";
