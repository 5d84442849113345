//! Plans: every period gave what it says, once, and what plans gave is theirs as long as there is one.

use super::invariant::{Invariant, RowKind};

pub(super) const ALL: &[Invariant] = &[
    Invariant {
        name: "plans.granted",
        what: "period of a plan gave nothing, or something else",
        of: RowKind::PlanPeriods,
        broken: "plan_period.quota > 0 AND NOT EXISTS (SELECT 1 FROM credit WHERE credit.id = plan_period.ledger_id \
            AND credit.account_id = plan_period.account_id AND credit.source = 'plan' AND credit.amount = plan_period.quota)",
        at_work: false,
    },
    Invariant {
        name: "plans.given",
        what: "a plan gave a credit, and it is not of one of its periods",
        of: RowKind::Credits,
        // What went over from many credits was granted anew in one, beside what the period gave.
        broken: "credit.source = 'plan' AND NOT EXISTS (SELECT 1 FROM plan_period WHERE plan_period.account_id = credit.account_id \
            AND (plan_period.ledger_id = credit.id OR plan_period.ledger_id || '_anew' = credit.id))",
        at_work: false,
    },
    Invariant {
        name: "plans.period",
        what: "account is in a period of its plan that was not written down",
        of: RowKind::Accounts,
        broken: "EXISTS (SELECT 1 FROM account_plan WHERE account_plan.account_id = account.id AND account_plan.begun = 1 \
            AND NOT EXISTS (SELECT 1 FROM plan_period WHERE plan_period.account_id = account_plan.account_id \
              AND plan_period.from_ms = account_plan.from_ms))",
        at_work: false,
    },
    Invariant {
        name: "plans.stays",
        what: "a plan is to end a credit, and the account has none",
        of: RowKind::Credits,
        broken: "credit.stays = 1 AND credit.ended_ms IS NULL AND NOT EXISTS (SELECT 1 FROM account_plan \
            WHERE account_plan.account_id = credit.account_id)",
        at_work: false,
    },
    Invariant {
        name: "plans.there",
        what: "account has a plan that is not there",
        of: RowKind::Accounts,
        broken: "EXISTS (SELECT 1 FROM account_plan WHERE account_plan.account_id = account.id \
            AND COALESCE((SELECT plan.removed FROM plan WHERE plan.name_key = account_plan.plan_key \
              ORDER BY plan.revision DESC LIMIT 1), TRUE))",
        at_work: false,
    },
    Invariant {
        name: "plans.follows",
        what: "revision of a plan does not follow from the one before it",
        of: RowKind::Plans,
        broken: "plan.name_key <> {lower:plan.name} OR (plan.revision <> 1 AND NOT EXISTS (SELECT 1 FROM plan AS earlier \
            WHERE earlier.name_key = plan.name_key AND earlier.revision = plan.revision - 1))",
        at_work: false,
    },
    Invariant {
        name: "plans.beside",
        what: "there is a plan, and programs that know of none may start",
        of: RowKind::Plans,
        broken: "EXISTS (SELECT 1 FROM schema_version WHERE schema_version.name = '0056_plans' AND schema_version.widens <> 0)",
        at_work: false,
    },
];
