//! Plans: what they are, with all their revisions, and which account has which. A renewal is one commit: what is left beyond what goes
//! over lapses, the new quota is granted, and the period is written down, which can be done once.

use atelier_contract::Quota;
use atelier_contract::plans::{Period, PlanDefinition, Then};

use crate::Result;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::batch::credits::{NewCredit, Rollover};
use crate::batch::ledger_batch::{LedgerBatch, Posting};
use crate::db::{Conn, args};
use crate::first_use;
use crate::groups;
use crate::migrate::{CREDITS, PLANS};
use crate::revisions::{self, RevisionChange, RevisionOutcome, RevisionRow, RevisionTable};
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// How long the payment of the next period is waited for: three days.
const GRACE_MS: i64 = 3 * 86_400_000;

/// The setting that is different after every change of plans.
pub const PLAN_EDITION: &str = "plan_edition";

static TABLE: RevisionTable = RevisionTable {
    table: "plan",
    migration: PLANS,
    edition: PLAN_EDITION,
    beside: None,
    users: Some("SELECT COUNT(*) FROM account_plan WHERE plan_key = $1 OR next_key = $1"),
};

/// The plan of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountPlan {
    pub account_id: String,
    /// Its name in lower case.
    pub plan: String,
    /// The revision that this period goes by; 0 before the first.
    pub revision: u32,
    /// The one that the next renewal makes of it.
    pub next: Option<String>,
    /// Whether the next renewal is its end.
    pub ends: bool,
    /// What its periods are counted from.
    pub first_ms: i64,
    /// When this period began, and when it is renewed.
    pub from_ms: i64,
    pub until_ms: i64,
    /// Whether its first period has begun.
    pub begun: bool,
    /// The group that it put the account in, and the one that the account was in before.
    pub group: Option<String>,
    pub group_before: Option<String>,
    /// Until when it is paid for, where payments renew it and not the clock alone.
    pub paid_until_ms: Option<i64>,
    /// Until when the next payment is waited for, once its period is over.
    pub waits_ms: Option<i64>,
}

impl AccountPlan {
    /// Whether its next period has to be paid for first.
    fn is_unpaid(&self) -> bool {
        let paid = self.paid_until_ms;
        !self.ends && paid.is_some_and(|paid_until_ms| paid_until_ms <= self.until_ms)
    }
}

impl FromRow for AccountPlan {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            account_id: columns.text()?,
            plan: columns.text()?,
            revision: columns.int()? as u32,
            next: columns.maybe_text()?,
            ends: columns.int()? > 0,
            first_ms: columns.int()?,
            from_ms: columns.int()?,
            until_ms: columns.int()?,
            begun: columns.int()? > 0,
            group: columns.maybe_text()?,
            group_before: columns.maybe_text()?,
            paid_until_ms: columns.maybe_int()?,
            waits_ms: columns.maybe_int()?,
        })
    }
}

/// A plan for an account.
#[derive(Clone, Debug)]
pub struct PlanAssignment {
    pub account_id: String,
    pub plan: String,
    /// When its first period begins; now without.
    pub from_ms: Option<i64>,
    pub now_ms: i64,
    /// Nodes that were heard of since then may be at work.
    pub alive_since_ms: i64,
}

/// What became of a [`PlanAssignment`]. Nothing has changed unless it is told what the account has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanOutcome {
    /// The account has it, at once or from a moment on, or the next renewal makes it so.
    Done(AccountPlan),
    /// There is no such plan.
    NoPlan,
    /// Its group is not there.
    NoGroup(String),
    /// The account has a plan already, so that another one cannot begin at a moment of its own.
    Running,
    /// A node is at work whose program knows of no quota that ends.
    OlderNode(String),
    /// There is no such account.
    NoAccount,
}

/// Plans and the accounts that have one.
#[derive(Clone, Copy, Debug)]
pub struct Plans<'a>(pub(crate) &'a StoreCore);

