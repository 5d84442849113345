//! A period of a plan: what it gives and what goes over from the one before, written down once, and the group that the plan puts its
//! account in.

use atelier_contract::Quota;
use atelier_contract::plans::{Period, PlanDefinition, Then};
use atelier_contract::time::timestamp;

use super::account_plan::AccountPlan;
use crate::Result;
use crate::batch::credits::{NewCredit, Rollover};
use crate::batch::ledger_batch::{LedgerBatch, Posting};
use crate::batch::notices::{self, NewNotice};
use crate::db::{Conn, args};
use crate::groups;
use crate::row::{Columns, FromRow};

/// What goes over where a plan ends, or another takes its place.
pub(super) const NOTHING: Rollover = Rollover {
    most: 0,
    until_ms: 0,
    alone: false,
};

/// What a period gives.
pub(super) struct PeriodGrant<'a> {
    pub(super) plan: &'a PlanDefinition,
    pub(super) revision: u32,
    pub(super) period: Period,
    pub(super) amount: Quota,
}

impl PeriodGrant<'_> {
    fn ledger_id(&self, account_id: &str) -> String {
        period_id(account_id, self.period.from_ms, &self.plan.name)
    }
}

/// Begins the period that a moment is in. What is left of the one before goes over as far as the plan says.
pub(super) async fn begin(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    mut row: AccountPlan,
    (plan, revision): (&PlanDefinition, u32),
    now_ms: i64,
) -> Result<AccountPlan> {
    // A plan of other periods counts them from here.
    if plan.every.at(row.first_ms, row.until_ms).from_ms != row.until_ms {
        row.first_ms = row.until_ms;
    }
    let period = plan.every.at(row.first_ms, now_ms);
    let account_id = row.account_id.clone();
    let carry = Rollover {
        most: plan.rollover_cap.thousandths(),
        until_ms: period.until_ms,
        alone: plan.then == Then::Stop,
    };
    let anew = books.renew_plan(&account_id, &carry, now_ms);
    let given = PeriodGrant {
        plan,
        revision,
        period,
        amount: plan.quota,
    };
    give(conn, books, &account_id, &given, now_ms).await?;
    let ledger_id = format!("{}_anew", given.ledger_id(&account_id));
    grant(books, &account_id, (&ledger_id, anew), &given, now_ms);
    let is_renewal = row.begun;
    (row.from_ms, row.until_ms, row.begun) = (period.from_ms, period.until_ms, true);
    (row.revision, row.waits_ms) = (revision, None);
    if is_renewal {
        notices::insert(conn, &[renewed(&row, plan, now_ms)]).await?;
    }
    moved(conn, row, plan.group.as_deref()).await
}

/// What is told of a period that follows another.
fn renewed(row: &AccountPlan, plan: &PlanDefinition, now_ms: i64) -> NewNotice {
    let facts = serde_json::json!({
        "plan": plan.name,
        "quota": plan.quota.to_string(),
        "until": timestamp(row.until_ms),
    });
    NewNotice {
        account_id: row.account_id.clone(),
        kind: "plan_renewed",
        subject: row.plan.clone(),
        window_ms: row.from_ms,
        since_ms: row.from_ms,
        facts: facts.to_string(),
        now_ms,
    }
}

/// Grants what a period gives, and writes the period down: for a second time there is no room.
pub(super) async fn give(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    account_id: &str,
    given: &PeriodGrant<'_>,
    now_ms: i64,
) -> Result<()> {
    let PeriodGrant {
        plan,
        revision,
        period,
        amount,
    } = given;
    let ledger_id = given.ledger_id(account_id);
    let values = args![
        account_id,
        period.from_ms,
        period.until_ms,
        &plan.name,
        i64::from(*revision),
        amount.thousandths(),
        &ledger_id
    ];
    conn.run(INSERT_PERIOD, values).await?;
    grant(books, account_id, (&ledger_id, *amount), given, now_ms);
    Ok(())
}

/// Grants a credit that ends with a period, if it is worth anything.
fn grant(
    books: &mut LedgerBatch,
    account_id: &str,
    (ledger_id, amount): (&str, Quota),
    given: &PeriodGrant<'_>,
    now_ms: i64,
) {
    let PeriodGrant { plan, period, .. } = given;
    if amount <= Quota::ZERO {
        return;
    }
    let posting = Posting {
        id: ledger_id,
        job_id: None,
        kind: "grant",
        cause: None,
        amount,
        balance_delta: amount.thousandths(),
        frozen_delta: 0,
        reason: &plan.name,
        idempotency_key: None,
        time_ms: now_ms,
        spender: None,
    };
    let new = NewCredit {
        source: "plan",
        expires_ms: period.until_ms,
        origin: &plan.name,
        stays: true,
        alone: plan.then == Then::Stop,
    };
    books.grant(account_id, &new, &posting);
}

/// Puts an account into the group of its plan, or back where it was. What an operator has made of it since stays.
pub(super) async fn moved(
    conn: &mut Conn,
    mut row: AccountPlan,
    group: Option<&str>,
) -> Result<AccountPlan> {
    if row.group.as_deref() == group {
        return Ok(row);
    }
    let now: Option<Option<String>> = conn
        .maybe::<GroupKey>(GROUP_OF, args![&row.account_id])
        .await?
        .map(|found| found.0);
    let now = now.flatten();
    let is_ours = row.group.is_some() && now == row.group;
    if row.group.is_none() {
        row.group_before = now;
    }
    let wanted = match group {
        Some(group) => Some(group.to_owned()),
        None if is_ours => row.group_before.clone(),
        None => {
            row.group = None;
            return Ok(row);
        }
    };
    let is_there = match &wanted {
        Some(wanted) => groups::is_held(conn, wanted).await?,
        None => true,
    };
    if group.is_some() && !is_there {
        // The account stays where it is, and is asked about again with the next renewal.
        return Ok(AccountPlan { group: None, ..row });
    }
    let wanted = wanted.filter(|_| is_there);
    let values = args![&row.account_id, wanted.as_deref()];
    conn.run(SET_GROUP, values).await?;
    row.group = wanted.filter(|_| group.is_some());
    Ok(row)
}

struct GroupKey(Option<String>);

impl FromRow for GroupKey {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        columns.maybe_text().map(Self)
    }
}

/// What the ledger calls the grant of a period.
pub(super) fn period_id(account_id: &str, from_ms: i64, plan: &str) -> String {
    format!("plan_{account_id}_{from_ms}_{plan}")
}

const INSERT_PERIOD: &str = "INSERT INTO plan_period (account_id, from_ms, until_ms, plan_key, revision, quota, ledger_id) \
     VALUES ($1, $2, $3, $4, $5, $6, $7)";

const GROUP_OF: &str = "SELECT group_key FROM account WHERE id = $1";

const SET_GROUP: &str = "UPDATE account SET group_key = $2 WHERE id = $1";
