//! Periods of plans that were paid for. Each payment gives one period of the revision that was sold; those that are paid ahead wait until
//! the period before them is over.

use atelier_contract::Quota;
use atelier_contract::products::taken_back;

use super::account_plan::{self, AccountPlan};
use super::definition;
use super::period::{self, period_id};
use crate::Result;
use crate::batch::ledger_batch::{LedgerBatch, Posting};
use crate::db::{Conn, args};
use crate::row::{Columns, FromRow};

/// A payment whose period has not begun.
pub(super) struct PaidAhead {
    payment_id: String,
    plan: String,
    revision: u32,
    money: i64,
    /// What of the money is not there any more.
    gone: i64,
}

impl FromRow for PaidAhead {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            payment_id: columns.text()?,
            plan: columns.text()?,
            revision: columns.int()? as u32,
            money: columns.int()?,
            gone: columns.int()?,
        })
    }
}

/// The next period that an account has paid for: of the plan that it has first, then in the order of the payments.
pub(super) async fn next(
    conn: &mut Conn,
    account_id: &str,
    plan: &str,
) -> Result<Option<PaidAhead>> {
    conn.maybe(NEXT, args![account_id, plan]).await
}

/// The next period that an account has paid for, where the money of the one that is running is gone.
pub(super) async fn after_lost(conn: &mut Conn, row: &AccountPlan) -> Result<Option<PaidAhead>> {
    let running = period_id(&row.account_id, row.from_ms, &row.plan);
    let lost: Option<String> = conn.maybe(LOST, args![&running]).await?;
    match lost {
        Some(_) => next(conn, &row.account_id, &row.plan).await,
        None => Ok(None),
    }
}

/// Whether a provider goes on with a subscription for the plan of an account.
pub(super) async fn is_subscribed(conn: &mut Conn, row: &AccountPlan) -> Result<bool> {
    let values = args![&row.account_id, &row.plan];
    Ok(conn.maybe::<String>(SUBSCRIBED, values).await?.is_some())
}

/// Begins a period that was paid for, as the plan was when it was sold. What of its money went back meanwhile is taken back at once.
pub(super) async fn begin(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    row: AccountPlan,
    paid: &PaidAhead,
    now_ms: i64,
) -> Result<AccountPlan> {
    let plan = definition::at_revision(conn, &paid.plan, paid.revision).await?;
    let plan = plan.ok_or(sqlx::Error::RowNotFound)?;
    let row = AccountPlan {
        ends: row.ends && row.plan == paid.plan,
        plan: paid.plan.clone(),
        next: None,
        by_payment: true,
        ..row
    };
    let row = period::begin(conn, books, row, (&plan, paid.revision), now_ms).await?;
    account_plan::write(conn, &row).await?;
    let ledger_id = period_id(&row.account_id, row.from_ms, &plan.name);
    let taken = taken_back(plan.quota, paid.money, paid.gone).thousandths();
    let mut of_credit = 0;
    if taken > 0 {
        let posting = Posting {
            id: &format!("refund_{ledger_id}"),
            job_id: None,
            kind: "adjust",
            cause: Some("refund"),
            amount: Quota::from_thousandths(-taken),
            balance_delta: -taken,
            frozen_delta: 0,
            reason: &plan.name,
            idempotency_key: None,
            time_ms: now_ms,
            spender: None,
        };
        of_credit = books.take_back(&row.account_id, &ledger_id, &posting);
    }
    let values = args![
        &paid.payment_id,
        &ledger_id,
        plan.quota.thousandths(),
        taken,
        of_credit
    ];
    conn.run(GIVEN, values).await?;
    Ok(row)
}

const NEXT: &str = "SELECT id, plan_key, plan_revision, money, refunded + disputed FROM payment \
     WHERE account_id = $1 AND paid_ms IS NOT NULL AND ledger_id IS NULL AND refunded + disputed < money \
     AND EXISTS (SELECT 1 FROM account WHERE account.id = payment.account_id AND account.email_key <> 'deleted-' || account.id) \
     ORDER BY CASE WHEN plan_key = $2 THEN 0 ELSE 1 END, paid_ms, id LIMIT 1";

const LOST: &str = "SELECT id FROM payment WHERE ledger_id = $1 AND state = 'refunded'";

pub(super) const AHEAD: &str = "SELECT COUNT(*) FROM payment WHERE account_id = $1 AND paid_ms IS NOT NULL AND ledger_id IS NULL \
     AND refunded + disputed < money";

const SUBSCRIBED: &str = "SELECT reference FROM subscription WHERE account_id = $1 AND plan_key = $2 AND state <> 'ended' LIMIT 1";

const GIVEN: &str = "UPDATE payment SET ledger_id = $2, quota = $3, taken = $4, taken_credit = $5 WHERE id = $1 AND ledger_id IS NULL";
