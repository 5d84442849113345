//! Leases: who runs a job. They stand by time and fence, never by an open transaction.

use atelier_contract::Speed;
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde::Serialize;

use crate::Result;
use crate::db::{Conn, args, json};
use crate::dialect::Dialect;
use crate::jobs::queue::Queue;
use crate::jobs::row::{JOB_COLUMNS, JobRow};
use crate::jobs::short_work::{self, YieldRule};

/// A wish for work.
#[derive(Clone, Debug)]
pub struct LeaseRequest {
    /// The node that holds it.
    pub owner: String,
    pub until_ms: i64,
    /// The service's own time.
    pub now_ms: i64,
    /// How far the time that is shown is ahead of it.
    pub ahead_ms: i64,
    /// Only these, each once; see [`work_kind`].
    pub kinds: Vec<String>,
    /// And these, as far as they need not give way to short work of the same account.
    pub narrow: Vec<YieldRule>,
    /// At most so many.
    pub limit: i64,
}

/// A kind of work that a [`LeaseRequest`] asks for: operation, number of the speed and lane, with a space between.
pub fn work_kind(operation: &str, speed: Speed, lane: &str) -> String {
    format!("{operation} {} {lane}", speed as i64)
}

/// What a kind of work stands for.
pub fn read_work_kind(kind: &str) -> Option<(&str, Speed, &str)> {
    let (operation, rest) = kind.split_once(' ')?;
    let (speed, lane) = rest.split_once(' ')?;
    Some((operation, Speed::from_number(speed.parse().ok()?), lane))
}

/// Leases renewed in one commit, so that none is long.
const RENEWED_AT_ONCE: usize = 500;
/// More are looked at than are taken, because other nodes may be taking the same.
const LOOKED_AT: i64 = 2;

/// Which kinds of work have waiting jobs: from one to the next by the index, however many jobs each has. The state is asked for
/// in the words of that index, which is the only one of any use.
const WAITING: &str = "WITH RECURSIVE waiting (found) AS ( \
       SELECT first.key FROM (SELECT operation || ' ' || CAST(speed AS TEXT) || ' ' || lane AS key FROM job \
         WHERE state < 1 ORDER BY operation || ' ' || CAST(speed AS TEXT) || ' ' || lane LIMIT 1) AS first \
     UNION ALL \
       SELECT (SELECT operation || ' ' || CAST(speed AS TEXT) || ' ' || lane FROM job \
         WHERE state < 1 AND operation || ' ' || CAST(speed AS TEXT) || ' ' || lane > waiting.found \
         ORDER BY operation || ' ' || CAST(speed AS TEXT) || ' ' || lane LIMIT 1) \
       FROM waiting WHERE waiting.found IS NOT NULL) \
     SELECT found FROM waiting WHERE found IS NOT NULL";

/// Of each kind those whose turn comes first, then those of all kinds.
const CHOOSE_SQLITE: &str = "SELECT job.id FROM json_each($1) AS v, json_each((SELECT json_group_array(id) \
       FROM (SELECT id FROM job WHERE state < 1 \
         AND operation || ' ' || CAST(speed AS TEXT) || ' ' || lane = v.value \
         AND not_before_ms <= $2 AND deadline_ms > $2 ORDER BY turn_ms, id LIMIT $3))) AS j \
     JOIN job ON job.id = j.value ORDER BY job.turn_ms, job.id LIMIT $3";
const CHOOSE_POSTGRES: &str = "SELECT j.id FROM (SELECT json_array_elements_text($1::json) AS kind) AS v \
     CROSS JOIN LATERAL (SELECT id, turn_ms FROM job WHERE state < 1 \
       AND operation || ' ' || CAST(speed AS TEXT) || ' ' || lane = v.kind \
       AND not_before_ms <= $2 AND deadline_ms > $2 ORDER BY turn_ms, id LIMIT $3) AS j \
     ORDER BY j.turn_ms, j.id LIMIT $3";

