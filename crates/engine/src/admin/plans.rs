//! Plans: made, changed and removed by operators, given to accounts, and renewed when they are due. Every change is one commit with its
//! audit row.

use std::sync::Arc;

use atelier_contract::body::Fields;
use atelier_contract::pages::patch::Patch;
use atelier_contract::pages::plans::{AccountPlanView, PlanView};
use atelier_contract::plans::PlanDefinition;
use atelier_contract::time::timestamp;
use atelier_contract::{AccountId, Code, Refusal};
use atelier_store::{
    AccountPlan, AuditRow, PLAN_EDITION, PlanAssignment, PlanOutcome, RevisionChange,
    RevisionDraft, RevisionOutcome,
};

use super::callers::{Caller, Callers};
use super::credits::NOT_KNOWN;
use super::groups::Groups;
use super::models::take_revision;
use super::registry::{CROSSED_MOST, crossed, no_account, older_node};
use crate::context::{Context, unavailable};
use crate::crash;

/// Plans that one installation may have.
const PLANS_MOST: usize = 1_000;
const DAY_MS: i64 = 86_400_000;
/// Accounts whose plans one step renews.
const AT_ONCE: i64 = 100;

/// Everything that was stored at one moment.
struct SeenPlans {
    edition: Option<String>,
    rows: Vec<PlanView>,
}

impl SeenPlans {
    fn find(&self, name: &str) -> Option<&PlanView> {
        let mut rows = self.rows.iter();
        rows.find(|row| row.definition.name.eq_ignore_ascii_case(name))
    }

    fn one(&self, name: &str, made_on: Option<u32>) -> Result<&PlanView, Refusal> {
        let found = self.find(name).ok_or_else(|| absent(name))?;
        match made_on {
            Some(made_on) if made_on != found.revision => {
                let message = format!(
                    "the plan {} is at revision {} now, not {made_on}; look at it and make the change on that",
                    found.definition.name, found.revision
                );
                Err(Refusal::field(Code::Conflict, "revision", message))
            }
            _ => Ok(found),
        }
    }
}

/// Plans and the accounts that have one.
pub struct Plans {
    context: Arc<Context>,
    callers: Arc<Callers>,
    groups: Arc<Groups>,
}

impl Plans {
    pub(super) fn new(context: Arc<Context>, callers: Arc<Callers>, groups: Arc<Groups>) -> Self {
        Self {
            context,
            callers,
            groups,
        }
    }

    /// Every plan, by name.
    pub async fn list(&self) -> Result<Vec<PlanView>, Refusal> {
        Ok(self.seen().await?.rows)
    }

    /// One plan, by its name.
    pub async fn one(&self, name: &str) -> Result<PlanView, Refusal> {
        self.seen().await?.one(name, None).cloned()
    }

    /// Makes a plan.
    pub async fn create(&self, by: &str, fields: Fields) -> Result<PlanView, Refusal> {
        for _ in 0..CROSSED_MOST {
            let seen = self.seen().await?;
            let definition = Patch::<PlanDefinition>::new(fields.clone()).made()?;
            if seen.find(&definition.name).is_some() {
                let message = format!(
                    "the plan {} is there already; change it instead",
                    definition.name
                );
                return Err(Refusal::field(Code::Conflict, "name", message));
            }
            if seen.rows.len() >= PLANS_MOST {
                let message =
                    format_args!("there are {PLANS_MOST} plans already; remove one first");
                return Err(Refusal::invalid("name", message));
            }
            self.check_group(&definition).await?;
            let act = self.act(by, "plan.create", &definition);
            let name = definition.name.clone();
            if self.append(&seen, drafted(definition, None), act).await? {
                return self.one(&name).await;
            }
        }
        Err(crossed())
    }

    /// Changes some fields of a plan, for periods that begin from now on.
    pub async fn change(
        &self,
        by: &str,
        name: &str,
        mut fields: Fields,
    ) -> Result<PlanView, Refusal> {
        let made_on = take_revision(&mut fields, 1)?;
        for _ in 0..CROSSED_MOST {
            let seen = self.seen().await?;
            let old = seen.one(name, made_on)?;
            let mut before = old.definition.clone();
            if fields.get("group").is_some_and(serde_json::Value::is_null) {
                before.group = None;
            }
            let definition = Patch::<PlanDefinition>::new(fields.clone()).over(&before)?;
            if definition.name != old.definition.name {
                let message = "cannot be changed; make another plan and move the accounts";
                return Err(Refusal::invalid("name", message));
            }
            if definition == old.definition {
                return Ok(old.clone());
            }
            self.check_group(&definition).await?;
            let act = self.act(by, "plan.change", &definition);
            let draft = drafted(definition, Some(old.revision));
            if self.append(&seen, draft, act).await? {
                return self.one(name).await;
            }
        }
        Err(crossed())
    }

