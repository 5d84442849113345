//! Leases: who runs a job. Held by time and fence, never by an open transaction.

use atelier_contract::Speed;

use crate::batch::json;
use crate::db::{Conn, args};
use crate::jobs::{JOB_COLUMNS, JobRow};
use crate::{Result, Store};

/// A wish for work.
#[derive(Clone, Debug)]
pub struct LeaseRequest {
    /// The node.
    pub owner: String,
    /// Until when.
    pub until_ms: i64,
    /// The time.
    pub now_ms: i64,
    /// Only these: operation, number of the speed and lane, with a space between; see [`lane`].
    pub lanes: Vec<String>,
    /// At most so many.
    pub limit: i64,
}

/// What a [`LeaseRequest`] asks for.
pub fn lane(operation: &str, speed: Speed, lane: &str) -> String {
    format!("{operation} {} {lane}", speed as i64)
}

impl Store {
    /// Leases the waiting jobs whose turn it is.
    pub async fn lease_next(&self, request: LeaseRequest) -> Result<Vec<JobRow>> {
        let mut leased = self
            .change(request, |conn, request| Box::pin(next(conn, request)))
            .await?;
        leased.sort_by(|a, b| (a.0, &a.1.id).cmp(&(b.0, &b.1.id)));
        Ok(leased.into_iter().map(|(_, row)| row).collect())
    }

    /// Extends leases; the jobs that are still the owner's.
    pub async fn renew_leases(
        &self,
        owner: &str,
        ids: &[String],
        until_ms: i64,
    ) -> Result<Vec<String>> {
        self.change(
            (owner.to_owned(), json(ids), until_ms),
            |conn, (owner, ids, until_ms)| {
                Box::pin(async move {
                    let sql = "UPDATE job SET lease_until_ms = $3 \
                     WHERE id IN ({list:$2}) AND state = 1 AND lease_owner = $1 RETURNING id";
                    conn.all(sql, args![owner, ids, *until_ms]).await
                })
            },
        )
        .await
    }

    /// Running jobs whose lease ran out.
    pub async fn expired_leases(&self, now_ms: i64, limit: i64) -> Result<Vec<JobRow>> {
        let sql = format!(
            "SELECT {JOB_COLUMNS} FROM job WHERE state = 1 AND lease_until_ms < $1 \
             ORDER BY lease_until_ms LIMIT $2"
        );
        self.db().all(&sql, args![now_ms, limit]).await
    }

    /// Adopts a running job whose lease ran out, with its attempt and ticket.
    pub async fn take_lease(
        &self,
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
        self.change(
            input,
            |conn, (job_id, old_fence, owner, until_ms, now_ms)| {
                Box::pin(async move {
                    let sql = format!(
                        "UPDATE job SET lease_owner = $3, lease_until_ms = $4, fence = fence + 1, \
                     handed_back = handed_back + 1 WHERE id = $1 AND fence = $2 AND state = 1 AND lease_until_ms < $5 \
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
    pub async fn void_leases(&self, owner: Option<&str>, now_ms: i64) -> Result<u64> {
        let input = (owner.map(str::to_owned), now_ms);
        self.change(input, |conn, (owner, now_ms)| {
            Box::pin(async move {
                let sql = "UPDATE job SET lease_until_ms = 0 WHERE state = 1 \
                     AND lease_until_ms >= $2 AND ($1 IS NULL OR lease_owner = $1)";
                conn.run(sql, args![owner.as_deref(), *now_ms]).await
            })
        })
        .await
    }

    /// Unfinished jobs past their deadline, the longest overdue first.
    pub async fn overdue(&self, now_ms: i64, limit: i64) -> Result<Vec<String>> {
        let sql = "SELECT id FROM job WHERE state < 2 AND deadline_ms <= $1 \
             ORDER BY deadline_ms LIMIT $2";
        self.db().all(sql, args![now_ms, limit]).await
    }
}

/// The leased jobs with their turns, in no order.
async fn next(conn: &mut Conn, request: &LeaseRequest) -> Result<Vec<(i64, JobRow)>> {
    let sql = format!(
        "UPDATE job SET state = 1, fence = fence + 1, lease_owner = $1, lease_until_ms = $2, \
         started_ms = COALESCE(started_ms, $3), updated_ms = $3, revision = revision + 1 \
         WHERE id IN (SELECT id FROM job WHERE state = 0 AND not_before_ms <= $3 \
         AND deadline_ms > $3 AND operation || ' ' || speed || ' ' || lane IN ({{list:$4}}) \
         ORDER BY turn_ms, id LIMIT $5 {{lock free}}) AND state = 0 \
         RETURNING turn_ms, {JOB_COLUMNS}"
    );
    let lanes = json(&request.lanes);
    let args = args![
        &request.owner,
        request.until_ms,
        request.now_ms,
        &lanes,
        request.limit
    ];
    conn.all(&sql, args).await
}
