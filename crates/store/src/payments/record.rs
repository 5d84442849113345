//! Having an event count: what follows from it is decided under the lock of its account and written with it, once.

use atelier_contract::Quota;

use super::create::read;
use super::event::{self, EventOutcome};
use super::level::{level, posting};
use super::news::{PaymentEvent, PaymentNews};
use super::row::{PaymentRow, PaymentState};
use crate::Result;
use crate::batch::credits::NewCredit;
use crate::batch::ledger_batch::LedgerBatch;
use crate::db::{Conn, args, json};
use crate::first_use;
use crate::migrate::PAYMENTS;
use crate::plans;

const DAY_MS: i64 = 86_400_000;

/// What an event comes to, once its payment is known.
enum Verdict {
    /// It counts; the payment as it is now.
    Counts(Box<PaymentRow>),
    /// It says what is known.
    Known,
    /// It does not fit, and why.
    Wrong(&'static str),
}

pub(super) async fn record(conn: &mut Conn, event: &PaymentEvent) -> Result<EventOutcome> {
    let Some((id, account_id)) = find(conn, event).await? else {
        return unmatched(conn, event).await;
    };
    // The account first, as everywhere. Then events wait for each other: one that is of a payment that another makes must find it.
    let mut books = LedgerBatch::load(conn, &[&account_id], &[]).await?;
    first_use::lock(conn, PAYMENTS).await?;
    if event::is_known(conn, event).await? {
        return Ok(EventOutcome::Known);
    }
    let payment = read(conn, &id).await?;
    books.end_credits(&account_id, event.now_ms);
    match judge(conn, &mut books, payment, event).await? {
        Verdict::Counts(row) => {
            let row = finish(conn, &mut books, *row, event).await?;
            Ok(EventOutcome::Applied(Box::new(row)))
        }
        Verdict::Known => {
            event::write(conn, event, Some(&id), ("known", None)).await?;
            Ok(EventOutcome::Known)
        }
        Verdict::Wrong(why) => {
            event::write(conn, event, Some(&id), ("mismatch", Some(why))).await?;
            if event.news == PaymentNews::Paid {
                conn.run(MISMATCH, args![&id]).await?;
            }
            Ok(EventOutcome::Mismatch(why))
        }
    }
}

/// The payment that an event is of, and its account.
async fn find(conn: &mut Conn, event: &PaymentEvent) -> Result<Option<(String, String)>> {
    if let Some(id) = &event.payment_id {
        let found = conn.maybe(BY_ID, args![id, &event.provider]).await?;
        if found.is_some() {
            return Ok(found);
        }
    }
    for reference in &event.references {
        let found = conn
            .maybe(BY_REFERENCE, args![&event.provider, reference])
            .await?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Keeps what is of no payment that is known. Money that somebody paid is never lost sight of; what can come before its payment waits.
async fn unmatched(conn: &mut Conn, event: &PaymentEvent) -> Result<EventOutcome> {
    first_use::lock(conn, PAYMENTS).await?;
    if event::is_known(conn, event).await? {
        return Ok(EventOutcome::Known);
    }
    if find(conn, event).await?.is_some() {
        return Ok(EventOutcome::Crossed);
    }
    match &event.news {
        news if news.waits() && !event.references.is_empty() => {
            event::write(conn, event, None, ("unmatched", None)).await?;
            Ok(EventOutcome::Unmatched)
        }
        PaymentNews::Paid | PaymentNews::Renewed if event.payment_id.is_some() => {
            let why = "there is no such payment";
            event::write(conn, event, None, ("mismatch", Some(why))).await?;
            Ok(EventOutcome::Mismatch(why))
        }
        _ => Ok(EventOutcome::Known),
    }
}

async fn judge(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    payment: PaymentRow,
    event: &PaymentEvent,
) -> Result<Verdict> {
    if let Some(why) = misfit(&payment, event) {
        return Ok(Verdict::Wrong(why));
    }
    match &event.news {
        PaymentNews::Paid => paid(conn, books, payment, event).await,
        PaymentNews::Renewed => renewed(conn, books, payment, event).await,
        PaymentNews::Failed => Ok(closed(payment, PaymentState::Failed)),
        PaymentNews::Expired => Ok(closed(payment, PaymentState::Expired)),
        PaymentNews::RefundedMore => {
            let refunded = payment.refunded + event.money.unwrap_or(0);
            if payment.paid_ms.is_none() || refunded > payment.money - payment.disputed {
                return Ok(Verdict::Wrong("more would go back than was paid"));
            }
            Ok(counts(PaymentRow {
                refunded,
                ..payment
            }))
        }
        PaymentNews::Refunded
        | PaymentNews::Disputed { .. }
        | PaymentNews::DisputeClosed { .. } => Ok(counts(payment)),
    }
}

fn counts(payment: PaymentRow) -> Verdict {
    Verdict::Counts(Box::new(payment))
}

/// Why an event cannot be of its payment, if it cannot.
fn misfit(payment: &PaymentRow, event: &PaymentEvent) -> Option<&'static str> {
    let of_account = event.account_id.as_ref();
    if of_account.is_some_and(|account_id| *account_id != payment.account_id) {
        return Some("it is of another account");
    }
    let tells_money = !matches!(event.news, PaymentNews::Failed | PaymentNews::Expired);
    if tells_money && event.currency.as_ref() != Some(&payment.currency) {
        return Some("it is in another currency");
    }
    let is_whole = matches!(event.news, PaymentNews::Paid | PaymentNews::Renewed);
    if is_whole && event.money != Some(payment.money) {
        return Some("it is another amount");
    }
    (tells_money && event.money.is_none_or(|money| money < 0)).then_some("it is no amount")
}

/// A payment that cannot be made any more, unless more is known of it.
fn closed(payment: PaymentRow, state: PaymentState) -> Verdict {
    if payment.state == PaymentState::Pending {
        counts(PaymentRow { state, ..payment })
    } else {
        Verdict::Known
    }
}

async fn paid(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    payment: PaymentRow,
    event: &PaymentEvent,
) -> Result<Verdict> {
    let owners = owners(conn, event).await?;
    if payment.paid_ms.is_none() {
        if owners.iter().any(|owner| *owner != payment.id) {
            return Ok(Verdict::Wrong("it has paid for another one before"));
        }
        return grant(conn, books, payment, event).await;
    }
    // Several events may tell of one payment, each with other names of it; what has none of the names known was paid besides.
    if event.references.is_empty() {
        return Ok(Verdict::Known);
    }
    if owners.contains(&payment.id) {
        return Ok(counts(payment));
    }
    Ok(Verdict::Wrong("it was paid a second time"))
}

/// The payments that what an event names is of.
async fn owners(conn: &mut Conn, event: &PaymentEvent) -> Result<Vec<String>> {
    let references = json(&event.references);
    let values = args![&event.provider, &references];
    conn.all(OWNERS, values).await
}

/// Gives what was paid for.
async fn grant(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    mut payment: PaymentRow,
    event: &PaymentEvent,
) -> Result<Verdict> {
    let now_ms = event.now_ms;
    let there: Option<String> = conn.maybe(THERE, args![&payment.account_id]).await?;
    if there.is_none() {
        return Ok(Verdict::Wrong("its account is gone"));
    }
    let ledger_id = match &payment.plan {
        Some(plan) => {
            let of = (&*payment.account_id, &**plan);
            let Some(given) = plans::pay(conn, books, of, now_ms).await? else {
                return Ok(Verdict::Wrong("its plan is gone"));
            };
            payment.quota = given.quota;
            given.ledger_id
        }
        None => {
            let ledger_id = format!("payment_{}", payment.id);
            give(books, &payment, &ledger_id, now_ms);
            ledger_id
        }
    };
    payment.ledger_id = Some(ledger_id);
    (payment.state, payment.paid_ms) = (PaymentState::Paid, Some(now_ms));
    Ok(counts(payment))
}

/// Whoever has paid gets it, though there may be more credits than usual then: payments that are waited for are few.
fn give(books: &mut LedgerBatch, payment: &PaymentRow, ledger_id: &str, now_ms: i64) {
    let posting = posting(payment, ledger_id, now_ms);
    match payment.credit_days {
        Some(days) => {
            let new = NewCredit {
                source: "payment",
                expires_ms: now_ms.saturating_add(days.saturating_mul(DAY_MS)),
                origin: &payment.product,
                stays: false,
                alone: false,
            };
            books.grant(&payment.account_id, &new, &posting);
        }
        None => books.post(&payment.account_id, &posting),
    }
}

/// Another period of a subscription is a payment of its own.
async fn renewed(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    first: PaymentRow,
    event: &PaymentEvent,
) -> Result<Verdict> {
    if first.plan.is_none() {
        return Ok(Verdict::Wrong("it is no subscription"));
    }
    // What tells of the first period may come before what tells of the payment.
    if first.paid_ms.is_none() {
        return grant(conn, books, first, event).await;
    }
    let own = event.references.first();
    let values = args![&event.provider, own.map(String::as_str)];
    if conn
        .maybe::<(String, String)>(BY_REFERENCE, values)
        .await?
        .is_some()
    {
        return Ok(Verdict::Known);
    }
    let next = PaymentRow {
        id: event.new_id.clone(),
        renews_id: Some(first.renews_id.clone().unwrap_or_else(|| first.id.clone())),
        pay_at: None,
        refunded: 0,
        disputed: 0,
        taken: Quota::ZERO,
        ledger_id: None,
        created_ms: event.now_ms,
        expires_ms: event.now_ms,
        paid_ms: None,
        ..first.clone()
    };
    let given = grant(conn, books, next, event).await?;
    if let Verdict::Counts(next) = &given {
        conn.run(INSERT_NEXT, args![&next.id, &first.id, event.now_ms])
            .await?;
    }
    Ok(given)
}

/// Writes the event, what the provider calls the payment, and what it comes to.
async fn finish(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    row: PaymentRow,
    event: &PaymentEvent,
) -> Result<PaymentRow> {
    event::write(conn, event, Some(&row.id), ("applied", None)).await?;
    if matches!(event.news, PaymentNews::Paid | PaymentNews::Renewed) {
        for reference in &event.references {
            conn.run(REFER, args![&row.provider, reference, &row.id])
                .await?;
        }
    }
    event::adopt(conn, &row).await?;
    let row = level(conn, books, row, (&event.ledger_id, event.now_ms)).await?;
    books.write(conn).await?;
    write(conn, &row).await?;
    Ok(row)
}

/// Writes what a payment has become. That it was paid is written once.
async fn write(conn: &mut Conn, row: &PaymentRow) -> Result<()> {
    let values = args![
        &row.id,
        row.state.word(),
        row.quota.thousandths(),
        row.refunded,
        row.disputed,
        row.taken.thousandths(),
        row.ledger_id.as_deref(),
        row.paid_ms
    ];
    if row.paid_ms.is_some() && conn.run(PAID, values).await? > 0 {
        return Ok(());
    }
    conn.run(CHANGED, &values[..6]).await.map(|_| ())
}

const BY_ID: &str = "SELECT id, account_id FROM payment WHERE id = $1 AND provider = $2";

const BY_REFERENCE: &str = "SELECT payment.id, payment.account_id FROM payment_reference \
     JOIN payment ON payment.id = payment_reference.payment_id WHERE payment_reference.provider = $1 AND payment_reference.reference = $2";

const OWNERS: &str = "SELECT DISTINCT payment_id FROM payment_reference WHERE provider = $1 AND reference IN ({list:$2})";

// One that was deleted keeps its row.
const THERE: &str = "SELECT id FROM account WHERE id = $1 AND email_key <> 'deleted-' || id";

const MISMATCH: &str = "UPDATE payment SET state = 'mismatch' WHERE id = $1 AND state IN ('pending', 'expired', 'failed')";

const INSERT_NEXT: &str = "INSERT INTO payment (id, account_id, product, product_revision, provider, money, currency, quota, credit_days, \
     plan_key, state, renews_id, refunded, disputed, taken, created_ms, expires_ms) \
     SELECT $1, account_id, product, product_revision, provider, money, currency, quota, credit_days, \
     plan_key, 'pending', COALESCE(renews_id, id), 0, 0, 0, $3, $3 FROM payment WHERE id = $2";

const REFER: &str = "INSERT INTO payment_reference (provider, reference, payment_id) VALUES ($1, $2, $3) \
     ON CONFLICT (provider, reference) DO NOTHING";

const PAID: &str = "UPDATE payment SET state = $2, quota = $3, refunded = $4, disputed = $5, taken = $6, ledger_id = $7, paid_ms = $8 \
     WHERE id = $1 AND ledger_id IS NULL";

const CHANGED: &str = "UPDATE payment SET state = $2, quota = $3, refunded = $4, disputed = $5, taken = $6 WHERE id = $1";
