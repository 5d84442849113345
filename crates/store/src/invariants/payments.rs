//! Payments: what was paid gave what it says, once, what is taken back is what of the money went back, and what an account owes is in
//! its ledger.

use super::invariant::{Invariant, RowKind};

pub(super) const ALL: &[Invariant] = &[
    Invariant {
        name: "payments.granted",
        what: "payment was made and gave nothing, or something else",
        of: RowKind::Payments,
        // What a plan gives is asked of its periods. The row may have gone to the archive.
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
        broken: "(payment.taken > 0 AND payment.refunded + payment.disputed = 0) \
            OR (payment.plan_key IS NULL AND payment.paid_ms IS NOT NULL \
              AND payment.refunded + payment.disputed >= payment.money AND payment.taken <> payment.quota)",
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
        name: "payments.product",
        what: "revision of a product does not follow from the one before it",
        of: RowKind::Products,
        broken: "product.name_key <> {lower:product.name} OR (product.revision <> 1 AND NOT EXISTS (SELECT 1 FROM product AS earlier \
            WHERE earlier.name_key = product.name_key AND earlier.revision = product.revision - 1))",
        at_work: false,
    },
];
