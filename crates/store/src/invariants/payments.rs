//! Payments: each gave what it says, once, what is taken back is what of the money went back, and what an account owes is in its ledger.

use super::invariant::{Invariant, RowKind};

pub(super) const ALL: &[Invariant] = &[
    Invariant {
        name: "payments.granted",
        what: "payment was made and gave nothing, or something else",
        of: RowKind::Payments,
        // A period of a plan is checked below. The row may have gone to the archive.
        broken: "payment.paid_ms IS NOT NULL AND payment.plan_key IS NULL \
            AND NOT EXISTS (SELECT 1 FROM ledger WHERE ledger.id = payment.ledger_id AND ledger.account_id = payment.account_id \
              AND ledger.kind = 'grant' AND ledger.amount = payment.quota) \
            AND (EXISTS (SELECT 1 FROM ledger WHERE ledger.id = payment.ledger_id) \
              OR NOT EXISTS (SELECT 1 FROM ledger_checkpoint c WHERE c.account_id = payment.account_id \
                AND c.before_ms > payment.paid_ms))",
        at_work: false,
    },
    Invariant {
        name: "payments.credit",
        what: "payment gave quota that ends, and there is no such credit",
        of: RowKind::Payments,
        broken: "payment.paid_ms IS NOT NULL AND payment.plan_key IS NULL AND payment.credit_days IS NOT NULL \
            AND NOT EXISTS (SELECT 1 FROM credit WHERE credit.id = payment.ledger_id \
              AND credit.account_id = payment.account_id AND credit.source = 'payment')",
        at_work: false,
    },
    Invariant {
        name: "payments.told",
        what: "payment was made, and no event says so",
        of: RowKind::Payments,
        broken: "payment.paid_ms IS NOT NULL AND NOT EXISTS (SELECT 1 FROM payment_event \
            WHERE payment_event.payment_id = payment.id AND payment_event.outcome = 'applied' \
              AND payment_event.kind IN ('paid', 'renewed'))",
        at_work: false,
    },
    Invariant {
        name: "payments.taken",
        what: "what was taken back of a payment is not what of its money went back",
        of: RowKind::Payments,
        // Without larger numbers than a database has: such amounts are left out. A period that has not begun has given nothing.
        broken: "payment.taken_credit > payment.taken OR (payment.ledger_id IS NULL AND payment.taken > 0) \
            OR (payment.ledger_id IS NOT NULL AND payment.money <= 3000000000 AND payment.taken <> \
              (payment.quota / payment.money) * (CASE WHEN payment.refunded + payment.disputed > payment.money THEN payment.money \
                ELSE payment.refunded + payment.disputed END) \
              + ((payment.quota % payment.money) * (CASE WHEN payment.refunded + payment.disputed > payment.money THEN payment.money \
                ELSE payment.refunded + payment.disputed END)) / payment.money)",
        at_work: false,
    },
    Invariant {
        name: "payments.period",
        what: "payment for a plan gave something that is no period of its plan",
        of: RowKind::Payments,
        broken: "payment.plan_key IS NOT NULL AND payment.ledger_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM plan_period \
            WHERE plan_period.account_id = payment.account_id AND plan_period.ledger_id = payment.ledger_id \
              AND plan_period.plan_key = payment.plan_key AND plan_period.revision = payment.plan_revision \
              AND plan_period.quota = payment.quota)",
        at_work: false,
    },
    Invariant {
        name: "payments.refund",
        what: "refund was made, and no event says so",
        of: RowKind::Payments,
        broken: "EXISTS (SELECT 1 FROM refund WHERE refund.payment_id = payment.id AND refund.state = 'done' \
            AND NOT EXISTS (SELECT 1 FROM payment_event WHERE payment_event.provider = payment.provider \
              AND payment_event.event_id = refund.id AND payment_event.payment_id = payment.id))",
        at_work: false,
    },
    Invariant {
        name: "payments.state",
        what: "state of a payment is not what became of its money",
        of: RowKind::Payments,
        broken: "(payment.state = 'refunded' AND payment.refunded + payment.disputed < payment.money) \
            OR (payment.state = 'paid' AND payment.refunded + payment.disputed >= payment.money)",
        at_work: false,
    },
    Invariant {
        name: "payments.beside",
        what: "there is a payment, and programs that know of none may start",
        of: RowKind::Payments,
        broken: "EXISTS (SELECT 1 FROM schema_version WHERE schema_version.name = '0057_payments' AND schema_version.widens <> 0)",
        at_work: false,
    },
    Invariant {
        name: "payments.debt",
        what: "what an account owes is not the sum of what was lent and paid",
        of: RowKind::Histories,
        broken: "COALESCE(account.debt, 0) < 0 OR COALESCE(account.debt, 0) <> \
            COALESCE((SELECT c.debt FROM ledger_checkpoint c WHERE c.account_id = account.id), 0) \
            + COALESCE((SELECT CAST(SUM(ledger.amount) AS BIGINT) FROM ledger WHERE ledger.account_id = account.id \
              AND ledger.cause = 'debt'), 0)",
        at_work: false,
    },
    Invariant {
        name: "payments.limit",
        what: "account may owe for work, and programs that know of no such limit may start",
        of: RowKind::Histories,
        broken: "COALESCE(account.credit_limit, 0) > 0 AND EXISTS (SELECT 1 FROM schema_version \
            WHERE schema_version.name = '0058_credit_limits' AND schema_version.widens <> 0)",
        at_work: false,
    },
    Invariant {
        name: "payments.product",
        what: "revision of a product does not follow from the one before it",
        of: RowKind::Products,
        broken: "product.name_key <> {lower:product.name} OR (product.revision <> 1 AND NOT EXISTS (SELECT 1 FROM product AS earlier \
            WHERE earlier.name_key = product.name_key AND earlier.revision = product.revision - 1))",
        at_work: false,
    },
];
