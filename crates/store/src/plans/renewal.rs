//! What becomes of a plan whose period is over: the next period, a wait for its payment, or its end. One commit, whoever finds it due.

use atelier_contract::plans::Then;

use super::account_plan::{self, AccountPlan, STOPPED_MS};
use super::definition;
use super::paid;
use super::period::{NOTHING, begin, moved};
use crate::Result;
use crate::batch::ledger_batch::LedgerBatch;
use crate::db::Conn;
use crate::revisions;

/// How long a plan waits for its next payment: three days, and never longer than a period.
const GRACE_MS: i64 = 3 * 86_400_000;

/// Renews the plan of an account if it is due; whether the account may be in another group now.
pub(super) async fn renew(conn: &mut Conn, account_id: &str, now_ms: i64) -> Result<bool> {
    let mut books = LedgerBatch::load(conn, &[account_id], &[]).await?;
    // Whoever was here first has renewed it.
    let row = account_plan::of(conn, account_id).await?;
    let Some(row) = row.filter(|row| row.until_ms <= now_ms) else {
        return Ok(false);
    };
    books.end_credits(account_id, now_ms);
    let group = row.group.clone();
    let after = go_on(conn, &mut books, row, now_ms).await?;
    books.write(conn).await?;
    Ok(after.and_then(|after| after.group) != group)
}

/// Takes a plan further whose period is over; the plan after it, if the account still has one. The caller has loaded and locked the
/// account, and writes its books.
pub(super) async fn go_on(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    mut row: AccountPlan,
    now_ms: i64,
) -> Result<Option<AccountPlan>> {
    // What was paid for comes before everything else, also before the end.
    if let Some(next) = paid::next(conn, &row.account_id, &row.plan).await? {
        let row = after_grace(row, now_ms);
        return paid::begin(conn, books, row, &next, now_ms).await.map(Some);
    }
    if row.by_payment && !row.ends && row.next.is_none() {
        let waits_ms = row.waits_ms.unwrap_or_else(|| grace_end(&row));
        if now_ms < waits_ms {
            return wait(conn, books, row, waits_ms).await.map(Some);
        }
        let plan = definition::at_revision(conn, &row.plan, row.revision).await?;
        let stops = plan.is_some_and(|plan| plan.then == Then::Stop);
        // A subscription goes on until its provider says that it does not: until then nothing else is spent.
        if stops && paid::is_subscribed(conn, &row).await? {
            books.stop_plan(&row.account_id, STOPPED_MS, now_ms);
            let waits_ms = Some(STOPPED_MS);
            let row = AccountPlan { waits_ms, ..row };
            account_plan::write(conn, &row).await?;
            return Ok(Some(row));
        }
        row.ends = true;
    }
    let name = row.next.take().unwrap_or_else(|| row.plan.clone());
    let plan = if row.ends {
        None
    } else {
        definition::current(conn, &name).await?
    };
    let Some(plan) = plan else {
        books.renew_plan(&row.account_id, &NOTHING, now_ms);
        let account_id = row.account_id.clone();
        moved(conn, row, None).await?;
        account_plan::remove(conn, &account_id).await?;
        return Ok(None);
    };
    row.plan = revisions::key(&name);
    row.by_payment = false;
    let row = begin(conn, books, row, (&plan.0, plan.1), now_ms).await?;
    account_plan::write(conn, &row).await?;
    Ok(Some(row))
}

/// Waits for the payment of the next period: until then what is left of this one can be spent.
async fn wait(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    row: AccountPlan,
    waits_ms: i64,
) -> Result<AccountPlan> {
    if row.waits_ms.is_some() {
        return Ok(row);
    }
    books.prolong_plan(&row.account_id, waits_ms);
    let waits_ms = Some(waits_ms);
    let row = AccountPlan { waits_ms, ..row };
    account_plan::write(conn, &row).await?;
    Ok(row)
}

/// When a plan whose period is over is no longer waited for.
fn grace_end(row: &AccountPlan) -> i64 {
    let period_ms = row.until_ms.saturating_sub(row.from_ms);
    row.until_ms.saturating_add(GRACE_MS.min(period_ms))
}

/// A period that is begun within the grace follows the one before; one that is begun later is counted from then, so that it is whole.
fn after_grace(row: AccountPlan, now_ms: i64) -> AccountPlan {
    if now_ms < grace_end(&row) {
        return row;
    }
    AccountPlan {
        first_ms: now_ms,
        until_ms: now_ms,
        ..row
    }
}
