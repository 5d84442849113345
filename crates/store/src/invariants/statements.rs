//! Statements, notices and exports: statements go on where the one before ends and are what the ledger says, as long as its rows are here;
//! what is owed is owed for something; what is noted of files adds up. The bytes of statements are compared in the engine.

use super::invariant::{Invariant, RowKind};

pub(super) const ALL: &[Invariant] = &[
    Invariant {
        name: "statements.follow",
        what: "statement does not go on where the one of the month before ends",
        of: RowKind::Statements,
        broken: "EXISTS (SELECT 1 FROM statement AS before WHERE before.account_id = statement.account_id \
            AND before.month = statement.month - 1 \
            AND (before.last_number <> statement.first_number OR before.closing <> statement.opening))",
        at_work: false,
    },
    Invariant {
        name: "statements.closing",
        what: "statement ends with another balance than the ledger",
        of: RowKind::Statements,
        broken: "EXISTS (SELECT 1 FROM ledger WHERE ledger.account_id = statement.account_id \
            AND ledger.number = statement.last_number AND ledger.balance_after + ledger.frozen_after <> statement.closing)",
        at_work: false,
    },
    Invariant {
        name: "statements.charged",
        what: "statement charges something else than the ledger",
        of: RowKind::Statements,
        broken: "statement.first_number >= COALESCE((SELECT number FROM ledger_checkpoint \
              WHERE ledger_checkpoint.account_id = statement.account_id), 0) \
            AND statement.charged <> COALESCE((SELECT SUM(ledger.amount) FROM ledger WHERE ledger.account_id = statement.account_id \
              AND ledger.number > statement.first_number AND ledger.number <= statement.last_number AND ledger.kind = 'capture'), 0)",
        at_work: false,
    },
    Invariant {
        name: "notices.owed",
        what: "something is owed for a notice that is not there, or is another account's",
        of: RowKind::NoticeDeliveries,
        broken: "NOT EXISTS (SELECT 1 FROM notice WHERE notice.id = notice_delivery.notice_id AND notice.spread_ms IS NOT NULL \
            AND notice.account_id = notice_delivery.account_id)",
        at_work: false,
    },
    Invariant {
        name: "notices.tries",
        what: "notice has tries that it did not make, or arrived without saying when",
        of: RowKind::NoticeDeliveries,
        broken: "(notice_delivery.state = 'delivered') <> (notice_delivery.delivered_ms IS NOT NULL) \
            OR notice_delivery.failures > notice_delivery.attempts",
        at_work: false,
    },
    Invariant {
        name: "notices.stuck",
        what: "notice has been on its way for long, and nobody tries it again",
        of: RowKind::NoticeDeliveries,
        broken: "notice_delivery.state = 'sending' AND notice_delivery.next_ms < :now - 60000",
        at_work: true,
    },
    Invariant {
        name: "exports.parts",
        what: "export has other files than are noted of it",
        of: RowKind::ExportRuns,
        broken: "export_run.parts <> (SELECT COUNT(*) FROM export_part WHERE export_part.day = export_run.day \
              AND export_part.kind = export_run.kind) \
            OR export_run.entries <> COALESCE((SELECT SUM(export_part.entries) FROM export_part WHERE export_part.day = export_run.day \
              AND export_part.kind = export_run.kind), 0)",
        at_work: false,
    },
];
