//! Counters: what is added up beside the rows is what counting them would give.

use super::invariant::{Invariant, RowKind};

pub(super) const ALL: &[Invariant] = &[
    Invariant {
        name: "counters.open",
        what: "counter of unfinished jobs is wrong",
        of: RowKind::Queues,
        broken: "in_flight.jobs <> (SELECT COUNT(*) FROM job WHERE job.account_id = in_flight.account_id \
            AND job.state < 2 AND job.queue = in_flight.queue)",
        at_work: false,
    },
    Invariant {
        name: "counters.open_missing",
        what: "counter of unfinished jobs is missing",
        of: RowKind::OpenJobs,
        broken: "NOT EXISTS (SELECT 1 FROM in_flight WHERE in_flight.account_id = job.account_id \
            AND in_flight.queue = job.queue)",
        at_work: false,
    },
    Invariant {
        name: "counters.words",
        what: "counter of the bytes of words is wrong",
        of: RowKind::Histories,
        broken: "account.words <> (SELECT COALESCE(SUM(job.request_bytes), 0) FROM job WHERE job.account_id = account.id \
              AND job.deleted_ms IS NULL) \
            + (SELECT COALESCE(SUM(bulk.bytes), 0) FROM bulk WHERE bulk.account_id = account.id)",
        at_work: false,
    },
    Invariant {
        name: "counters.finished",
        what: "counter of finished jobs is wrong",
        of: RowKind::Tallies,
        broken: "tally.jobs <> (SELECT COUNT(*) FROM job WHERE job.account_id = tally.account_id \
            AND job.created_ms >= tally.day * 86400000 AND job.created_ms < (tally.day + 1) * 86400000 \
            AND job.operation = tally.operation AND job.state = tally.state AND job.deleted_ms IS NULL)",
        at_work: false,
    },
    Invariant {
        name: "counters.finished_missing",
        what: "counter of finished jobs is missing",
        of: RowKind::Jobs,
        broken: "job.state >= 2 AND job.deleted_ms IS NULL AND NOT EXISTS (SELECT 1 FROM tally WHERE tally.account_id = job.account_id \
            AND tally.day = job.created_ms / 86400000 AND tally.operation = job.operation AND tally.state = job.state)",
        at_work: false,
    },
    Invariant {
        name: "counters.finished_in_all",
        what: "counter of all finished jobs is not the sum of its days",
        of: RowKind::Totals,
        broken: "tally_total.jobs <> (SELECT COALESCE(SUM(tally.jobs), 0) FROM tally \
            WHERE tally.account_id = tally_total.account_id AND tally.operation = tally_total.operation \
            AND tally.state = tally_total.state)",
        at_work: false,
    },
    Invariant {
        name: "counters.finished_in_all_missing",
        what: "counter of all finished jobs is missing",
        of: RowKind::Tallies,
        broken: "tally.jobs > 0 AND NOT EXISTS (SELECT 1 FROM tally_total WHERE tally_total.account_id = tally.account_id \
            AND tally_total.operation = tally.operation AND tally_total.state = tally.state)",
        at_work: false,
    },
    Invariant {
        name: "counters.used",
        what: "usage is not the sum of what jobs were charged",
        of: RowKind::Hours,
        // Usage outlives the jobs that were moved to the archive: of their hours it is at least what is left.
        broken: "(spent.jobs, spent.quota) <> (SELECT COUNT(*), CAST(COALESCE(SUM(job.quota), 0) AS BIGINT) FROM job \
              WHERE job.account_id = spent.account_id AND job.state = 2 AND job.finished_ms >= spent.hour * 3600000 \
              AND job.finished_ms < (spent.hour + 1) * 3600000 AND job.operation = spent.operation) \
            AND (spent.hour * 3600000 >= COALESCE((SELECT MAX(before_ms) FROM archive_file), 0) \
              OR spent.jobs < (SELECT COUNT(*) FROM job WHERE job.account_id = spent.account_id AND job.state = 2 \
                AND job.finished_ms >= spent.hour * 3600000 AND job.finished_ms < (spent.hour + 1) * 3600000 \
                AND job.operation = spent.operation))",
        at_work: false,
    },
    Invariant {
        name: "counters.used_missing",
        what: "usage of a job that was charged is missing",
        of: RowKind::Jobs,
        broken: "job.state = 2 AND NOT EXISTS (SELECT 1 FROM spent WHERE spent.account_id = job.account_id \
            AND spent.hour = job.finished_ms / 3600000 AND spent.operation = job.operation)",
        at_work: false,
    },
];
