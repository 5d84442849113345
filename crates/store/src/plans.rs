//! Plans: what they are, with all their revisions, and which account has which. A renewal is one commit: what is left beyond what goes
//! over lapses, the new quota is granted, and the period is written down, which can be done once.

mod account_plan;
mod definition;
mod paid;
pub(crate) mod pay;
mod period;
mod renewal;

pub use account_plan::AccountPlan;
pub use definition::PLAN_EDITION;

use atelier_contract::Quota;
use atelier_contract::plans::{Period, PlanDefinition};

use crate::Result;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::batch::ledger_batch::LedgerBatch;
use crate::db::{Conn, args};
use crate::first_use;
use crate::groups;
use crate::migrate::{CREDITS, PLANS};
use crate::revisions::{self, RevisionChange, RevisionOutcome, RevisionRow};
use crate::store_core::StoreCore;
use crate::subscriptions;
use account_plan::OF_ACCOUNT;
use definition::TABLE;
use period::{NOTHING, PeriodGrant, begin, give, moved};
use renewal::{go_on, renew};

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

    /// Has the plan of an account end at its next renewal, and its subscriptions with it; whether it has one.
    pub async fn end(self, account_id: &str, now_ms: i64, act: Option<AuditRow>) -> Result<bool> {
        audited_change::run(
            self.0,
            (account_id.to_owned(), now_ms),
            act,
            |conn, (account_id, now_ms)| Box::pin(end(conn, account_id, *now_ms)),
            |ended| *ended,
        )
        .await
    }

    /// How many periods an account has paid for that have not begun.
    pub async fn paid_ahead(self, account_id: &str) -> Result<i64> {
        let reader = self.0.db.of(Some(account_id));
        reader.one(paid::AHEAD, args![account_id]).await
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
            let group = definition::read(&draft.definition)?.group;
            if let Some(group) = group
                && !groups::is_held(conn, &group).await?
            {
                return Ok(RevisionOutcome::Crossed);
            }
        }
    }
    Ok(written)
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
    let Some((plan, revision)) = definition::current(conn, &wish.plan).await? else {
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
    let old = account_plan::of(conn, account_id).await?;
    let key = revisions::key(&plan.name);
    books.end_credits(account_id, now_ms);
    let made = match old {
        Some(old) if old.begun => {
            if wish.from_ms.is_some() {
                return Ok(PlanOutcome::Running);
            }
            if old.waits_ms.is_some() {
                return anew(conn, books, old, (&plan.name, now_ms)).await;
            }
            change(conn, &mut books, old, (&plan, revision), now_ms).await?
        }
        // One that is yet to begin gives way.
        old => {
            let planned = wish.from_ms.or(old.map(|old| old.from_ms));
            let new = AccountPlan::planned(account_id, key, planned.unwrap_or(now_ms));
            if new.from_ms > now_ms {
                new
            } else {
                begin(conn, &mut books, new, (&plan, revision), now_ms).await?
            }
        }
    };
    books.write(conn).await?;
    account_plan::write(conn, &made).await?;
    Ok(PlanOutcome::Done(made))
}

/// Gives a plan to an account whose own waits for a payment: the clock renews it from now on.
async fn anew(
    conn: &mut Conn,
    mut books: LedgerBatch,
    old: AccountPlan,
    (name, now_ms): (&str, i64),
) -> Result<PlanOutcome> {
    let given = AccountPlan {
        next: Some(name.to_owned()),
        ends: false,
        by_payment: false,
        ..old
    };
    let made = go_on(conn, &mut books, given, now_ms).await?;
    books.write(conn).await?;
    Ok(made.map_or(PlanOutcome::NoPlan, PlanOutcome::Done))
}

async fn end(conn: &mut Conn, account_id: &str, now_ms: i64) -> Result<bool> {
    let mut books = LedgerBatch::load(conn, &[account_id], &[]).await?;
    books.end_credits(account_id, now_ms);
    let ended = pay::end(conn, &mut books, (account_id, None), now_ms).await?;
    subscriptions::cancel(conn, account_id).await?;
    books.write(conn).await?;
    Ok(ended)
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
    let before = definition::at_revision(conn, &old.plan, old.revision).await?;
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

// One that was deleted keeps its row.
const THERE: &str = "SELECT id FROM account WHERE id = $1 AND email_key <> 'deleted-' || id";

const DUE: &str = "SELECT account_id FROM account_plan WHERE until_ms <= $1 AND (waits_ms IS NULL OR waits_ms <= $1) \
     ORDER BY until_ms LIMIT $2";
