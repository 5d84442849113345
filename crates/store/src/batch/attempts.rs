//! Attempts and tickets of a batch: each kind is written with a few statements, however many there are.

use std::collections::{BTreeSet, HashSet};

use serde::Serialize;

use crate::Result;
use crate::batch::json;
use crate::db::{Conn, args};
use crate::jobs::attempt::{Attempt, Receipt};
use crate::writer::Pending;

#[derive(Serialize)]
struct AttemptLine<'a> {
    id: &'a str,
    job_id: &'a str,
    fence: i64,
    worker: &'a str,
    now_ms: i64,
}

/// Begins attempts; each is answered whether its lease still stands.
pub(crate) async fn begin(conn: &mut Conn, attempts: &mut [Pending<Attempt, bool>]) -> Result<()> {
    // A statement changes a row once, so a second attempt at the same job waits for the next round.
    let mut waiting: Vec<&mut Pending<Attempt, bool>> = attempts.iter_mut().collect();
    while !waiting.is_empty() {
        let mut jobs = HashSet::new();
        let (mut round, later): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .partition(|one| jobs.insert(one.input.job_id.clone()));
        let ours = begin_distinct(conn, &round).await?;
        for one in &mut round {
            one.answer = Some(ours.contains(&one.input.job_id));
        }
        waiting = later;
    }
    Ok(())
}

/// The jobs whose leases still stand.
async fn begin_distinct(
    conn: &mut Conn,
    round: &[&mut Pending<Attempt, bool>],
) -> Result<BTreeSet<String>> {
    let mut lines: Vec<AttemptLine<'_>> = round
        .iter()
        .map(|one| AttemptLine {
            id: &one.input.id,
            job_id: &one.input.job_id,
            fence: one.input.fence,
            worker: &one.input.worker,
            now_ms: one.input.now_ms,
        })
        .collect();
    let ours: Vec<String> = conn.all(POINT_JOBS, args![&json(&lines)]).await?;
    let ours = BTreeSet::from_iter(ours);
    lines.retain(|line| ours.contains(line.job_id));
    if !lines.is_empty() {
        let lines = json(&lines);
        conn.run(END_OTHERS, args![&lines]).await?;
        conn.run(INSERT_ATTEMPTS, args![&lines]).await?;
    }
    Ok(ours)
}

/// Records tickets; each is answered whether its lease still stands.
pub(crate) async fn tickets(conn: &mut Conn, tickets: &mut [Pending<Receipt, bool>]) -> Result<()> {
    let lines: Vec<&Receipt> = tickets.iter().map(|one| &one.input).collect();
    let noted: Vec<String> = conn.all(WRITE_TICKETS, args![&json(&lines)]).await?;
    for one in tickets {
        one.answer = Some(noted.contains(&one.input.attempt_id));
    }
    Ok(())
}

const POINT_JOBS: &str = "UPDATE job SET \
     tries = job.tries + CASE WHEN job.attempt_id = v.id THEN 0 ELSE 1 END, \
     attempt_id = v.id, worker = v.worker \
     FROM {rows:$1 id text, job_id text, fence bigint, worker text} \
     WHERE job.id = v.job_id AND job.fence = v.fence AND job.state = 1 RETURNING job.id";

const END_OTHERS: &str = "UPDATE attempt SET state = 'lost', ended_ms = v.now_ms \
     FROM {rows:$1 id text, job_id text, now_ms bigint} \
     WHERE attempt.job_id = v.job_id AND attempt.id <> v.id AND attempt.ended_ms IS NULL";

const INSERT_ATTEMPTS: &str = "INSERT INTO attempt (id, job_id, worker, state, began_ms) \
     SELECT v.id, v.job_id, v.worker, 'intent', v.now_ms \
     FROM {rows:$1 id text, job_id text, worker text, now_ms bigint} WHERE TRUE \
     ON CONFLICT (id) DO NOTHING";

const WRITE_TICKETS: &str = "UPDATE attempt SET state = 'submitted', ticket = v.ticket, \
     submitted_ms = v.now_ms \
     FROM {rows:$1 job_id text, fence bigint, attempt_id text, ticket text, now_ms bigint} \
     JOIN job ON job.id = v.job_id AND job.fence = v.fence AND job.state = 1 \
     WHERE attempt.id = v.attempt_id AND attempt.job_id = v.job_id AND attempt.ended_ms IS NULL \
     RETURNING attempt.id";