    /// Takes a plan away that no account has.
    pub async fn remove(
        &self,
        by: &str,
        name: &str,
        made_on: Option<u32>,
    ) -> Result<PlanView, Refusal> {
        for _ in 0..CROSSED_MOST {
            let seen = self.seen().await?;
            let old = seen.one(name, made_on)?;
            let act = self.act(by, "plan.remove", &old.definition);
            let draft = RevisionDraft {
                removed: true,
                ..drafted(old.definition.clone(), Some(old.revision))
            };
            if self.append(&seen, draft, act).await? {
                return Ok(old.clone());
            }
        }
        Err(crossed())
    }

    /// The plan of an account, for its owner.
    pub async fn of(&self, account_id: &AccountId) -> Result<AccountPlanView, Refusal> {
        let found = self.context.store().ledger().plans().of(account_id).await;
        self.shown(found.map_err(unavailable)?).await
    }

    /// Gives an account a plan, or another one.
    pub async fn assign(
        &self,
        by: &str,
        account_id: &AccountId,
        plan: &str,
        from_ms: Option<i64>,
    ) -> Result<AccountPlanView, Refusal> {
        let now_ms = self.context.now_ms();
        // The midnight of today is now.
        let today_ms = now_ms - now_ms.rem_euclid(DAY_MS);
        let from_ms = from_ms.map(|from_ms| if from_ms == today_ms { now_ms } else { from_ms });
        if from_ms.is_some_and(|from_ms| from_ms < now_ms) {
            return Err(Refusal::invalid("from", "must not be before today"));
        }
        let assignment = PlanAssignment {
            account_id: account_id.to_string(),
            plan: plan.to_owned(),
            from_ms,
            now_ms,
            alive_since_ms: self.context.alive_since_ms(),
        };
        let act = self.context.act(by, "account.plan", account_id, plan);
        let plans = self.context.store().ledger().plans();
        let assigned = plans.assign(assignment, Some(act)).await;
        let assigned = assigned.map_err(unavailable)?;
        crash::point("admin.acted");
        match assigned {
            PlanOutcome::Done(row) => {
                self.callers.void_account(account_id);
                self.shown(Some(row)).await
            }
            PlanOutcome::NoPlan => {
                let message = format!("there is no plan {}", plan.to_ascii_lowercase());
                Err(Refusal::invalid("plan", message))
            }
            PlanOutcome::NoGroup(group) => {
                let message = format!("is of the group {group}, which is not there");
                Err(Refusal::invalid("plan", message))
            }
            PlanOutcome::Running => {
                let message = "cannot be chosen for an account that has a plan: another one that gives more begins at once, one that gives less with the next renewal";
                Err(Refusal::invalid("from", message))
            }
            PlanOutcome::OlderNode(node) => Err(older_node(&node, NOT_KNOWN)),
            PlanOutcome::NoAccount => Err(no_account()),
        }
    }

    /// Has the plan of an account end at its next renewal.
    pub async fn end(&self, by: &str, account_id: &AccountId) -> Result<AccountPlanView, Refusal> {
        let act = self.context.act(by, "account.plan.end", account_id, "");
        self.ended(account_id, act).await
    }

    /// Has the plan of a caller's account end, which the caller has bought.
    pub async fn end_own(&self, caller: &Caller) -> Result<AccountPlanView, Refusal> {
        let account_id = &caller.account_id;
        let found = self.context.store().ledger().plans().of(account_id).await;
        let found = found.map_err(unavailable)?;
        if found.is_some_and(|plan| !plan.by_payment) {
            let message = "the operator gives the account this plan; ask the operator to end it";
            return Err(Refusal::new(Code::Conflict, message));
        }
        let act = self
            .context
            .own_act(account_id, &caller.key_id, "plan.end", account_id, "");
        self.ended(account_id, act).await
    }

    async fn ended(
        &self,
        account_id: &AccountId,
        act: AuditRow,
    ) -> Result<AccountPlanView, Refusal> {
        let plans = self.context.store().ledger().plans();
        let ended = plans
            .end(account_id, self.context.now_ms(), Some(act))
            .await;
        crash::point("admin.acted");
        if !ended.map_err(unavailable)? {
            return Err(Refusal::new(Code::NotFound, "the account has no plan"));
        }
        self.callers.void_account(account_id);
        self.of(account_id).await
    }

    /// Renews what is due; whether there may be more.
    pub async fn renew_step(&self) -> Result<bool, atelier_store::Error> {
        let (store, now_ms) = (self.context.store(), self.context.now_ms());
        let plans = store.ledger().plans();
        let mut renewed = false;
        for account_id in plans.due(now_ms, AT_ONCE).await? {
            match plans.renew(&account_id, now_ms).await {
                Ok(moved) => {
                    renewed = true;
                    if moved {
                        self.callers.void_account(&account_id.into());
                    }
                }
                // One that cannot be renewed holds up no other.
                Err(error) => tracing::error!(%error, account_id, "a plan cannot be renewed"),
            }
        }
        Ok(renewed)
    }