impl Plans<'_> {
    /// The latest revision of every plan by name, of removed ones as well.
    pub async fn current(self) -> Result<Vec<RevisionRow>> {
        TABLE.current(self.0).await
    }

    /// A plan as it was in a revision.
    pub async fn revision(self, name: &str, revision: u32) -> Result<Option<RevisionRow>> {
        TABLE.revision(self.0, name, revision).await
    }

    /// Adds revisions of plans, all or none, together with the act of whoever did it. One that an account has is not removed, and one
    /// of a group that went meanwhile has to be looked at again.
    pub async fn append(
        self,
        change: RevisionChange,
        act: Option<AuditRow>,
    ) -> Result<RevisionOutcome> {
        audited_change::run(
            self.0,
            change,
            act,
            |conn, change| Box::pin(append(conn, change)),
            |outcome| matches!(outcome, RevisionOutcome::Written(_)),
        )
        .await
    }

    /// The plan of an account.
    pub async fn of(self, account_id: &str) -> Result<Option<AccountPlan>> {
        let reader = self.0.db.of(Some(account_id));
        reader.maybe(OF_ACCOUNT, args![account_id]).await
    }

    /// Gives an account a plan, or another one: at once where that gives more, at the next renewal where it gives less.
    pub async fn assign(
        self,
        assignment: PlanAssignment,
        act: Option<AuditRow>,
    ) -> Result<PlanOutcome> {
        audited_change::run(
            self.0,
            assignment,
            act,
            |conn, assignment| Box::pin(assign(conn, assignment)),
            |outcome| matches!(outcome, PlanOutcome::Done(_)),
        )
        .await
    }

    /// Has the plan of an account end at its next renewal; whether it has one.
    pub async fn end(self, account_id: &str, act: Option<AuditRow>) -> Result<bool> {
        audited_change::run(
            self.0,
            account_id.to_owned(),
            act,
            |conn, account_id| {
                Box::pin(async move {
                    let lock = "SELECT id FROM account WHERE id = $1 {lock}";
                    conn.maybe::<String>(lock, args![account_id]).await?;
                    let sql =
                        "UPDATE account_plan SET ends = 1, next_key = NULL WHERE account_id = $1";
                    Ok(conn.run(sql, args![account_id]).await? > 0)
                })
            },
            |ended| *ended,
        )
        .await
    }

    /// Accounts whose plans are due by a moment, so many at most.
    pub async fn due(self, now_ms: i64, accounts: i64) -> Result<Vec<String>> {
        self.0.db.all(DUE, args![now_ms, accounts]).await
    }

    /// Renews the plan of an account, if it is due by a moment; whether the account may be in another group now.
    pub async fn renew(self, account_id: &str, now_ms: i64) -> Result<bool> {
        let input = (account_id.to_owned(), now_ms);
        self.0
            .change_alone(input, |conn, (account_id, now_ms)| {
                Box::pin(renew(conn, account_id, *now_ms))
            })
            .await
    }
}

async fn append(conn: &mut Conn, change: &RevisionChange) -> Result<RevisionOutcome> {
    let written = TABLE.append(conn, change).await?;
    if matches!(written, RevisionOutcome::Written(_)) {
        for draft in change.drafts.iter().filter(|draft| !draft.removed) {
            let group = read(&draft.definition)?.group;
            if let Some(group) = group
                && !groups::is_held(conn, &group).await?
            {
                return Ok(RevisionOutcome::Crossed);
            }
        }
    }
    Ok(written)
}

/// What cannot be read is no reason to take a plan away: another program may have written it.
fn read(definition: &str) -> Result<PlanDefinition> {
    let read = serde_json::from_str(definition);
    Ok(read.map_err(|error| sqlx::Error::Decode(error.into()))?)
}

/// A plan as it is now.
async fn definition(conn: &mut Conn, name: &str) -> Result<Option<(PlanDefinition, u32)>> {
    let row = TABLE.latest(conn, name).await?.filter(|row| !row.removed);
    row.map(|row| Ok((read(&row.definition)?, row.revision)))
        .transpose()
}

/// The plan that a period of an account goes by.
async fn in_force(conn: &mut Conn, plan: &AccountPlan) -> Result<Option<PlanDefinition>> {
    let values = args![&plan.plan, i64::from(plan.revision)];
    let found: Option<String> = conn.maybe(IN_FORCE, values).await?;
    found.as_deref().map(read).transpose()
}

