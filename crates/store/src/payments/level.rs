//! What a payment has given is brought in line with what of its money is still there. It is computed from everything that was told, so
//! that the order in which that came does not matter.

use std::collections::BTreeMap;

use atelier_contract::Quota;
use atelier_contract::products::taken_back;

use super::event::{self, ToldEvent};
use super::row::{PaymentRow, PaymentState};
use crate::Result;
use crate::batch::credits::NewCredit;
use crate::batch::ledger_batch::{LedgerBatch, Posting};
use crate::db::{Conn, args};
use crate::plans;

/// What of the money of a payment is not there any more.
#[derive(Default)]
struct GoneMoney {
    refunded: i64,
    disputed: i64,
    /// Whether a bank is yet to decide.
    is_open: bool,
}

/// A dispute as far as it was told of.
#[derive(Default)]
struct Dispute {
    money: i64,
    won: bool,
    closed: bool,
}

impl GoneMoney {
    fn of(told: &[ToldEvent], payment: &PaymentRow) -> Self {
        let mut gone = Self {
            refunded: payment.refunded,
            ..Self::default()
        };
        let mut disputes: BTreeMap<&str, Dispute> = BTreeMap::new();
        for one in told {
            let Some(subject) = one.subject.as_deref() else {
                gone.refunded = gone.refunded.max(one.money);
                continue;
            };
            let dispute = disputes.entry(subject).or_default();
            dispute.money = dispute.money.max(one.money);
            dispute.won |= one.kind == "dispute_won";
            dispute.closed |= one.kind != "disputed";
        }
        let lost = disputes.values().filter(|one| !one.won);
        gone.disputed = lost.map(|one| one.money).sum();
        gone.is_open = disputes.values().any(|one| !one.closed);
        gone.refunded = gone.refunded.min(payment.money);
        gone.disputed = gone.disputed.min(payment.money);
        gone
    }

    /// Money does not go back twice: what a bank has taken cannot be refunded as well.
    fn all(&self, money: i64) -> i64 {
        (self.refunded + self.disputed).min(money)
    }
}

/// Takes back of an account what is not paid for any more, or gives it back; the payment after it.
pub(super) async fn level(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    payment: PaymentRow,
    (ledger_id, now_ms): (&str, i64),
) -> Result<PaymentRow> {
    let told = event::told(conn, &payment.id).await?;
    let gone = GoneMoney::of(&told, &payment);
    let mut row = PaymentRow {
        refunded: gone.refunded,
        disputed: gone.disputed,
        ..payment
    };
    if row.paid_ms.is_none() {
        return Ok(row);
    }
    let back = gone.all(row.money);
    let ends_ms = credit_end(conn, books, &row).await?;
    // A period of a plan that has not begun has given nothing yet.
    let wanted = if row.plan.is_none() || ends_ms.is_some() {
        taken_back(row.quota, row.money, back)
    } else {
        row.taken
    };
    let change = wanted.thousandths() - row.taken.thousandths();
    if change > 0 {
        take(books, &row, (ledger_id, change), now_ms);
    }
    if change < 0 {
        give(books, &row, ends_ms, (ledger_id, -change), now_ms);
    }
    row.taken = wanted;
    row.state = if gone.is_open {
        PaymentState::Disputed
    } else if back >= row.money {
        PaymentState::Refunded
    } else {
        PaymentState::Paid
    };
    if row.plan.is_some() && row.state == PaymentState::Refunded {
        plans::unpay(conn, &row.account_id).await?;
    }
    Ok(row)
}

/// When the credit ends that a payment gave, if it gave one.
async fn credit_end(
    conn: &mut Conn,
    books: &LedgerBatch,
    payment: &PaymentRow,
) -> Result<Option<i64>> {
    let Some(id) = payment.ledger_id.as_deref() else {
        return Ok(None);
    };
    match books.credit_end(&payment.account_id, id) {
        Some(ends_ms) => Ok(Some(ends_ms)),
        None => conn.maybe(CREDIT, args![id]).await,
    }
}

fn take(books: &mut LedgerBatch, payment: &PaymentRow, (id, amount): (&str, i64), now_ms: i64) {
    let posting = Posting {
        kind: "adjust",
        cause: Some("refund"),
        amount: Quota::from_thousandths(-amount),
        balance_delta: -amount,
        ..posting(payment, id, now_ms)
    };
    let credit = payment.ledger_id.as_deref().unwrap_or_default();
    books.take_back(&payment.account_id, credit, &posting);
}

/// Gives back what was taken, until the same moment as before; what would have ended meanwhile comes back without an end.
fn give(
    books: &mut LedgerBatch,
    payment: &PaymentRow,
    ends_ms: Option<i64>,
    (id, amount): (&str, i64),
    now_ms: i64,
) {
    let posting = Posting {
        amount: Quota::from_thousandths(amount),
        balance_delta: amount,
        ..posting(payment, id, now_ms)
    };
    match ends_ms.filter(|ends_ms| *ends_ms > now_ms) {
        Some(expires_ms) => {
            let new = NewCredit {
                source: "payment",
                expires_ms,
                origin: &payment.product,
                stays: false,
                alone: false,
            };
            books.grant(&payment.account_id, &new, &posting);
        }
        None => books.post(&payment.account_id, &posting),
    }
}

/// A row of the ledger that is of a payment.
pub(super) fn posting<'a>(payment: &'a PaymentRow, id: &'a str, now_ms: i64) -> Posting<'a> {
    Posting {
        id,
        job_id: None,
        kind: "grant",
        cause: None,
        amount: payment.quota,
        balance_delta: payment.quota.thousandths(),
        frozen_delta: 0,
        reason: &payment.product,
        idempotency_key: None,
        time_ms: now_ms,
        spender: None,
    }
}

const CREDIT: &str = "SELECT expires_ms FROM credit WHERE id = $1";
