//! What a payment has given is brought in line with what of its money is still there. It is computed from everything that was reported, so
//! that the order in which that came does not matter.

use std::collections::BTreeMap;

use atelier_contract::Quota;
use atelier_contract::products::taken_back;

use super::event::{self, ToldEvent};
use super::row::{PaymentRow, PaymentState};
use crate::Result;
use crate::batch::ledger_batch::{LedgerBatch, Posting};
use crate::db::Conn;

/// What of the money of a payment is not there any more.
#[derive(Default)]
struct GoneMoney {
    refunded: i64,
    disputed: i64,
    /// Whether a bank is yet to decide.
    is_open: bool,
}

/// A dispute as far as it was reported.
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
            let money = one.money.clamp(0, payment.money);
            let Some(subject) = one.subject.as_deref() else {
                gone.refunded = gone.refunded.max(money);
                continue;
            };
            let dispute = disputes.entry(subject).or_default();
            dispute.money = dispute.money.max(money);
            dispute.won |= one.kind == "dispute_won";
            dispute.closed |= one.kind != "disputed";
        }
        let lost = disputes.values().filter(|one| !one.won);
        let lost = lost.fold(0_i64, |sum, one| sum.saturating_add(one.money));
        gone.disputed = lost.min(payment.money);
        gone.is_open = disputes.values().any(|one| !one.closed);
        gone
    }

    /// Money does not go back twice: what a bank has taken cannot be refunded as well.
    fn all(&self, money: i64) -> i64 {
        self.refunded.saturating_add(self.disputed).min(money)
    }
}

/// A payment in line with its money, and whether all of that has gone for good just now.
pub(super) struct LevelledPayment {
    pub(super) row: PaymentRow,
    pub(super) is_lost: bool,
}

/// Takes back of an account what is not paid for any more, or gives it back. A period that was paid ahead has given nothing yet.
pub(super) async fn level(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    payment: PaymentRow,
    (ledger_id, now_ms): (&str, i64),
) -> Result<LevelledPayment> {
    let told = event::told(conn, &payment.id).await?;
    let gone = GoneMoney::of(&told, &payment);
    let before = payment.state;
    let mut row = PaymentRow {
        refunded: gone.refunded,
        disputed: gone.disputed,
        ..payment
    };
    if row.paid_ms.is_none() {
        return Ok(LevelledPayment {
            row,
            is_lost: false,
        });
    }
    let back = gone.all(row.money);
    if row.ledger_id.is_some() {
        let wanted = taken_back(row.quota, row.money, back);
        let change = wanted.thousandths() - row.taken.thousandths();
        row = move_quota(conn, books, row, (ledger_id, change), now_ms).await?;
    }
    row.state = if gone.is_open {
        PaymentState::Disputed
    } else if back >= row.money {
        PaymentState::Refunded
    } else {
        PaymentState::Paid
    };
    let is_lost = row.state == PaymentState::Refunded && before != PaymentState::Refunded;
    Ok(LevelledPayment { row, is_lost })
}

/// Takes so much of the quota, or gives it back: to its own credit as far as it came out of that and as long as that lasts, the rest
/// without an end.
async fn move_quota(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    mut row: PaymentRow,
    (id, change): (&str, i64),
    now_ms: i64,
) -> Result<PaymentRow> {
    let posting = Posting {
        kind: "adjust",
        cause: Some("refund"),
        amount: Quota::from_thousandths(-change),
        balance_delta: -change,
        ..posting(&row, id, now_ms)
    };
    let credit = row.ledger_id.clone().unwrap_or_default();
    let of_credit = row.taken_credit.thousandths();
    let of_credit = match change {
        0 => of_credit,
        1.. => of_credit + books.take_back(&row.account_id, &credit, &posting),
        _ => {
            books.reopen(conn, &row.account_id, &credit).await?;
            of_credit - books.give_back(&row.account_id, (&credit, of_credit), &posting)
        }
    };
    let taken = row.taken.thousandths() + change;
    (row.taken, row.taken_credit) = (
        Quota::from_thousandths(taken),
        Quota::from_thousandths(of_credit.min(taken)),
    );
    Ok(row)
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