async fn assign(conn: &mut Conn, wish: &PlanAssignment) -> Result<PlanOutcome> {
    let (account_id, now_ms) = (&*wish.account_id, wish.now_ms);
    let mut books = LedgerBatch::load(conn, &[account_id], &[]).await?;
    let there: Option<String> = conn.maybe(THERE, args![account_id]).await?;
    if there.is_none() {
        return Ok(PlanOutcome::NoAccount);
    }
    // Whoever removes it waits for this commit.
    first_use::lock(conn, PLANS).await?;
    let Some((plan, revision)) = definition(conn, &wish.plan).await? else {
        return Ok(PlanOutcome::NoPlan);
    };
    if let Some(group) = &plan.group
        && !groups::is_held(conn, group).await?
    {
        return Ok(PlanOutcome::NoGroup(group.clone()));
    }
    if let Some(node) = first_use::begin(conn, CREDITS, wish.alive_since_ms).await? {
        return Ok(PlanOutcome::OlderNode(node));
    }
    let old: Option<AccountPlan> = conn.maybe(OF_ACCOUNT, args![account_id]).await?;
    let key = revisions::key(&plan.name);
    books.end_credits(account_id, now_ms);
    let made = match old {
        Some(old) if old.begun => {
            if wish.from_ms.is_some() {
                return Ok(PlanOutcome::Running);
            }
            change(conn, &mut books, old, (&plan, revision), now_ms).await?
        }
        // One that is yet to begin gives way.
        old => {
            let planned = wish.from_ms.or(old.map(|old| old.from_ms));
            let from_ms = planned.unwrap_or(now_ms);
            let new = AccountPlan {
                account_id: account_id.to_owned(),
                plan: key,
                revision: 0,
                next: None,
                ends: false,
                first_ms: from_ms,
                from_ms,
                until_ms: from_ms,
                begun: false,
                group: None,
                group_before: None,
                paid_until_ms: None,
                waits_ms: None,
            };
            if from_ms > now_ms {
                new
            } else {
                begin(conn, &mut books, new, (&plan, revision), now_ms).await?
            }
        }
    };
    books.write(conn).await?;
    write(conn, &made).await?;
    Ok(PlanOutcome::Done(made))
}

/// Gives an account another plan: at once where that gives more, for the rest of the period; else the next renewal does it. The same
/// plan again takes back what was to come.
async fn change(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    old: AccountPlan,
    (plan, revision): (&PlanDefinition, u32),
    now_ms: i64,
) -> Result<AccountPlan> {
    let key = revisions::key(&plan.name);
    let before = in_force(conn, &old).await?;
    let is_above = before.is_none_or(|before| plan.is_above(&before));
    let whole = Period {
        number: 0,
        from_ms: old.from_ms,
        until_ms: old.until_ms,
    };
    let amount = plan.prorated(whole, old.first_ms, now_ms);
    // A moment before the renewal there is nothing to give, and what `stop` says would not hold.
    if old.plan == key || !is_above || amount <= Quota::ZERO {
        let next = (old.plan != key).then_some(key);
        return Ok(AccountPlan {
            next,
            ends: false,
            ..old
        });
    }
    books.renew_plan(&old.account_id, &NOTHING, now_ms);
    let given = PeriodGrant {
        plan,
        revision,
        period: Period {
            from_ms: now_ms,
            ..whole
        },
        amount,
    };
    give(conn, books, &old.account_id, &given, now_ms).await?;
    let row = AccountPlan {
        plan: key,
        revision,
        next: None,
        ends: false,
        ..old
    };
    moved(conn, row, plan.group.as_deref()).await
}

/// What goes over where a plan ends, or another takes its place.
const NOTHING: Rollover = Rollover {
    most: 0,
    until_ms: 0,
    alone: false,
};

/// What a period gives.
struct PeriodGrant<'a> {
    plan: &'a PlanDefinition,
    revision: u32,
    period: Period,
    amount: Quota,
}

impl PeriodGrant<'_> {
    fn ledger_id(&self, account_id: &str) -> String {
        period_id(account_id, self.period.from_ms, &self.plan.name)
    }
}

/// Begins the period that a moment is in. What is left of the one before goes over as far as the plan says.
async fn begin(
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
    (row.from_ms, row.until_ms, row.begun) = (period.from_ms, period.until_ms, true);
    (row.revision, row.waits_ms) = (revision, None);
    moved(conn, row, plan.group.as_deref()).await
}