impl Queue<'_> {
    /// The kinds of work for which jobs wait, be they due or not; see [`work_kind`]. Asking costs no commit, unlike a lease
    /// that finds nothing.
    pub async fn waiting_kinds(self) -> Result<Vec<String>> {
        self.0.db.all_replanned(WAITING, &[]).await
    }

    /// Waiting jobs of a kind whose deadline is at a time or before it, those whose turn comes first.
    pub async fn waiting_of_kind(
        self,
        kind: &str,
        deadline_ms: i64,
        limit: i64,
    ) -> Result<Vec<JobRow>> {
        let sql = format!(
            "SELECT {JOB_COLUMNS} FROM job WHERE state < 1 \
             AND operation || ' ' || CAST(speed AS TEXT) || ' ' || lane = $1 AND deadline_ms <= $2 \
             ORDER BY turn_ms, id LIMIT $3"
        );
        self.0.db.all(&sql, args![kind, deadline_ms, limit]).await
    }

    /// Leases the waiting jobs whose turn it is.
    pub async fn lease_next(self, request: LeaseRequest) -> Result<Vec<JobRow>> {
        let mut leased = self
            .0
            .change(request, |conn, request| Box::pin(next(conn, request)))
            .await?;
        leased.sort_by(|a, b| (a.0, &a.1.id).cmp(&(b.0, &b.1.id)));
        Ok(leased.into_iter().map(|(_, row)| row).collect())
    }

    /// Extends leases, given as jobs and fences; the jobs that are still the owner's by that fence.
    pub async fn renew_leases(
        self,
        owner: &str,
        leases: &[(String, i64)],
        until_ms: i64,
    ) -> Result<Vec<String>> {
        // Two at a time: each has to wait for the whole queue before it, and no commit is to be long.
        let chunks = leases.chunks(RENEWED_AT_ONCE).map(|some| {
            let lines: Vec<LeaseLine<'_>> = some
                .iter()
                .map(|(id, fence)| LeaseLine { id, fence: *fence })
                .collect();
            let input = (owner.to_owned(), json(&lines), until_ms);
            self.0.change(input, |conn, (owner, lines, until_ms)| {
                Box::pin(async move {
                    conn.all::<String>(RENEW, args![owner, lines, *until_ms])
                        .await
                })
            })
        });
        let chunks: Vec<_> = chunks.collect();
        let renewed: Vec<Vec<String>> = futures_util::stream::iter(chunks)
            .buffered(2)
            .try_collect()
            .await?;
        Ok(renewed.into_iter().flatten().collect())
    }

    /// Running jobs whose lease ran out, in the order in which they did, after one of them by that time and its id.
    pub async fn expired_leases(
        self,
        now_ms: i64,
        after: Option<&(i64, String)>,
        limit: i64,
    ) -> Result<Vec<JobRow>> {
        let sql = format!(
            "SELECT {JOB_COLUMNS} FROM job WHERE state = 1 AND lease_until_ms < $1 \
             AND lease_until_ms >= $2 AND (lease_until_ms > $2 OR id > $3) \
             ORDER BY lease_until_ms, id LIMIT $4"
        );
        let (after_ms, id) = after.map_or((i64::MIN, ""), |(ms, id)| (*ms, id.as_str()));
        let args = args![now_ms, after_ms, id, limit];
        self.0.db.all(&sql, args).await
    }

    /// Adopts a running job whose lease ran out, with its attempt and ticket.
    pub async fn take_lease(
        self,
        job_id: &str,
        old_fence: i64,
        owner: &str,
        until_ms: i64,
        now_ms: i64,
    ) -> Result<Option<JobRow>> {
        let input = (
            job_id.to_owned(),
            old_fence,
            owner.to_owned(),
            until_ms,
            now_ms,
        );
        self.0.change(
            input,
            |conn, (job_id, old_fence, owner, until_ms, now_ms)| {
                Box::pin(async move {
                    let sql = format!(
                        "UPDATE job SET lease_owner = $3, lease_until_ms = $4, fence = fence + 1, \
                     handed_back = handed_back + 1 WHERE id = $1 AND fence = $2 AND state + 0 = 1 AND lease_until_ms + 0 < $5 \
                     RETURNING {JOB_COLUMNS}"
                    );
                    conn.maybe(&sql, args![job_id, *old_fence, owner, *until_ms, *now_ms])
                        .await
                })
            },
        )
        .await
    }

    /// Ends the leases of one owner, or all that have not ended; how many.
    pub async fn void_leases(
        self,
        owner: Option<&str>,
        keep: &[String],
        now_ms: i64,
    ) -> Result<u64> {
        let input = (owner.map(str::to_owned), json(keep), now_ms);
        self.0
            .change(input, |conn, (owner, keep, now_ms)| {
                Box::pin(async move {
                    let sql = "UPDATE job SET lease_until_ms = 0 WHERE state = 1 \
                     AND lease_until_ms >= $2 AND ($1 IS NULL OR lease_owner = $1) \
                     AND id NOT IN ({list:$3})";
                    conn.run(sql, args![owner.as_deref(), *now_ms, &*keep])
                        .await
                })
            })
            .await
    }

    /// Unfinished jobs past their deadline, the longest overdue first.
    pub async fn overdue(self, now_ms: i64, limit: i64) -> Result<Vec<String>> {
        let sql = "SELECT id FROM job WHERE state < 2 AND deadline_ms <= $1 \
             ORDER BY deadline_ms LIMIT $2";
        self.0.db.all(sql, args![now_ms, limit]).await
    }
}

