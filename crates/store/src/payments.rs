//! Payments: what accounts buy from whom, what providers report of it, and what that gives and takes back. Each event is written down
//! once, in the commit that does what follows from it.

mod create;
mod event;
mod level;
mod news;
mod record;
mod refunds;
mod row;
mod topup;

pub use create::{NewPayment, PaymentOutcome, PaymentPlace};
pub use event::{EventOutcome, EventRow};
pub use news::{PaymentEvent, PaymentNews};
pub use refunds::{NewRefund, RefundOutcome, RefundRow};
pub use row::{PaymentFilter, PaymentRow, PaymentState};
pub use topup::{TopupOutcome, TopupPurchase};

use crate::Result;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::args;
use crate::store_core::StoreCore;
use row::COLUMNS;

/// Events of a payment that are shown, and refunds.
const SHOWN: i64 = 100;

/// What accounts buy.
#[derive(Clone, Copy, Debug)]
pub struct Payments<'a>(pub(crate) &'a StoreCore);

impl Payments<'_> {
    /// Begins a payment, with the act of whoever did.
    pub async fn create(self, new: NewPayment, act: Option<AuditRow>) -> Result<PaymentOutcome> {
        audited_change::run(
            self.0,
            new,
            act,
            |conn, new| Box::pin(create::create(conn, new)),
            |outcome| matches!(outcome, PaymentOutcome::Done(_)),
        )
        .await
    }

    /// Writes down where a payment is made and what the provider calls it; whether it still waits for that.
    pub async fn place(self, id: &str, place: PaymentPlace) -> Result<bool> {
        self.0
            .change((id.to_owned(), place), |conn, (id, place)| {
                Box::pin(create::place(conn, id, place))
            })
            .await
    }

    /// Has what a provider told count, once, with the act of whoever told it where that is an operator.
    pub async fn record(self, event: PaymentEvent, act: Option<AuditRow>) -> Result<EventOutcome> {
        audited_change::run(
            self.0,
            event,
            act,
            |conn, event| Box::pin(record::record(conn, event)),
            |outcome| matches!(outcome, EventOutcome::Applied(_)),
        )
        .await
    }

    /// Writes down that money is to go back, with the act of whoever asks for it.
    pub async fn ask_refund(self, new: NewRefund, act: Option<AuditRow>) -> Result<RefundOutcome> {
        audited_change::run(
            self.0,
            new,
            act,
            |conn, new| Box::pin(refunds::ask(conn, new)),
            |outcome| matches!(outcome, RefundOutcome::Asked(_)),
        )
        .await
    }

    /// Begins the purchase of a top-up, if it is due.
    pub async fn begin_topup(self, new: TopupPurchase) -> Result<TopupOutcome> {
        self.0
            .change_alone(new, |conn, new| Box::pin(topup::begin(conn, new)))
            .await
    }

    /// Takes a refund in hand whose answer is not known and that no one has tried since a moment.
    pub async fn claim_refund(
        self,
        tried_before_ms: i64,
        now_ms: i64,
    ) -> Result<Option<RefundRow>> {
        let values = args![tried_before_ms];
        let open: Option<RefundRow> = self.0.db.maybe(refunds::TO_REPEAT, values).await?;
        let Some(open) = open else {
            return Ok(None);
        };
        let claimed = self
            .0
            .change((open.clone(), now_ms), |conn, (open, now_ms)| {
                Box::pin(refunds::claim(conn, open, *now_ms))
            });
        Ok(claimed.await?.then_some(open))
    }

    /// Writes down that the provider refused a refund, and why.
    pub async fn refuse_refund(self, id: &str, why: &str) -> Result<()> {
        let input = (id.to_owned(), why.to_owned());
        self.0
            .change(input, |conn, (id, why)| {
                Box::pin(refunds::refuse(conn, id, why))
            })
            .await
    }

    /// The refunds of a payment that operators asked for, the latest first.
    pub async fn refunds(self, id: &str) -> Result<Vec<RefundRow>> {
        self.0.db.all(refunds::OF_PAYMENT, args![id, SHOWN]).await
    }

    /// One payment; of an account only its own.
    pub async fn one(self, id: &str, account_id: Option<&str>) -> Result<Option<PaymentRow>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM payment WHERE id = $1 AND ($2 IS NULL OR account_id = $2)"
        );
        let reader = self.0.db.of(account_id);
        reader.maybe(&sql, args![id, account_id]).await
    }

    /// A page of payments, the latest first, and how many there are.
    pub async fn list(
        self,
        filter: &PaymentFilter,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<PaymentRow>, i64)> {
        let reader = self.0.db.of(filter.account_id.as_deref());
        let (account_id, state) = (
            filter.account_id.as_deref(),
            filter.state.map(PaymentState::word),
        );
        // Each condition stands only where it is asked for, so that its index is used.
        let of_account = if account_id.is_some() {
            "account_id = $1"
        } else {
            "$1 IS NULL"
        };
        let of_state = if state.is_some() {
            "state = $2"
        } else {
            "$2 IS NULL"
        };
        let wanted = format!("FROM payment WHERE {of_account} AND {of_state}");
        let page = format!(
            "SELECT {COLUMNS} {wanted} ORDER BY created_ms DESC, id DESC LIMIT $3 OFFSET $4"
        );
        let rows = reader
            .all(&page, args![account_id, state, limit, offset])
            .await?;
        let count = format!("SELECT COUNT(*) {wanted}");
        Ok((rows, reader.one(&count, args![account_id, state]).await?))
    }

    /// What was told of a payment, the latest first.
    pub async fn events(self, id: &str) -> Result<Vec<EventRow>> {
        self.0.db.all(event::OF_PAYMENT, args![id, SHOWN]).await
    }

    /// What its provider calls a payment, and what belongs to it there.
    pub async fn references(self, id: &str) -> Result<Vec<String>> {
        let sql =
            "SELECT reference FROM payment_reference WHERE payment_id = $1 ORDER BY reference";
        self.0.db.all(sql, args![id]).await
    }

    /// What was told and does not fit, or is of no payment that is known; the latest first.
    pub async fn mismatches(self, offset: i64, limit: i64) -> Result<(Vec<EventRow>, i64)> {
        let rows = self
            .0
            .db
            .all(event::MISMATCHES, args![limit, offset])
            .await?;
        let count = "SELECT COUNT(*) FROM payment_event WHERE outcome IN ('mismatch', 'unmatched')";
        Ok((rows, self.0.db.one(count, &[]).await?))
    }

    /// Has payments expire that were not made by a moment, so many at most, and forgets what was reported before another of what no one
    /// here ever paid; how many there were.
    pub async fn tidy(self, now_ms: i64, unmatched_before_ms: i64, most: i64) -> Result<u64> {
        let values = args![now_ms, unmatched_before_ms];
        if self.0.db.maybe::<i64>(DUE, values).await?.is_none() {
            return Ok(0);
        }
        let input = (now_ms, unmatched_before_ms, most);
        self.0
            .change(input, |conn, (now_ms, unmatched_before_ms, most)| {
                Box::pin(async move {
                    let expired = conn.run(create::EXPIRE, args![*now_ms, *most]).await?;
                    let values = args![*unmatched_before_ms, *most];
                    Ok(expired + conn.run(event::FORGET, values).await?)
                })
            })
            .await
    }
}

// Nothing is written where there is nothing to do.
const DUE: &str = "SELECT expires_ms FROM payment WHERE state = 'pending' AND expires_ms <= $1 \
     UNION ALL SELECT received_ms FROM payment_event WHERE outcome = 'unmatched' AND received_ms < $2 LIMIT 1";