/// Grants what a period gives, and writes the period down: for a second time there is no room.
async fn give(
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
async fn moved(conn: &mut Conn, mut row: AccountPlan, group: Option<&str>) -> Result<AccountPlan> {
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

/// Renews the plan of an account if it is due; whether the account may be in another group now.
async fn renew(conn: &mut Conn, account_id: &str, now_ms: i64) -> Result<bool> {
    let mut books = LedgerBatch::load(conn, &[account_id], &[]).await?;
    // Whoever was here first has renewed it.
    let row: Option<AccountPlan> = conn.maybe(OF_ACCOUNT, args![account_id]).await?;
    let Some(mut row) = row.filter(|row| row.until_ms <= now_ms) else {
        return Ok(false);
    };
    books.end_credits(account_id, now_ms);
    if row.is_unpaid() {
        let waits_ms = row.until_ms.saturating_add(GRACE_MS);
        if now_ms < waits_ms {
            wait(conn, &mut books, row, waits_ms, now_ms).await?;
            return Ok(false);
        }
        row.ends = true;
    }
    let group = row.group.clone();
    let name = row.next.take().unwrap_or_else(|| row.plan.clone());
    let plan = if row.ends {
        None
    } else {
        definition(conn, &name).await?
    };
    let Some(plan) = plan else {
        books.renew_plan(account_id, &NOTHING, now_ms);
        books.write(conn).await?;
        moved(conn, row, None).await?;
        let sql = "DELETE FROM account_plan WHERE account_id = $1";
        conn.run(sql, args![account_id]).await?;
        return Ok(group.is_some());
    };
    row.plan = revisions::key(&name);
    let row = begin(conn, &mut books, row, (&plan.0, plan.1), now_ms).await?;
    books.write(conn).await?;
    write(conn, &row).await?;
    Ok(row.group != group)
}

/// Waits for the payment of the next period: until then what is left of this one can be spent.
async fn wait(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    row: AccountPlan,
    waits_ms: i64,
    now_ms: i64,
) -> Result<()> {
    let plan = in_force(conn, &row).await?;
    let everything = Rollover {
        most: i64::MAX,
        until_ms: waits_ms,
        alone: plan.is_some_and(|plan| plan.then == Then::Stop),
    };
    let anew = books.renew_plan(&row.account_id, &everything, now_ms);
    debug_assert_eq!(anew, Quota::ZERO, "no period has begun since it went over");
    books.write(conn).await?;
    let waits_ms = Some(waits_ms);
    write(conn, &AccountPlan { waits_ms, ..row }).await
}

/// What a period of a plan gives; `None` when there is no such plan.
pub(crate) async fn quota_of(conn: &mut Conn, name: &str) -> Result<Option<Quota>> {
    let found = definition(conn, name).await?;
    Ok(found.map(|(plan, _)| plan.quota))
}

/// What a payment for a plan gave.
pub(crate) struct PaidPeriod {
    /// Identifier of the ledger row that grants it, or will.
    pub(crate) ledger_id: String,
    pub(crate) quota: Quota,
}

/// Gives an account a period of a plan that was paid for: the next one where it has the plan, else the first; another plan gives way.
/// `None` when there is no such plan any more. The caller has loaded and locked the account, and writes its books.
pub(crate) async fn pay(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    (account_id, name): (&str, &str),
    now_ms: i64,
) -> Result<Option<PaidPeriod>> {
    // Whoever removes it waits for this commit.
    first_use::lock(conn, PLANS).await?;
    let Some((plan, revision)) = definition(conn, name).await? else {
        return Ok(None);
    };
    let old: Option<AccountPlan> = conn.maybe(OF_ACCOUNT, args![account_id]).await?;
    let key = revisions::key(&plan.name);
    let row = match old {
        Some(old) if old.begun && old.plan == key && now_ms < old.until_ms => {
            return extend(conn, old, &plan).await.map(Some);
        }
        Some(old) if old.begun && old.plan == key => old,
        old => {
            if old.as_ref().is_some_and(|old| old.begun) {
                books.renew_plan(account_id, &NOTHING, now_ms);
            }
            let (group, group_before) =
                old.map_or((None, None), |old| (old.group, old.group_before));
            AccountPlan {
                account_id: account_id.to_owned(),
                plan: key,
                revision: 0,
                next: None,
                ends: false,
                first_ms: now_ms,
                from_ms: now_ms,
                until_ms: now_ms,
                begun: false,
                group,
                group_before,
                paid_until_ms: None,
                waits_ms: None,
            }
        }
    };
    let mut row = begin(conn, books, row, (&plan, revision), now_ms).await?;
    (row.paid_until_ms, row.ends, row.next) = (Some(row.until_ms), false, None);
    write(conn, &row).await?;
    let ledger_id = period_id(account_id, row.from_ms, &plan.name);
    let quota = plan.quota;
    Ok(Some(PaidPeriod { ledger_id, quota }))
}

/// Has a plan be paid for a period longer; the clock begins that when it is due.
async fn extend(
    conn: &mut Conn,
    mut row: AccountPlan,
    plan: &PlanDefinition,
) -> Result<PaidPeriod> {
    let paid_ms = row.paid_until_ms.unwrap_or(0).max(row.until_ms);
    let next = plan.every.at(row.first_ms, paid_ms);
    (row.paid_until_ms, row.ends, row.next) = (Some(next.until_ms), false, None);
    write(conn, &row).await?;
    Ok(PaidPeriod {
        ledger_id: period_id(&row.account_id, paid_ms, &plan.name),
        quota: plan.quota,
    })
}

/// Has the plan of an account end with its period, whose money went back; a period that has not begun does not begin.
pub(crate) async fn unpay(conn: &mut Conn, account_id: &str) -> Result<()> {
    conn.run(UNPAY, args![account_id]).await.map(|_| ())
}

/// What the ledger calls the grant of a period.
fn period_id(account_id: &str, from_ms: i64, plan: &str) -> String {
    format!("plan_{account_id}_{from_ms}_{plan}")
}

async fn write(conn: &mut Conn, row: &AccountPlan) -> Result<()> {
    let values = args![
        &row.account_id,
        &row.plan,
        i64::from(row.revision),
        row.next.as_deref(),
        i64::from(row.ends),
        row.first_ms,
        row.from_ms,
        row.until_ms,
        i64::from(row.begun),
        row.group.as_deref(),
        row.group_before.as_deref(),
        row.paid_until_ms,
        row.waits_ms
    ];
    conn.run(UPSERT, values).await.map(|_| ())
}

const OF_ACCOUNT: &str = "SELECT account_id, plan_key, revision, next_key, ends, first_ms, from_ms, until_ms, begun, group_key, group_before, paid_until_ms, waits_ms \
     FROM account_plan WHERE account_id = $1";

const UPSERT: &str = "INSERT INTO account_plan (account_id, plan_key, revision, next_key, ends, first_ms, from_ms, until_ms, begun, group_key, group_before, \
     paid_until_ms, waits_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (account_id) DO UPDATE SET plan_key = excluded.plan_key, \
     revision = excluded.revision, next_key = excluded.next_key, ends = excluded.ends, first_ms = excluded.first_ms, from_ms = excluded.from_ms, \
     until_ms = excluded.until_ms, begun = excluded.begun, group_key = excluded.group_key, group_before = excluded.group_before, \
     paid_until_ms = excluded.paid_until_ms, waits_ms = excluded.waits_ms";

// One that was deleted keeps its row.
const THERE: &str = "SELECT id FROM account WHERE id = $1 AND email_key <> 'deleted-' || id";

const IN_FORCE: &str = "SELECT definition FROM plan WHERE name_key = $1 AND revision = $2";

const INSERT_PERIOD: &str = "INSERT INTO plan_period (account_id, from_ms, until_ms, plan_key, revision, quota, ledger_id) \
     VALUES ($1, $2, $3, $4, $5, $6, $7)";

const DUE: &str = "SELECT account_id FROM account_plan WHERE until_ms <= $1 AND (waits_ms IS NULL OR waits_ms <= $1) \
     ORDER BY until_ms LIMIT $2";

const UNPAY: &str = "UPDATE account_plan SET ends = 1, next_key = NULL, \
     paid_until_ms = CASE WHEN paid_until_ms > until_ms THEN until_ms ELSE paid_until_ms END WHERE account_id = $1";

const GROUP_OF: &str = "SELECT group_key FROM account WHERE id = $1";

const SET_GROUP: &str = "UPDATE account SET group_key = $2 WHERE id = $1";
