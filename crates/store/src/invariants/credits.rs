//! Credits: each adds up, what jobs hold of it is in the parts of their holds, and together they are never more than their account has.

use super::invariant::{Invariant, RowKind};

/// A sum over the open credits of an account.
macro_rules! open_credits {
    ($sum:literal) => {
        concat!(
            "COALESCE((SELECT CAST(",
            $sum,
            " AS BIGINT) FROM credit WHERE credit.account_id = account.id AND (credit.ended_ms IS NULL OR credit.held > 0)), 0)"
        )
    };
}

/// What has lapsed of an account's credits, less the rows that say so.
macro_rules! lapsed_less_booked {
    () => {
        "(COALESCE((SELECT CAST(SUM(own.lapsed) AS BIGINT) FROM credit AS own WHERE own.account_id = credit.account_id), 0) \
            + COALESCE((SELECT CAST(SUM(ledger.amount) AS BIGINT) FROM ledger WHERE ledger.account_id = credit.account_id \
              AND ledger.cause = 'expire'), 0))"
    };
}

pub(super) const ALL: &[Invariant] = &[
    Invariant {
        name: "credits.base",
        what: "credits of an account are more than it has, or hold more than it does",
        of: RowKind::Accounts,
        broken: concat!(
            "COALESCE(account.credits, 0) > 0 AND (account.balance < ",
            open_credits!("SUM(credit.remaining)"),
            " OR account.frozen < ",
            open_credits!("SUM(credit.held)"),
            ")"
        ),
        at_work: false,
    },
    Invariant {
        name: "credits.open",
        what: "counter of the open credits of an account is wrong",
        of: RowKind::Accounts,
        broken: concat!(
            "COALESCE(account.credits, 0) <> ",
            open_credits!("COUNT(*)")
        ),
        at_work: false,
    },
    Invariant {
        name: "credits.adds_up",
        what: "a credit is not what is left, held, spent and lapsed of it",
        of: RowKind::Credits,
        broken: "credit.amount <> credit.remaining + credit.held + credit.spent + credit.lapsed \
            OR credit.remaining < 0 OR credit.held < 0 OR credit.spent < 0 OR credit.lapsed < 0",
        at_work: false,
    },
    Invariant {
        name: "credits.ended",
        what: "something is left of a credit that has ended",
        of: RowKind::Credits,
        broken: "credit.ended_ms IS NOT NULL AND credit.remaining <> 0",
        at_work: false,
    },
    Invariant {
        name: "credits.held",
        what: "what is held of a credit is not in the parts of holds",
        of: RowKind::Credits,
        broken: "credit.held <> COALESCE((SELECT CAST(SUM(hold_part.amount) AS BIGINT) FROM hold_part \
            WHERE hold_part.credit_id = credit.id), 0)",
        at_work: false,
    },
    Invariant {
        name: "credits.granted",
        what: "credit was not granted by a row of the ledger",
        of: RowKind::Credits,
        // The row may have gone to the archive.
        broken: "NOT EXISTS (SELECT 1 FROM ledger WHERE ledger.id = credit.id AND ledger.account_id = credit.account_id \
              AND ledger.kind = 'grant' AND ledger.amount = credit.amount) \
            AND (EXISTS (SELECT 1 FROM ledger WHERE ledger.id = credit.id) \
              OR NOT EXISTS (SELECT 1 FROM ledger_checkpoint c WHERE c.account_id = credit.account_id \
                AND c.before_ms > credit.created_ms))",
        at_work: false,
    },
    Invariant {
        name: "credits.lapsed",
        what: "what lapsed of an account's credits is not in its ledger",
        of: RowKind::Credits,
        // Asked once for each account, of its first credit. What an operator or a refund took away has no row of its own: it may
        // have been of the base.
        broken: concat!(
            "NOT EXISTS (SELECT 1 FROM credit AS other WHERE other.account_id = credit.account_id AND other.id < credit.id) \
                AND NOT EXISTS (SELECT 1 FROM ledger_checkpoint c WHERE c.account_id = credit.account_id) AND (",
            lapsed_less_booked!(),
            " < 0 OR ",
            lapsed_less_booked!(),
            " > -COALESCE((SELECT CAST(SUM(ledger.amount) AS BIGINT) FROM ledger WHERE ledger.account_id = credit.account_id \
                AND ledger.kind = 'adjust' AND COALESCE(ledger.cause, '') <> 'expire' AND ledger.amount < 0), 0))"
        ),
        at_work: false,
    },
    Invariant {
        name: "credits.beside",
        what: "there is a credit, and programs that know of none may start",
        of: RowKind::Credits,
        broken: "EXISTS (SELECT 1 FROM schema_version WHERE schema_version.name = '0054_credits' AND schema_version.widens <> 0)",
        at_work: false,
    },
    Invariant {
        name: "credits.part",
        what: "part of a hold is not of an unfinished job and a credit of one account",
        of: RowKind::HoldParts,
        broken: "NOT EXISTS (SELECT 1 FROM job WHERE job.id = hold_part.job_id AND job.account_id = hold_part.account_id AND job.state < 2) \
            OR NOT EXISTS (SELECT 1 FROM credit WHERE credit.id = hold_part.credit_id AND credit.account_id = hold_part.account_id)",
        at_work: false,
    },
    Invariant {
        name: "credits.hold",
        what: "parts of a hold are more than the price of its job",
        of: RowKind::HoldParts,
        broken: "(SELECT CAST(SUM(other.amount) AS BIGINT) FROM hold_part AS other WHERE other.job_id = hold_part.job_id) \
            > (SELECT job.price FROM job WHERE job.id = hold_part.job_id)",
        at_work: false,
    },
];