    async fn shown(&self, row: Option<AccountPlan>) -> Result<AccountPlanView, Refusal> {
        let Some(row) = row else {
            return Ok(AccountPlanView {
                plan: None,
                quota: None,
                every: None,
                then: None,
                rollover: None,
                group: None,
                from: None,
                until: None,
                next: None,
                ends: false,
                by_payment: false,
                paid_ahead: 0,
                unpaid: false,
                waits_until: None,
            });
        };
        let definition = self.in_force(&row).await?;
        let definition = definition.as_ref();
        let plans = self.context.store().ledger().plans();
        let paid_ahead = if row.by_payment {
            plans
                .paid_ahead(&row.account_id)
                .await
                .map_err(unavailable)?
        } else {
            0
        };
        let waits_ms = row.waits_ms.filter(|_| !row.is_stopped());
        Ok(AccountPlanView {
            quota: definition.map(|one| one.quota),
            every: definition.map(|one| one.every),
            then: definition.map(|one| one.then),
            rollover: definition.map(|one| one.rollover_cap),
            group: definition.and_then(|one| one.group.clone()),
            plan: Some(row.plan),
            from: row.begun.then(|| timestamp(row.from_ms)),
            until: Some(timestamp(row.until_ms)),
            next: row.next,
            ends: row.ends,
            by_payment: row.by_payment,
            paid_ahead,
            unpaid: row.waits_ms.is_some(),
            waits_until: waits_ms.map(timestamp),
        })
    }

    /// What this period goes by; of one that is yet to begin, the plan as it is now.
    async fn in_force(&self, row: &AccountPlan) -> Result<Option<PlanDefinition>, Refusal> {
        let plans = self.context.store().ledger().plans();
        if row.revision == 0 {
            let seen = self.seen().await?;
            return Ok(seen.find(&row.plan).map(|one| one.definition.clone()));
        }
        let found = plans.revision(&row.plan, row.revision).await;
        let found = found.map_err(unavailable)?;
        Ok(found.and_then(|row| serde_json::from_str(&row.definition).ok()))
    }

    async fn check_group(&self, definition: &PlanDefinition) -> Result<(), Refusal> {
        let Some(group) = &definition.group else {
            return Ok(());
        };
        self.groups.one(group).await.map(|_| ()).map_err(|refusal| {
            if refusal.code == Code::NotFound {
                Refusal::invalid("group", refusal.message)
            } else {
                refusal
            }
        })
    }

    fn act(&self, by: &str, action: &str, definition: &PlanDefinition) -> AuditRow {
        let detail = format!("{} every {}", definition.quota, words(definition));
        self.context.act(by, action, &definition.name, detail)
    }

    /// Writes a revision down; false when something else was changed since it was looked at.
    async fn append(
        &self,
        seen: &SeenPlans,
        draft: RevisionDraft,
        act: AuditRow,
    ) -> Result<bool, Refusal> {
        let change = RevisionChange {
            drafts: vec![draft],
            seen_edition: seen.edition.clone(),
            seen_beside: None,
            edition: act.id.clone(),
            changed_ms: self.context.now_ms(),
            alive_since_ms: self.context.alive_since_ms(),
        };
        let written = self
            .context
            .store()
            .ledger()
            .plans()
            .append(change, Some(act))
            .await;
        match written.map_err(unavailable)? {
            RevisionOutcome::Written(_) => {}
            // Whoever named a revision finds another one at the next look.
            RevisionOutcome::Crossed | RevisionOutcome::Conflict { .. } => return Ok(false),
            RevisionOutcome::InUse { name, users } => {
                let message =
                    format!("{name} is in use by {users} accounts; end it for them first");
                return Err(Refusal::field(Code::Conflict, "name", message));
            }
            RevisionOutcome::OlderNode(node) => return Err(older_node(&node, "knows no plans")),
        }
        crash::point("admin.acted");
        Ok(true)
    }

    /// Everything that is stored, as one change may go by it.
    async fn seen(&self) -> Result<SeenPlans, Refusal> {
        // The edition is read first: what changes in between is noticed when the change is written.
        let store = self.context.store();
        let edition = store.settings().get(PLAN_EDITION).await;
        let edition = edition.map_err(unavailable)?;
        let rows = store
            .ledger()
            .plans()
            .current()
            .await
            .map_err(unavailable)?;
        let there = rows.into_iter().filter(|row| !row.removed);
        let rows = there.filter_map(|row| {
            let (name, revision) = (&row.name, row.revision);
            let unread =
                |error| tracing::warn!(%error, name, revision, "a stored plan cannot be read");
            let definition = serde_json::from_str(&row.definition).map_err(unread).ok()?;
            Some(PlanView {
                definition,
                revision,
                changed_at: timestamp(row.changed_ms),
            })
        });
        Ok(SeenPlans {
            edition,
            rows: rows.collect(),
        })
    }
}

fn words(definition: &PlanDefinition) -> String {
    use atelier_contract::plans::Every;
    match definition.every {
        Every::Month => "month".into(),
        Every::Year => "year".into(),
        Every::Days { days } => format!("{days} days"),
    }
}

fn drafted(definition: PlanDefinition, expected_revision: Option<u32>) -> RevisionDraft {
    RevisionDraft {
        definition: serde_json::to_string(&definition).unwrap_or_default(),
        name: definition.name,
        removed: false,
        expected_revision,
    }
}

fn absent(name: &str) -> Refusal {
    let message = format!("there is no plan {}", name.to_ascii_lowercase());
    Refusal::new(Code::NotFound, message)
}
