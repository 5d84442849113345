//! Fills a database with many jobs at once, past the store. They cost nothing, so that the ledger stays right.

use std::fmt::Write as _;

use crate::rig::{NOW, sql};

/// Jobs to be made.
#[derive(Default)]
pub(crate) struct Fill<'a> {
    /// Whose.
    pub(crate) account_id: &'a str,
    /// What their names begin with.
    pub(crate) name: &'a str,
    /// How many.
    pub(crate) jobs: i64,
    /// 0 for waiting ones, 1 for running ones of `node`, 2 for those that succeeded.
    pub(crate) state: i64,
    /// What they do; imagine when empty.
    pub(crate) operation: &'a str,
    /// Where they may run.
    pub(crate) lane: &'a str,
    /// How long after one another they were made.
    pub(crate) apart_ms: i64,
    /// The host that the results of finished ones are owed to; none when empty.
    pub(crate) host: &'a str,
}

impl Fill<'_> {
    /// Makes them.
    pub(crate) async fn into(self, url: &str) {
        let counters = self.counters();
        let Self {
            account_id,
            name,
            jobs,
            state,
            operation,
            lane,
            apart_ms,
            host,
        } = self;
        let operation = if operation.is_empty() {
            "artgen.imagine"
        } else {
            operation
        };
        let hook = if host.is_empty() {
            "NULL".to_owned()
        } else {
            format!("'https://{host}/hook'")
        };
        let series = format!(
            "WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < {jobs})"
        );
        let padded = "SUBSTR(CAST(100000000 + i AS TEXT), 2)";
        let id = format!("'{name}-' || {padded}");
        let (output, finished) = if state == 2 {
            ("'{}'", NOW.to_string())
        } else {
            ("NULL", "NULL".into())
        };
        let (owner, until) = if state == 1 {
            ("'node'", (NOW + 30_000).to_string())
        } else {
            ("NULL", "NULL".into())
        };
        let rows = if state == 2 { 2 } else { 1 };
        let mut script = format!(
            "{series} INSERT INTO job (id, account_id, operation, queue, state, speed, progress, request, output, price, \
             quota, created_ms, started_ms, finished_ms, deadline_ms, updated_ms, revision, turn_ms, not_before_ms, fence, \
             lease_owner, lease_until_ms, tries, lane, hook_url) SELECT {id}, '{account_id}', '{operation}', 'artgen', {state}, 1, 0, \
             '{{\"prompt\":\"a lighthouse on a cliff at dusk, oil painting, dramatic clouds\"}}', {output}, 0, 0, \
             {NOW} - i * {apart_ms}, NULL, {finished} - i * {apart_ms}, {NOW} + 3000000, {NOW}, 1, {NOW} - i * {apart_ms}, 0, {state}, {owner}, {until}, 0, '{lane}', {hook} FROM n; "
        );
        for (number, kind) in [(1, "hold"), (2, "capture")].into_iter().take(rows) {
            write!(script,
                "{series} INSERT INTO ledger (id, account_id, number, job_id, kind, amount, balance_delta, frozen_delta, \
                 balance_after, frozen_after, reason, time_ms) SELECT '{kind}-' || {id}, account.id, \
                 account.entries + {rows} * (i - 1) + {number}, {id}, '{kind}', 0, 0, 0, account.balance, account.frozen, '', \
                 {NOW} - i * {apart_ms} FROM n, account WHERE account.id = '{account_id}'; "
            ).expect("a text takes everything");
        }
        write!(
            script,
            "UPDATE account SET entries = entries + {} WHERE id = '{account_id}'; ",
            jobs * rows as i64
        )
        .expect("a text takes everything");
        script += &counters;
        sql(url, &script).await.expect("the database is filled");
    }

    /// What changes beside jobs and ledger.
    fn counters(&self) -> String {
        let Self {
            account_id,
            name,
            jobs,
            host,
            ..
        } = self;
        if self.state < 2 {
            return format!(
                "INSERT INTO in_flight (account_id, queue, jobs) VALUES ('{account_id}', 'artgen', {jobs}) \
                 ON CONFLICT (account_id, queue) DO UPDATE SET jobs = in_flight.jobs + {jobs}"
            );
        }
        let owed = if host.is_empty() {
            String::new()
        } else {
            format!(
                "INSERT INTO delivery (id, job_id, account_id, url, host, state, attempts, next_ms, created_ms) \
                 SELECT 'cb_' || id, id, account_id, hook_url, '{host}', 'due', 0, finished_ms, finished_ms FROM job \
                 WHERE id LIKE '{name}-%'"
            )
        };
        format!(
            "INSERT INTO tally SELECT account_id, created_ms / 86400000, operation, state, COUNT(*) FROM job \
             WHERE id LIKE '{name}-%' GROUP BY 1, 2, 3, 4; \
             DELETE FROM tally_total; INSERT INTO tally_total SELECT account_id, operation, state, SUM(jobs), 0 FROM tally \
             GROUP BY 1, 2, 3; \
             INSERT INTO spent SELECT account_id, finished_ms / 3600000, operation, COUNT(*), 0 FROM job \
             WHERE id LIKE '{name}-%' GROUP BY 1, 2, 3; {owed}"
        )
    }
}
