//! Callbacks as their callers see them: what was sent, and sending it again.

use atelier_contract::{AccountId, Code, JobId, Refusal};
use atelier_store::{Delivery, DeliveryTry, Period};

use crate::callback_queue::CallbackQueue;
use crate::context::{Context, unavailable};

/// Callbacks of a period in pages, newest first, of one account or of all.
pub(super) async fn list(
    context: &Context,
    account_id: Option<&AccountId>,
    period: Period,
    page: i64,
    limit: i64,
) -> Result<(Vec<Delivery>, i64), Refusal> {
    let offset = (page - 1).max(0).saturating_mul(limit);
    let whose = account_id.map(AccountId::as_str);
    let deliveries = context.store().deliveries();
    let page = deliveries.list(whose, None, period, offset, limit).await;
    let (rows, total) = page.map_err(unavailable)?;
    let rows = rows.into_iter().map(|row| on_shown_clock(context, row));
    Ok((rows.collect(), total))
}

/// One callback of an account and its tries, oldest first, as far as they are still remembered.
pub(super) async fn one(
    context: &Context,
    account_id: &AccountId,
    id: &str,
) -> Result<(Delivery, Vec<DeliveryTry>), Refusal> {
    let row = context.store().deliveries().find(account_id, id).await;
    let row = row
        .map_err(unavailable)?
        .ok_or_else(|| Refusal::new(Code::NotFound, "no such callback"))?;
    let log = context.store().deliveries().log(account_id, id).await;
    let tries = log.map_err(unavailable)?;
    Ok((on_shown_clock(context, row), tries))
}

/// The callback of a job and its tries; none when it has none.
pub(super) async fn of_job(
    context: &Context,
    account_id: &AccountId,
    job_id: &JobId,
) -> Result<Option<(Delivery, Vec<DeliveryTry>)>, Refusal> {
    match one(context, account_id, &format!("cb_{job_id}")).await {
        Ok(found) => Ok(Some(found)),
        Err(refusal) if refusal.code == Code::NotFound => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

/// A callback is tried so many times at most, however often it is asked for.
const TRIES_MOST: i64 = 50;

/// Sends a callback again, now.
pub(super) async fn redeliver(
    context: &Context,
    queue: &CallbackQueue,
    account_id: &AccountId,
    id: &str,
) -> Result<(), Refusal> {
    let now_ms = context.steady_ms();
    let again = context
        .store()
        .deliveries()
        .redeliver(account_id, id, TRIES_MOST, now_ms)
        .await;
    if again.map_err(unavailable)? {
        queue.wake(context);
        return Ok(());
    }
    let row = context.store().deliveries().find(account_id, id).await;
    if row
        .map_err(unavailable)?
        .is_some_and(|row| row.attempts >= TRIES_MOST)
    {
        let message = format!("the callback was sent {TRIES_MOST} times, which is the most");
        return Err(Refusal::new(Code::Conflict, message));
    }
    Err(Refusal::new(
        Code::NotFound,
        "no such callback, or it is being sent right now",
    ))
}

/// Sends every callback again that was given up since a time; says how many.
pub(super) async fn redeliver_since(
    context: &Context,
    queue: &CallbackQueue,
    account_id: &AccountId,
    since_ms: i64,
) -> Result<u64, Refusal> {
    let now_ms = context.steady_ms();
    let count = context
        .store()
        .deliveries()
        .redeliver_failed(account_id, since_ms, TRIES_MOST, now_ms)
        .await;
    let count = count.map_err(unavailable)?;
    queue.wake(context);
    Ok(count)
}

/// A delivery with its next try by the clock that is shown.
fn on_shown_clock(context: &Context, mut row: Delivery) -> Delivery {
    row.next_ms += context.clock().ahead_ms();
    row
}