/// By their names, as everything that is said of certain jobs. Their state and owner are compared together with the fence that is
/// told of each: a server that has counted while no job was running would take those that run for one at most, and go through
/// all jobs to find it, comparing it with all that are told.
const RENEW: &str = "UPDATE job SET lease_until_ms = $3 FROM {rows:$2 id text, fence bigint} \
     WHERE job.id = v.id AND CASE WHEN job.state = 1 AND job.lease_owner = $1 THEN job.fence END = v.fence \
     RETURNING job.id";

#[derive(Serialize)]
struct LeaseLine<'a> {
    id: &'a str,
    fence: i64,
}

/// The leased jobs with their turns, in no order.
async fn next(conn: &mut Conn, request: &LeaseRequest) -> Result<Vec<(i64, JobRow)>> {
    let choose = match conn.dialect() {
        Dialect::Sqlite => CHOOSE_SQLITE,
        Dialect::Postgres => CHOOSE_POSTGRES,
    };
    let looked_at = request.limit.saturating_mul(LOOKED_AT);
    let mut chosen: Vec<String> = Vec::new();
    if !request.kinds.is_empty() {
        let kinds = json(&request.kinds);
        let args = args![&kinds, request.now_ms, looked_at];
        chosen = conn.all_replanned(choose, args).await?;
    }
    for narrow in &request.narrow {
        let since_ms = narrow.short.since_ms.saturating_add(request.ahead_ms);
        chosen.extend(short_work::choose(conn, narrow, request.now_ms, since_ms, looked_at).await?);
    }
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    // A sum fits no index of waiting jobs: these few are found by their names, and all others are left alone.
    let take = format!(
        "UPDATE job SET state = 1, fence = fence + 1, lease_owner = $1, lease_until_ms = $2, \
         started_ms = NULL \
         WHERE id IN (SELECT id FROM job WHERE id IN ({{list:$3}}) AND state + 0 = 0 \
         ORDER BY turn_ms, id LIMIT $4 {{lock free}}) AND state + 0 = 0 \
         RETURNING turn_ms, {JOB_COLUMNS}"
    );
    let chosen = json(&chosen);
    let args = args![&request.owner, request.until_ms, &chosen, request.limit];
    conn.all_replanned(&take, args).await
}
