//! Money: what an account has is the sum of its ledger rows, and no row came about by itself.

use super::invariant::{Invariant, RowKind};

pub(super) const ALL: &[Invariant] = &[
    Invariant {
        name: "money.sum",
        what: "balance or frozen amount is not the sum of its ledger rows",
        of: RowKind::Accounts,
        // Every row follows from the one before it, which is asked of the rows: the newest one stands for their sum.
        broken: "NOT (account.entries = 0 AND account.balance = 0 AND account.frozen = 0) \
            AND NOT EXISTS (SELECT 1 FROM ledger WHERE ledger.account_id = account.id \
              AND ledger.number = account.entries AND ledger.balance_after = account.balance \
              AND ledger.frozen_after = account.frozen) \
            AND NOT EXISTS (SELECT 1 FROM ledger_checkpoint c WHERE c.account_id = account.id \
              AND c.number = account.entries AND c.balance = account.balance AND c.frozen = account.frozen)",
        at_work: false,
    },
    Invariant {
        name: "money.counted",
        what: "account has ledger rows that it did not count",
        of: RowKind::Accounts,
        broken: "EXISTS (SELECT 1 FROM ledger WHERE ledger.account_id = account.id \
            AND ledger.number > account.entries)",
        at_work: false,
    },
    Invariant {
        name: "money.frozen",
        what: "frozen amount is not the sum of the open holds",
        of: RowKind::Accounts,
        broken: "account.frozen <> COALESCE((SELECT CAST(SUM(job.price) AS BIGINT) FROM job \
            WHERE job.account_id = account.id AND job.state < 2), 0)",
        at_work: false,
    },
    Invariant {
        name: "money.negative",
        what: "balance or frozen amount is below zero",
        of: RowKind::Accounts,
        broken: "account.balance < 0 OR account.frozen < 0",
        at_work: false,
    },
    Invariant {
        name: "money.follows",
        what: "ledger row does not follow from the one before it",
        of: RowKind::Entries,
        broken: "NOT (ledger.number = 1 AND ledger.balance_after = ledger.balance_delta \
              AND ledger.frozen_after = ledger.frozen_delta) \
            AND NOT EXISTS (SELECT 1 FROM ledger p WHERE p.account_id = ledger.account_id \
              AND p.number = ledger.number - 1 AND p.balance_after + ledger.balance_delta = ledger.balance_after \
              AND p.frozen_after + ledger.frozen_delta = ledger.frozen_after) \
            AND NOT EXISTS (SELECT 1 FROM ledger_checkpoint c WHERE c.account_id = ledger.account_id \
              AND c.number = ledger.number - 1 AND c.balance + ledger.balance_delta = ledger.balance_after \
              AND c.frozen + ledger.frozen_delta = ledger.frozen_after)",
        at_work: false,
    },
    Invariant {
        name: "money.adds_up",
        what: "ledger row moves what its kind does not move",
        of: RowKind::Entries,
        // What leaves one side arrives at the other, so that all movements together are nothing.
        broken: "NOT CASE ledger.kind \
            WHEN 'grant' THEN ledger.balance_delta = ledger.amount AND ledger.frozen_delta = 0 \
            WHEN 'adjust' THEN ledger.balance_delta = ledger.amount AND ledger.frozen_delta = 0 \
            WHEN 'hold' THEN ledger.balance_delta = -ledger.amount AND ledger.frozen_delta = ledger.amount \
            WHEN 'capture' THEN ledger.balance_delta >= 0 AND ledger.amount >= 0 \
              AND ledger.frozen_delta = -ledger.amount - ledger.balance_delta \
            WHEN 'release' THEN ledger.balance_delta = ledger.amount AND ledger.frozen_delta = -ledger.amount \
            ELSE 1 = 0 END",
        at_work: false,
    },
    Invariant {
        name: "money.once",
        what: "ledger row was written twice",
        of: RowKind::Entries,
        // The second of two rows with one identifier carries a mark since identifiers are unique.
        broken: "ledger.id LIKE '%~%'",
        at_work: false,
    },
    Invariant {
        name: "money.archived",
        what: "ledger row is still there though the archive stands for it",
        of: RowKind::Entries,
        broken: "ledger.number <= COALESCE((SELECT c.number FROM ledger_checkpoint c \
            WHERE c.account_id = ledger.account_id), 0)",
        at_work: false,
    },
    Invariant {
        name: "money.checkpoint",
        what: "checkpoint of an account names an archive file that is not known",
        of: RowKind::Checkpoints,
        broken: "NOT EXISTS (SELECT 1 FROM archive_file WHERE archive_file.hash = ledger_checkpoint.hash)",
        at_work: false,
    },
];
