//! Months that are closed for all accounts: some accounts at a time, by whichever node has the month for a while.

use std::sync::Arc;

use atelier_contract::month::Month;
use atelier_contract::{Code, Refusal};
use atelier_store::{CloseClaim, CloseTally, MonthClose, Store};

use super::compute::StatementIssuer;
use super::error::StatementError;
use super::making::{SETTLED_MS, account_of, make};
use crate::context::{Context, unavailable};
use crate::crash;

/// Accounts that one step looks at.
const ACCOUNTS: i64 = 50;
/// A node that is not heard of for so long has lost the month.
const CLAIM_MS: i64 = 60_000;
/// What the service itself is called where it closes a month.
const BY: &str = "statements";
const DAY_MS: i64 = 86_400_000;

/// Has a month be closed, at an operator's wish.
pub(super) async fn begin(context: &Context, by: &str, month: Month) -> Result<(), Refusal> {
    let now_ms = context.now_ms();
    if month.until_ms() + SETTLED_MS > now_ms {
        let message =
            format!("{month} is not over; it can be closed five minutes after its end (UTC)");
        return Err(Refusal::field(Code::Conflict, "month", message));
    }
    let act = context.act(by, "month.close", &month.to_string(), "");
    let statements = context.store().ledger().statements();
    let closed = statements.close(month.number(), by, now_ms, Some(act));
    closed.await.map_err(unavailable)?;
    crash::point("admin.acted");
    Ok(())
}

/// Goes on with a month, or begins the one that is due; whether there may be more to do.
pub(super) async fn step(
    context: &Arc<Context>,
    issuer: &StatementIssuer,
) -> Result<bool, atelier_store::Error> {
    begin_due(context).await?;
    let (store, now_ms) = (context.store(), context.steady_ms());
    let statements = store.ledger().statements();
    let claim = CloseClaim {
        node: context.node().to_owned(),
        now_ms,
        until_ms: now_ms + CLAIM_MS,
    };
    let Some(mut close) = statements.claim_close(claim).await? else {
        return Ok(false);
    };
    let month = Month::from_number(close.month);
    let accounts = store
        .ledger()
        .exports()
        .accounts(&close.after_id, ACCOUNTS)
        .await?;
    let mut refused = Vec::new();
    for account_id in &accounts {
        if let Some(why) = close_account(store, issuer, account_id, month, context.now_ms()).await?
        {
            refused.push((account_id.clone(), why));
        }
    }
    let is_over = (accounts.len() as i64) < ACCOUNTS;
    if let Some(last) = accounts.last() {
        close.after_id.clone_from(last);
    }
    crash::point("statements.made");
    let ended_ms = is_over.then(|| context.now_ms());
    statements.record_close(&close, refused, ended_ms).await?;
    Ok(true)
}

/// Makes the statement of an account; why it could not be made, unless the account is younger.
async fn close_account(
    store: &Store,
    issuer: &StatementIssuer,
    account_id: &str,
    month: Month,
    now_ms: i64,
) -> Result<Option<String>, atelier_store::Error> {
    let made = async {
        let account = account_of(store, &account_id.into()).await?;
        make(store, issuer, &account, month, now_ms).await
    };
    match made.await {
        Ok(_) | Err(StatementError::Earlier(_) | StatementError::NoAccount) => Ok(None),
        Err(StatementError::Store(error)) => Err(error),
        Err(why) => {
            tracing::warn!(account_id, %why, "the books of an account stay open");
            Ok(Some(why.to_string()))
        }
    }
}

/// Begins to close the month before, once its day has come.
async fn begin_due(context: &Context) -> Result<(), atelier_store::Error> {
    let (now_ms, day) = (context.now_ms(), context.settings().statements.close_on_day);
    let this = Month::at(now_ms);
    let due_ms = this.from_ms() + (day - 1) * DAY_MS + SETTLED_MS;
    if day == 0 || now_ms < due_ms {
        return Ok(());
    }
    let (statements, month) = (context.store().ledger().statements(), this.previous());
    let number = month.number();
    if statements.closes(number, number).await?.is_empty() {
        let act = context.act(BY, "month.close", &month.to_string(), "");
        statements.close(number, BY, now_ms, Some(act)).await?;
    }
    Ok(())
}

/// Months with how far they are closed, the latest first.
pub(super) async fn months(
    context: &Context,
    last: Month,
    page: i64,
    limit: i64,
) -> Result<(Vec<(Month, CloseTally, Option<MonthClose>)>, i64), Refusal> {
    let statements = context.store().ledger().statements();
    let first = statements.first_account_ms().await.map_err(unavailable)?;
    let Some(first) = first.map(|created_ms| Month::at(created_ms).number()) else {
        return Ok((Vec::new(), 0));
    };
    let total = (last.number() - first + 1).max(0);
    let skipped = (page - 1).max(0).saturating_mul(limit);
    let newest = last.number().saturating_sub(skipped);
    let mut found = Vec::new();
    for number in ((newest - limit + 1).max(first)..=newest).rev() {
        let one = Month::from_number(number);
        let (tally, close) = month(context, one).await?;
        found.push((one, tally, close));
    }
    Ok((found, total))
}

/// How far a month is closed.
pub(super) async fn month(
    context: &Context,
    month: Month,
) -> Result<(CloseTally, Option<MonthClose>), Refusal> {
    let (statements, number) = (context.store().ledger().statements(), month.number());
    let tally = statements.tally(month).await;
    let closes = statements.closes(number, number).await;
    let close = closes.map_err(unavailable)?.into_iter().next();
    Ok((tally.map_err(unavailable)?, close))
}

/// Makes every statement that is missing of rows before a moment: for whoever is about to archive those; how many.
pub async fn close_before(
    store: &Store,
    issuer: &StatementIssuer,
    before_ms: i64,
    now_ms: i64,
) -> Result<u64, StatementError> {
    let (mut after, mut made) = (String::new(), 0);
    loop {
        let accounts = store.ledger().exports().accounts(&after, ACCOUNTS).await?;
        let Some(last) = accounts.last() else {
            return Ok(made);
        };
        after.clone_from(last);
        for account_id in &accounts {
            let account = account_of(store, &account_id.as_str().into()).await?;
            let mut next: Option<Month> = None;
            while let Some(time_ms) = store
                .ledger()
                .statements()
                .first_without(account_id, before_ms)
                .await?
            {
                // A row that a clock which was put back dated too early is of the month behind.
                let month = next.map_or(Month::at(time_ms), |next| next.max(Month::at(time_ms)));
                make(store, issuer, &account, month, now_ms).await?;
                next = Some(month.next());
                made += 1;
            }
        }
    }
}
