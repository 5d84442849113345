//! Having an event count: what follows from it is decided under the lock of its account and written with it, once.

use atelier_contract::Quota;

use super::create::read;
use super::event::{self, EventOutcome};
use super::level::{LevelledPayment, level, posting};
use super::news::{PaymentEvent, PaymentNews};
use super::refunds;
use super::row::{PaymentRow, PaymentState};
use crate::Result;
use crate::batch::credits::NewCredit;
use crate::batch::ledger_batch::LedgerBatch;
use crate::db::{Conn, args, json};
use crate::first_use;
use crate::migrate::PAYMENTS;
use crate::plans;
use crate::subscriptions::{self, NewSubscription};
use crate::topups;

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
            if !event.answered {
                event::write(conn, event, Some(&id), ("mismatch", Some(why))).await?;
                if event.news == PaymentNews::Paid {
                    conn.run(MISMATCH, args![&id]).await?;
                }
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
        PaymentNews::RefundFailed => Ok(Verdict::Wrong(
            "a refund failed at the provider: its quota is taken back and its money is not",
        )),
        PaymentNews::RefundMade { refund, total } => {
            refunds::done(conn, refund).await?;
            let more = event.money.unwrap_or(0);
            let refunded = total.unwrap_or_else(|| payment.refunded.saturating_add(more));
            let refunded = refunded.clamp(payment.refunded, payment.money);
            Ok(counts(PaymentRow {
                refunded,
                ..payment
            }))
        }
        PaymentNews::SubscriptionEnded => {
            let name = event.subscription.as_deref().unwrap_or_default();
            let plan = subscriptions::ended(conn, &event.provider, name).await?;
            if plan.is_some() && !subscriptions::is_active(conn, &payment.account_id).await? {
                let of = (&*payment.account_id, plan.as_deref());
                plans::pay::end(conn, books, of, event.now_ms).await?;
            }
            Ok(counts(payment))
        }
        PaymentNews::Refunded
        | PaymentNews::Disputed { .. }
        | PaymentNews::DisputeClosed { .. }
        | PaymentNews::RenewalFailed
        | PaymentNews::Linked { .. } => Ok(counts(payment)),
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
    let tells_money = event.news.is_about_money();
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

/// Gives what was paid for. A period of a plan waits until the one before it is over.
async fn grant(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    mut payment: PaymentRow,
    event: &PaymentEvent,
) -> Result<Verdict> {
    let now_ms = event.now_ms;
    if !subscribe(conn, &payment, event).await? {
        return Ok(Verdict::Wrong("its account is gone"));
    }
    if let Some(plan) = &payment.plan {
        let Some(sold) = plans::pay::sold(conn, plan).await? else {
            return Ok(Verdict::Wrong("its plan is gone"));
        };
        (payment.quota, payment.plan_revision) = (sold.quota, Some(sold.revision));
        if goes_on(conn, event).await? {
            plans::pay::resume(conn, &payment.account_id, plan).await?;
        }
    } else {
        let ledger_id = format!("payment_{}", payment.id);
        give(books, &payment, &ledger_id, now_ms);
        payment.ledger_id = Some(ledger_id);
    }
    (payment.state, payment.paid_ms) = (PaymentState::Paid, Some(now_ms));
    Ok(counts(payment))
}

/// Notes the subscription that an event is of; whether the account is there that it is for. One of an account that is gone is ended, so
/// that no one goes on paying for it.
async fn subscribe(conn: &mut Conn, payment: &PaymentRow, event: &PaymentEvent) -> Result<bool> {
    let there: Option<String> = conn.maybe(THERE, args![&payment.account_id]).await?;
    if let (Some(reference), Some(plan)) = (&event.subscription, &payment.plan) {
        let new = NewSubscription {
            provider: &event.provider,
            reference,
            account_id: &payment.account_id,
            payment_id: payment.renews_id.as_deref().unwrap_or(&payment.id),
            plan,
            now_ms: event.now_ms,
        };
        subscriptions::begin(conn, &new).await?;
        if there.is_none() {
            subscriptions::refuse(conn, &event.provider, reference).await?;
        }
    }
    Ok(there.is_some())
}

/// Whether more payments follow one: of a subscription that was to end, none do.
async fn goes_on(conn: &mut Conn, event: &PaymentEvent) -> Result<bool> {
    let Some(reference) = &event.subscription else {
        return Ok(true);
    };
    let found: Option<String> = conn
        .maybe(GOES_ON, args![&event.provider, reference])
        .await?;
    Ok(found.is_some())
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
    // What was told of before may have more names by now.
    let own = event.references.first();
    let values = args![&event.provider, own.map(String::as_str)];
    let known: Option<(String, String)> = conn.maybe(BY_REFERENCE, values).await?;
    if let Some((id, _)) = known {
        return Ok(counts(read(conn, &id).await?));
    }
    let next = PaymentRow {
        id: event.new_id.clone(),
        renews_id: Some(first.renews_id.clone().unwrap_or_else(|| first.id.clone())),
        pay_at: None,
        refunded: 0,
        disputed: 0,
        taken: Quota::ZERO,
        taken_credit: Quota::ZERO,
        plan_revision: None,
        ledger_id: None,
        created_ms: event.now_ms,
        expires_ms: event.now_ms,
        saves: false,
        topup: false,
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
    let names = match &event.news {
        PaymentNews::Paid | PaymentNews::Renewed => &*event.references,
        PaymentNews::Linked { name } => std::slice::from_ref(name),
        _ => &[],
    };
    for name in names {
        conn.run(REFER, args![&row.provider, name, &row.id]).await?;
    }
    write(conn, &row).await?;
    event::adopt(conn, &row).await?;
    note_customer(conn, &row, event).await?;
    let of = (&*event.ledger_id, event.now_ms);
    let LevelledPayment { row, is_lost } = level(conn, books, row, of).await?;
    write(conn, &row).await?;
    if row.plan.is_some() && row.paid_ms.is_some() {
        if let Some(ledger_id) = row.ledger_id.as_deref().filter(|_| is_lost) {
            let of = (&*row.account_id, ledger_id);
            plans::pay::unpaid(conn, books, of, event.now_ms).await?;
        }
        plans::pay::begin_paid(conn, books, &row.account_id, event.now_ms).await?;
    }
    books.write(conn).await?;
    read(conn, &row.id).await
}

/// Notes what a payment means for top-ups: its customer is saved, or a purchase was made.
async fn note_customer(conn: &mut Conn, row: &PaymentRow, event: &PaymentEvent) -> Result<()> {
    if event.news != PaymentNews::Paid {
        return Ok(());
    }
    if let Some(customer) = event.customer.as_deref().filter(|_| row.saves) {
        let of = (&*row.account_id, &*row.provider);
        topups::save(conn, of, (customer, event.now_ms)).await?;
    }
    if row.topup {
        topups::paid(conn, &row.account_id).await?;
    }
    Ok(())
}

/// Writes what a payment has become. That it was paid is written once, and what it gives once it gives it.
async fn write(conn: &mut Conn, row: &PaymentRow) -> Result<()> {
    let values = args![
        &row.id,
        row.state.word(),
        row.refunded,
        row.disputed,
        row.taken.thousandths(),
        row.taken_credit.thousandths(),
        row.quota.thousandths(),
        row.plan_revision.map(i64::from),
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

const GOES_ON: &str = "SELECT reference FROM subscription WHERE provider = $1 AND reference = $2 AND state = 'active'";

const INSERT_NEXT: &str = "INSERT INTO payment (id, account_id, product, product_revision, provider, money, currency, quota, credit_days, \
     plan_key, state, renews_id, refunded, disputed, taken, taken_credit, created_ms, expires_ms) \
     SELECT $1, account_id, product, product_revision, provider, money, currency, quota, credit_days, \
     plan_key, 'pending', COALESCE(renews_id, id), 0, 0, 0, 0, $3, $3 FROM payment WHERE id = $2";

const REFER: &str = "INSERT INTO payment_reference (provider, reference, payment_id) VALUES ($1, $2, $3) \
     ON CONFLICT (provider, reference) DO NOTHING";

const PAID: &str = "UPDATE payment SET state = $2, refunded = $3, disputed = $4, taken = $5, taken_credit = $6, quota = $7, \
     plan_revision = $8, ledger_id = $9, paid_ms = $10 WHERE id = $1 AND paid_ms IS NULL";

const CHANGED: &str = "UPDATE payment SET state = $2, refunded = $3, disputed = $4, taken = $5, taken_credit = $6 WHERE id = $1";
