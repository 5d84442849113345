//! Keys: what they hold and have spent in a window is what their jobs do, and none is wider than the rows say.

use super::invariant::{Invariant, RowKind};

/// The jobs of a window's key and of those below it that count in the window.
macro_rules! counted_jobs {
    ($sum:literal, $which:literal) => {
        concat!(
            "(SELECT CAST(COALESCE(",
            $sum,
            ", 0) AS BIGINT) FROM job WHERE job.account_id = key_window.account_id AND ",
            $which,
            " AND (job.key_id = key_window.key_id OR ' ' || job.key_above || ' ' LIKE '% ' || key_window.key_id || ' %') \
              AND COALESCE(job.counted_ms, job.created_ms) >= key_window.from_ms \
              AND COALESCE(job.counted_ms, job.created_ms) < key_window.until_ms)"
        )
    };
}

pub(super) const ALL: &[Invariant] = &[
    Invariant {
        name: "keys.held",
        what: "what a key holds in a window is not the sum of its unfinished jobs",
        of: RowKind::KeyWindows,
        broken: concat!(
            "key_window.span NOT LIKE 'queue:%' AND key_window.held <> ",
            counted_jobs!("SUM(job.price)", "job.state < 2")
        ),
        at_work: false,
    },
    Invariant {
        name: "keys.spent",
        what: "what a key has spent in a window is not the sum of its jobs",
        of: RowKind::KeyWindows,
        // What was spent outlives the jobs that were moved to the archive: it is at least what is left of them.
        broken: concat!(
            "key_window.span NOT LIKE 'queue:%' AND key_window.spent <> ",
            counted_jobs!("SUM(job.quota)", "job.state = 2"),
            " AND (key_window.from_ms >= COALESCE((SELECT MAX(before_ms) FROM archive_file), 0) OR key_window.spent < ",
            counted_jobs!("SUM(job.quota)", "job.state = 2"),
            ")"
        ),
        at_work: false,
    },
    Invariant {
        name: "keys.open",
        what: "counter of the unfinished jobs of a key is wrong",
        of: RowKind::KeyWindows,
        broken: concat!(
            "key_window.open <> ",
            counted_jobs!(
                "COUNT(*)",
                "job.state < 2 AND (key_window.span NOT LIKE 'queue:%' OR key_window.span = 'queue:' || job.queue)"
            )
        ),
        at_work: false,
    },
    Invariant {
        name: "keys.window",
        what: "a key counts in a window that it has no limit for, or whose account does not count",
        of: RowKind::KeyWindows,
        broken: "NOT EXISTS (SELECT 1 FROM api_key JOIN account ON account.id = api_key.account_id \
            WHERE api_key.id = key_window.key_id AND api_key.account_id = key_window.account_id AND account.counting_keys > 0 \
            AND CASE WHEN key_window.span LIKE 'queue:%' THEN api_key.max_queue IS NOT NULL \
              ELSE api_key.limits LIKE '%' || key_window.span || '=%' END)",
        at_work: false,
    },
    Invariant {
        name: "keys.held_at_most",
        what: "a key holds more in a window than its account does",
        of: RowKind::Accounts,
        broken: "COALESCE(account.counting_keys, 0) > 0 AND EXISTS (SELECT 1 FROM key_window \
            WHERE key_window.account_id = account.id AND key_window.held > account.frozen)",
        at_work: false,
    },
    Invariant {
        name: "keys.beside",
        what: "a key has limits, and programs that know of none may start",
        of: RowKind::KeyWindows,
        broken: "EXISTS (SELECT 1 FROM schema_version WHERE schema_version.name = '0044_keys' AND schema_version.widens <> 0)",
        at_work: false,
    },
    Invariant {
        name: "keys.used",
        what: "usage by key is more than what was used in the hour",
        of: RowKind::Hours,
        broken: "spent.quota < (SELECT CAST(COALESCE(SUM(used.quota), 0) AS BIGINT) FROM used WHERE used.account_id = spent.account_id \
            AND used.hour = spent.hour AND used.operation = spent.operation)",
        at_work: false,
    },
];
