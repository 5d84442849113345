//! What payments do to plans: a period is bought, its money goes back, a subscription ends.

use atelier_contract::Quota;

use super::account_plan::{self, AccountPlan};
use super::definition;
use super::paid;
use super::period::period_id;
use super::renewal::go_on;
use crate::Result;
use crate::batch::ledger_batch::LedgerBatch;
use crate::db::{Conn, args};
use crate::first_use;
use crate::migrate::PLANS;

/// What is sold of a plan: a period of its revision of today.
pub(crate) struct SoldPeriod {
    pub(crate) revision: u32,
    pub(crate) quota: Quota,
}

/// What a payment for a plan buys; `None` when there is no such plan. No one removes it before this commit ends.
pub(crate) async fn sold(conn: &mut Conn, name: &str) -> Result<Option<SoldPeriod>> {
    first_use::lock(conn, PLANS).await?;
    let found = definition::current(conn, name).await?;
    Ok(found.map(|(plan, revision)| SoldPeriod {
        revision,
        quota: plan.quota,
    }))
}

/// Has a plan go on that is paid for again, though it was to end.
pub(crate) async fn resume(conn: &mut Conn, account_id: &str, plan: &str) -> Result<()> {
    let sql = "UPDATE account_plan SET ends = 0 WHERE account_id = $1 AND plan_key = $2";
    conn.run(sql, args![account_id, plan]).await.map(|_| ())
}

/// Begins a period that an account has paid for, if the one before it is over or its money is gone. The payment is written; the caller has
/// loaded and locked the account, and writes its books.
pub(crate) async fn begin_paid(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    account_id: &str,
    now_ms: i64,
) -> Result<()> {
    let old = account_plan::of(conn, account_id).await?;
    match old {
        Some(old) if old.begun && now_ms < old.until_ms => {
            if let Some(next) = paid::after_lost(conn, &old).await? {
                // No two periods begin in the same moment.
                let cut_ms = now_ms.max(old.from_ms + 1);
                let cut = AccountPlan {
                    first_ms: cut_ms,
                    until_ms: cut_ms,
                    ..old
                };
                paid::begin(conn, books, cut, &next, now_ms).await?;
            }
        }
        Some(old) if old.begun => {
            go_on(conn, books, old, now_ms).await?;
        }
        // One that is yet to begin follows what was paid for.
        old => {
            let Some(next) = paid::next(conn, account_id, "").await? else {
                return Ok(());
            };
            let none = AccountPlan::planned(account_id, String::new(), now_ms);
            let row = paid::begin(conn, books, none, &next, now_ms).await?;
            let planned = old.map(|old| old.plan).filter(|plan| *plan != row.plan);
            let row = AccountPlan {
                next: planned,
                ..row
            };
            account_plan::write(conn, &row).await?;
        }
    }
    Ok(())
}

/// Has a plan end with the period that a payment gave, now that the payment's money is gone. Another period or plan stays as it is.
pub(crate) async fn unpaid(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    (account_id, ledger_id): (&str, &str),
    now_ms: i64,
) -> Result<()> {
    let row = account_plan::of(conn, account_id).await?;
    let is_of = |row: &AccountPlan| period_id(account_id, row.from_ms, &row.plan) == ledger_id;
    match row.filter(is_of) {
        Some(row) => finish(conn, books, row, now_ms).await,
        None => Ok(()),
    }
}

/// Has the plan of an account end with its period; whether it has one. What was paid for ahead comes before the end.
pub(crate) async fn end(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    (account_id, plan): (&str, Option<&str>),
    now_ms: i64,
) -> Result<bool> {
    let row = account_plan::of(conn, account_id).await?;
    let row = row.filter(|row| plan.is_none_or(|plan| row.plan == plan));
    let Some(row) = row else {
        return Ok(false);
    };
    finish(conn, books, row, now_ms).await?;
    Ok(true)
}

/// At its next renewal, or at once where its period is over already.
async fn finish(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    row: AccountPlan,
    now_ms: i64,
) -> Result<()> {
    let row = AccountPlan {
        ends: true,
        next: None,
        ..row
    };
    account_plan::write(conn, &row).await?;
    if row.begun && row.until_ms <= now_ms {
        go_on(conn, books, row, now_ms).await?;
    }
    Ok(())
}
