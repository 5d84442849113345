//! The auditor: looks for anything in the books that could not have come about by the rules.

use crate::{Result, Store};

/// What is wrong, and a query that names whatever it is wrong with.
const CHECKS: &[(&str, &str)] = &[
    (
        "balance or frozen amount is not the sum of its ledger rows",
        "SELECT account.id FROM account LEFT JOIN (SELECT account_id, SUM(balance_delta) AS balance, \
         SUM(frozen_delta) AS frozen, COUNT(*) AS entries FROM ledger GROUP BY account_id) l \
         ON l.account_id = account.id WHERE account.balance <> COALESCE(l.balance, 0) \
         OR account.frozen <> COALESCE(l.frozen, 0) OR account.entries <> COALESCE(l.entries, 0)",
    ),
    (
        "frozen amount is not the sum of the open holds",
        "SELECT account.id FROM account LEFT JOIN (SELECT account_id, SUM(price) AS held FROM job \
         WHERE state < 2 GROUP BY account_id) j ON j.account_id = account.id \
         WHERE account.frozen <> COALESCE(j.held, 0)",
    ),
    (
        "ledger row does not follow from the one before it",
        "SELECT a.id FROM ledger a LEFT JOIN ledger b ON b.account_id = a.account_id \
         AND b.number = a.number - 1 WHERE a.balance_after <> COALESCE(b.balance_after, 0) + a.balance_delta \
         OR a.frozen_after <> COALESCE(b.frozen_after, 0) + a.frozen_delta \
         OR (b.id IS NULL AND a.number <> 1)",
    ),
    (
        // The second of two rows with one identifier carries a mark since identifiers are unique.
        "ledger row was written twice",
        "SELECT id FROM ledger GROUP BY id HAVING COUNT(*) > 1 OR id LIKE '%~%'",
    ),
    (
        "job has no hold of its price",
        "SELECT job.id FROM job LEFT JOIN ledger ON ledger.job_id = job.id AND ledger.kind = 'hold' \
         WHERE ledger.id IS NULL OR ledger.amount <> job.price OR ledger.account_id <> job.account_id",
    ),
    (
        "final job has not resolved its hold as it should",
        "SELECT job.id FROM job LEFT JOIN ledger ON ledger.job_id = job.id \
         AND ledger.kind IN ('capture', 'release') WHERE job.state >= 2 AND (ledger.id IS NULL \
         OR ledger.kind <> CASE job.state WHEN 2 THEN 'capture' ELSE 'release' END \
         OR ledger.amount <> CASE job.state WHEN 2 THEN job.quota ELSE job.price END \
         OR ledger.frozen_delta <> -job.price OR ledger.account_id <> job.account_id)",
    ),
    (
        "hold is resolved though the job is unfinished",
        "SELECT job.id FROM job JOIN ledger ON ledger.job_id = job.id \
         AND ledger.kind IN ('capture', 'release') WHERE job.state < 2",
    ),
    (
        "counter of unfinished jobs is wrong",
        "SELECT account_id FROM (SELECT account_id, queue, SUM(jobs) AS jobs FROM \
         (SELECT account_id, queue, jobs FROM in_flight UNION ALL \
         SELECT account_id, queue, -COUNT(*) FROM job WHERE state < 2 GROUP BY account_id, queue) u \
         GROUP BY account_id, queue) w WHERE jobs <> 0",
    ),
    (
        "counter of finished jobs is wrong",
        "SELECT account_id FROM (SELECT account_id, day, operation, state, SUM(jobs) AS jobs FROM \
         (SELECT account_id, day, operation, state, jobs FROM tally UNION ALL \
         SELECT account_id, created_ms / 86400000, operation, state, -COUNT(*) FROM job WHERE state >= 2 \
         GROUP BY 1, 2, 3, 4) u GROUP BY account_id, day, operation, state) w WHERE jobs <> 0",
    ),
    (
        "usage is not the sum of what jobs were charged",
        "SELECT account_id FROM (SELECT account_id, hour, operation, SUM(jobs) AS jobs, SUM(quota) AS quota FROM \
         (SELECT account_id, hour, operation, jobs, quota FROM spent UNION ALL \
         SELECT account_id, finished_ms / 3600000, operation, -COUNT(*), -SUM(quota) FROM job WHERE state = 2 \
         GROUP BY 1, 2, 3) u GROUP BY account_id, hour, operation) w WHERE jobs <> 0 OR quota <> 0",
    ),
    (
        "final job owes a delivery that was never recorded",
        "SELECT job.id FROM job LEFT JOIN delivery ON delivery.job_id = job.id \
         WHERE job.state >= 2 AND job.hook_url IS NOT NULL AND delivery.id IS NULL",
    ),
    (
        "delivery of a job that is unfinished or has no address",
        "SELECT delivery.id FROM delivery JOIN job ON job.id = delivery.job_id \
         WHERE job.state < 2 OR job.hook_url IS NULL",
    ),
    (
        "final job has a live attempt",
        "SELECT job.id FROM attempt JOIN job ON job.id = attempt.job_id \
         WHERE job.state >= 2 AND attempt.ended_ms IS NULL",
    ),
    (
        "remembered call names a job that is not the account's",
        "SELECT idempotency.job_id FROM idempotency LEFT JOIN job ON job.id = idempotency.job_id \
         AND job.account_id = idempotency.account_id WHERE job.id IS NULL",
    ),
];

impl Store {
    /// Every broken invariant of the books in words, as of one moment; empty when all is well.
    pub async fn check_books(&self) -> Result<Vec<String>> {
        let statements: Vec<&str> = CHECKS.iter().map(|(_, sql)| *sql).collect();
        let answers = self.db().snapshot(&statements).await?;
        let found = CHECKS.iter().zip(answers).flat_map(|((what, _), names)| {
            names.into_iter().map(move |name| format!("{what}: {name}"))
        });
        Ok(found.collect())
    }
}
