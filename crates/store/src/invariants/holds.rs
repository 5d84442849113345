//! Holds: a job has one of its price, and it resolves once, as the job ends.

use super::invariant::{Invariant, RowKind};

pub(super) const ALL: &[Invariant] = &[
    Invariant {
        name: "holds.price",
        what: "job has no hold of its price",
        of: RowKind::Jobs,
        // The hold of a job that was at work when the archive was made may have gone there before it.
        broken: "NOT EXISTS (SELECT 1 FROM ledger WHERE ledger.job_id = job.id AND ledger.kind = 'hold' \
            AND ledger.amount = job.price AND ledger.account_id = job.account_id) \
            AND NOT (EXISTS (SELECT 1 FROM ledger_checkpoint c WHERE c.account_id = job.account_id \
                AND c.before_ms > job.created_ms) \
              AND NOT EXISTS (SELECT 1 FROM ledger WHERE ledger.job_id = job.id AND ledger.kind = 'hold'))",
        at_work: false,
    },
    Invariant {
        name: "holds.resolved",
        what: "final job has not resolved its hold as it should",
        of: RowKind::Jobs,
        broken: "job.state >= 2 AND NOT EXISTS (SELECT 1 FROM ledger WHERE ledger.job_id = job.id \
            AND ledger.kind IN ('capture', 'release') \
            AND ledger.kind = CASE job.state WHEN 2 THEN 'capture' ELSE 'release' END \
            AND ledger.amount = CASE job.state WHEN 2 THEN job.quota ELSE job.price END \
            AND ledger.frozen_delta = -job.price AND ledger.account_id = job.account_id)",
        at_work: false,
    },
    Invariant {
        name: "holds.open",
        what: "hold is resolved though the job is unfinished",
        of: RowKind::OpenJobs,
        broken: "EXISTS (SELECT 1 FROM ledger WHERE ledger.job_id = job.id \
            AND ledger.kind IN ('capture', 'release'))",
        at_work: false,
    },
    Invariant {
        name: "holds.owner",
        what: "ledger row is about a job that is not the account's",
        of: RowKind::Entries,
        broken: "ledger.job_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM job WHERE job.id = ledger.job_id \
            AND job.account_id = ledger.account_id)",
        at_work: false,
    },
];
