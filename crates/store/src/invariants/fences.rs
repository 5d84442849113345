//! Jobs, leases and attempts: who works on what, and that the end is the end.

use super::invariant::{Invariant, RowKind};

pub(super) const ALL: &[Invariant] = &[
    Invariant {
        name: "fences.lease",
        what: "job is leased though it does not run, or runs without a lease",
        of: RowKind::OpenJobs,
        broken: "(job.state = 1) <> (job.lease_owner IS NOT NULL) \
            OR (job.state = 1 AND (job.lease_until_ms IS NULL OR job.fence < 1)) OR job.handed_back > job.fence",
        at_work: false,
    },
    Invariant {
        name: "fences.attempt",
        what: "job has a live attempt that is not its own",
        of: RowKind::LiveAttempts,
        broken: "NOT EXISTS (SELECT 1 FROM job WHERE job.id = attempt.job_id AND job.state = 1 \
            AND job.attempt_id = attempt.id)",
        at_work: false,
    },
    Invariant {
        name: "fences.final",
        what: "final job is not as its end would have left it",
        of: RowKind::Jobs,
        broken: "(job.state >= 2) <> (job.finished_ms IS NOT NULL) OR (job.state = 2) <> (job.output IS NOT NULL) \
            OR job.quota > job.price OR (job.state <> 2 AND job.quota <> 0) \
            OR (job.state >= 2 AND job.lease_owner IS NOT NULL)",
        at_work: false,
    },
    Invariant {
        name: "fences.overdue",
        what: "job did not end by its deadline",
        of: RowKind::OpenJobs,
        broken: "job.deadline_ms < :now - 10000",
        at_work: true,
    },
    Invariant {
        name: "fences.stale",
        what: "job belongs to a node that has been silent for long, and nobody took it up",
        of: RowKind::OpenJobs,
        broken: "job.state = 1 AND job.lease_until_ms < :now - 60000",
        at_work: true,
    },
    Invariant {
        name: "fences.call",
        what: "remembered call names a job that is not the account's",
        of: RowKind::Calls,
        broken: "NOT EXISTS (SELECT 1 FROM job WHERE job.id = idempotency.job_id \
            AND job.account_id = idempotency.account_id) AND NOT EXISTS (SELECT 1 FROM bulk \
            WHERE bulk.id = idempotency.job_id AND bulk.account_id = idempotency.account_id)",
        at_work: false,
    },
];
