//! Attempts: what was asked of a back end, and how far it is. Every write carries the fence.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Result;
use crate::changes::attempt::{Attempt, AttemptStart, TicketReceipt};
use crate::db::{Conn, args, json};
use crate::store_core::StoreCore;

/// How far a job is.
#[derive(Clone, Debug)]
pub struct ProgressNote {
    pub job_id: String,
    /// The fence of the lease.
    pub fence: i64,
    /// In percent, 0 to 100.
    pub progress: i64,
    /// When somebody began to work on it, if that is not written down yet.
    pub began_ms: Option<i64>,
}

/// The wish to give a running job back to the queue.
#[derive(Clone, Debug)]
pub struct RequeueRequest {
    pub job_id: String,
    /// The fence of the lease.
    pub fence: i64,
    /// Not to be leased before, by the service's own time.
    pub not_before_ms: i64,
    /// In words, kept with the attempt.
    pub why: String,
    pub now_ms: i64,
    /// How the attempt ended: lost, rejected…
    pub attempt_state: &'static str,
    /// Whether the lease counts as a try of the job.
    pub counts: bool,
}

/// The state of an attempt whose back end cannot do the job at all.
pub const UNABLE: &str = "unable";
/// The state of an attempt that failed and may be repeated.
pub const REJECTED: &str = "rejected";

/// Attempts of jobs at worker accounts.
#[derive(Clone, Copy, Debug)]
pub struct Attempts<'a>(pub(crate) &'a StoreCore);

impl Attempts<'_> {
    /// The workers that failed at a job or cannot do it, each with the state of the attempt, oldest first.
    pub async fn failed(self, job_id: &str) -> Result<Vec<(String, String)>> {
        // Written out, so that the index made for it is seen to fit.
        let sql = "SELECT worker, state FROM attempt \
             WHERE job_id = $1 AND state IN ('unable', 'rejected') ORDER BY began_ms, id";
        self.0.db.all(sql, args![job_id]).await
    }

    /// When the intent of an attempt was last written down.
    pub async fn began_ms(self, attempt_id: &str) -> Result<Option<i64>> {
        let sql = "SELECT began_ms FROM attempt WHERE id = $1";
        self.0.db.maybe(sql, args![attempt_id]).await
    }

    /// Records the intent to ask a back end, if its worker may have more. The same attempt counts once.
    pub async fn begin(self, attempt: Attempt) -> Result<AttemptStart> {
        self.0.commit(attempt).await
    }

    /// Records the back end's ticket; false when the fence moved on.
    pub async fn record_ticket(
        self,
        job_id: &str,
        fence: i64,
        attempt_id: &str,
        ticket: &str,
        now_ms: i64,
    ) -> Result<bool> {
        self.0
            .commit(TicketReceipt {
                job_id: job_id.to_owned(),
                fence,
                attempt_id: attempt_id.to_owned(),
                ticket: ticket.to_owned(),
                now_ms,
            })
            .await
    }

    /// Records which jobs are worked on and how far they are; never goes down within an attempt.
    pub async fn write_progress(self, notes: Vec<ProgressNote>, now_ms: i64) -> Result<()> {
        let lines = furthest(notes);
        if lines.is_empty() {
            return Ok(());
        }
        self.0.change((json(&lines), now_ms), |conn, (lines, now_ms)| {
            Box::pin(async move {
                let sql = "UPDATE job SET started_ms = COALESCE(job.started_ms, v.began_ms), \
                     progress = CASE WHEN v.progress > job.progress THEN v.progress ELSE job.progress END, \
                     revision = job.revision + 1, updated_ms = $2 \
                     FROM {rows:$1 job_id text, fence bigint, progress bigint, began_ms bigint} \
                     WHERE job.id = v.job_id AND CASE WHEN job.state = 1 THEN job.fence END = v.fence \
                     AND (v.progress > job.progress OR (v.began_ms IS NOT NULL AND job.started_ms IS NULL))";
                conn.run(sql, args![lines, *now_ms]).await.map(|_| ())
            })
        })
        .await
    }

    /// Notes why the attempt under way at a job came to nothing, for operators; nothing is noted once the fence moved on.
    pub async fn explain(self, job_id: &str, fence: i64, why: &str) -> Result<()> {
        let note = (job_id.to_owned(), fence, why.to_owned());
        self.0
            .change(note, |conn, (job_id, fence, why)| {
                Box::pin(async move {
                    let sql = "UPDATE attempt SET why = $3 WHERE job_id = $1 AND ended_ms IS NULL \
                         AND (SELECT job.fence FROM job WHERE job.id = $1) = $2";
                    let args = args![job_id, *fence, why];
                    conn.run(sql, args).await.map(|_| ())
                })
            })
            .await
    }

    /// Gives a running job back to the queue; false when the fence moved on.
    pub async fn requeue(self, requeue: RequeueRequest) -> Result<bool> {
        self.0
            .change(requeue, |conn, requeue| Box::pin(give_back(conn, requeue)))
            .await
    }
}

#[derive(Serialize)]
struct ProgressLine {
    job_id: String,
    fence: i64,
    progress: i64,
    began_ms: Option<i64>,
}

/// One line for each lease, so that no row is changed twice by one statement.
fn furthest(notes: Vec<ProgressNote>) -> Vec<ProgressLine> {
    let mut most: BTreeMap<(String, i64), (i64, Option<i64>)> = BTreeMap::new();
    for note in notes {
        let (progress, began_ms) = most.entry((note.job_id, note.fence)).or_default();
        *progress = note.progress.clamp(*progress, 100);
        *began_ms = began_ms.or(note.began_ms);
    }
    most.into_iter()
        .map(|((job_id, fence), (progress, began_ms))| ProgressLine {
            job_id,
            fence,
            progress,
            began_ms,
        })
        .collect()
}

async fn give_back(conn: &mut Conn, requeue: &RequeueRequest) -> Result<bool> {
    let ours = conn
        .run(
            "UPDATE job SET state = 0, progress = 0, started_ms = NULL, not_before_ms = $3, updated_ms = $4, \
             revision = revision + 1, lease_owner = NULL, lease_until_ms = NULL, \
             handed_back = handed_back + $5, \
             attempt_id = NULL, worker = NULL WHERE id = $1 AND fence = $2 AND state + 0 = 1",
            args![
                &requeue.job_id,
                requeue.fence,
                requeue.not_before_ms,
                requeue.now_ms,
                i64::from(!requeue.counts)
            ],
        )
        .await?;
    if ours == 1 {
        conn.run(
            "UPDATE attempt SET state = $2, why = $3, ended_ms = $4 \
             WHERE job_id = $1 AND ended_ms IS NULL",
            args![
                &requeue.job_id,
                requeue.attempt_state,
                &requeue.why,
                requeue.now_ms
            ],
        )
        .await?;
    }
    Ok(ours == 1)
}
