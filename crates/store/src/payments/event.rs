//! Events as they are stored: each once, with what came of it.

use super::news::PaymentEvent;
use super::row::PaymentRow;
use crate::Result;
use crate::db::{Conn, args};
use crate::row::{Columns, FromRow};

/// What came of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventOutcome {
    /// It counts; the payment after it.
    Applied(Box<PaymentRow>),
    /// It was told before, or says what is known.
    Known,
    /// It does not fit. It is kept for operators, unless one of them reported it; nothing else has changed but perhaps the state of its
    /// payment.
    Mismatch(&'static str),
    /// No payment is known that it is of; it is kept and waits for one.
    Unmatched,
    /// Its payment was written meanwhile; it is to be told again.
    Crossed,
}

/// An event as operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    pub provider: String,
    pub event_id: String,
    pub payment_id: Option<String>,
    pub kind: String,
    pub outcome: String,
    /// Why it does not fit.
    pub why: Option<String>,
    pub money: Option<i64>,
    pub currency: Option<String>,
    pub raw: String,
    pub received_ms: i64,
}

impl FromRow for EventRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            provider: columns.text()?,
            event_id: columns.text()?,
            payment_id: columns.maybe_text()?,
            kind: columns.text()?,
            outcome: columns.text()?,
            why: columns.maybe_text()?,
            money: columns.maybe_int()?,
            currency: columns.maybe_text()?,
            raw: columns.text()?,
            received_ms: columns.int()?,
        })
    }
}

pub(super) const OF_PAYMENT: &str = "SELECT provider, event_id, payment_id, kind, outcome, why, money, currency, raw, received_ms \
     FROM payment_event WHERE payment_id = $1 ORDER BY received_ms DESC, event_id DESC LIMIT $2";

pub(super) const MISMATCHES: &str = "SELECT provider, event_id, payment_id, kind, outcome, why, money, currency, raw, received_ms \
     FROM payment_event WHERE outcome IN ('mismatch', 'unmatched') ORDER BY received_ms DESC, event_id DESC LIMIT $1 OFFSET $2";

pub(super) const FORGET: &str = "DELETE FROM payment_event WHERE outcome = 'unmatched' AND event_id IN \
     (SELECT old.event_id FROM payment_event AS old WHERE old.outcome = 'unmatched' AND old.received_ms < $1 LIMIT $2)";

/// Whether an event was told before.
pub(super) async fn is_known(conn: &mut Conn, event: &PaymentEvent) -> Result<bool> {
    let values = args![&event.provider, &event.event_id];
    Ok(conn.maybe::<String>(KNOWN, values).await?.is_some())
}

/// Writes an event down with what came of it.
pub(super) async fn write(
    conn: &mut Conn,
    event: &PaymentEvent,
    payment_id: Option<&str>,
    (outcome, why): (&str, Option<&str>),
) -> Result<()> {
    let values = args![
        &event.provider,
        &event.event_id,
        payment_id,
        event.news.word(),
        outcome,
        why,
        event.news.subject(),
        event.references.first().map(String::as_str),
        event.money,
        event.currency.as_deref(),
        &event.raw,
        event.now_ms
    ];
    conn.run(INSERT, values).await.map(|_| ())
}

/// What an event that was told before says, as far as it counts.
pub(super) struct ToldEvent {
    pub(super) kind: String,
    pub(super) subject: Option<String>,
    pub(super) money: i64,
}

impl FromRow for ToldEvent {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            kind: columns.text()?,
            subject: columns.maybe_text()?,
            money: columns.maybe_int()?.unwrap_or(0),
        })
    }
}

/// What was told of the refunds and disputes of a payment.
pub(super) async fn told(conn: &mut Conn, payment_id: &str) -> Result<Vec<ToldEvent>> {
    conn.all(TOLD, args![payment_id]).await
}

/// Gives a payment what was told of it before it was known. What names it in another way may bring more.
pub(super) async fn adopt(conn: &mut Conn, payment: &PaymentRow) -> Result<()> {
    let values = args![&payment.id, &payment.provider, &payment.currency];
    while conn.run(ADOPT, values).await? > 0 {
        conn.run(LINK, args![&payment.id, &payment.provider])
            .await?;
    }
    Ok(())
}

const KNOWN: &str = "SELECT event_id FROM payment_event WHERE provider = $1 AND event_id = $2";

const INSERT: &str = "INSERT INTO payment_event (provider, event_id, payment_id, kind, outcome, why, subject, reference, money, \
     currency, raw, received_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

const TOLD: &str = "SELECT kind, subject, money FROM payment_event WHERE payment_id = $1 AND outcome = 'applied' \
     AND kind IN ('refunded', 'disputed', 'dispute_won', 'dispute_lost')";

// What was told in another currency is not of it.
const ADOPT: &str = "UPDATE payment_event SET payment_id = $1, outcome = 'applied' WHERE outcome = 'unmatched' AND provider = $2 \
     AND (currency = $3 OR kind = 'linked') AND reference IN (SELECT payment_reference.reference FROM payment_reference WHERE payment_reference.payment_id = $1)";

const LINK: &str = "INSERT INTO payment_reference (provider, reference, payment_id) \
     SELECT provider, subject, payment_id FROM payment_event WHERE payment_id = $1 AND provider = $2 AND kind = 'linked' \
     AND outcome = 'applied' AND subject IS NOT NULL ON CONFLICT (provider, reference) DO NOTHING";
