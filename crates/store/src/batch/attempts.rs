//! Attempts and tickets of a batch: each kind is written with a few statements, however many there are.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::Result;
use crate::changes::attempt::{Attempt, AttemptStart, StartLimits, TicketReceipt};
use crate::db::{Arg, Conn, Line, args, json};
use crate::pending::PendingChange;

/// An attempt, as every statement about it takes it.
#[derive(Clone, Copy)]
pub(crate) struct AttemptLine<'a>(pub(crate) &'a Attempt);

impl Line for AttemptLine<'_> {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        let Attempt {
            id,
            job_id,
            fence,
            worker,
            now_ms,
            ..
        } = self.0;
        out.extend_from_slice(args![id, job_id, *fence, worker, *now_ms]);
    }
}

/// Begins attempts at jobs that are there already; says of each whether it may.
pub(crate) async fn begin(
    conn: &mut Conn,
    attempts: &[&Attempt],
    workload: &mut Workload,
) -> Result<Vec<AttemptStart>> {
    let mut began = vec![AttemptStart::Full; attempts.len()];
    // A statement changes a row once, so a second attempt at the same job waits for the next round.
    let mut waiting: Vec<usize> = (0..attempts.len()).collect();
    while !waiting.is_empty() {
        let mut jobs = HashSet::new();
        let (mut round, later): (Vec<usize>, Vec<usize>) = waiting
            .into_iter()
            .partition(|one| jobs.insert(&*attempts[*one].job_id));
        round.retain(|one| workload.take(attempts[*one]));
        let lines = round.iter().map(|one| AttemptLine(attempts[*one]));
        let ours = begin_distinct(conn, lines.collect()).await?;
        for one in round {
            let stands = ours.contains(&attempts[one].job_id);
            began[one] = if stands {
                AttemptStart::Yes
            } else {
                AttemptStart::Lost
            };
        }
        waiting = later;
    }
    Ok(began)
}

/// What workers have, over all nodes, while their rows are locked.
#[derive(Default)]
pub(crate) struct Workload {
    in_hand: HashMap<String, i64>,
    minute: HashMap<String, i64>,
    hour: HashMap<String, i64>,
}

impl Workload {
    /// Locks the workers of these attempts and reads what they have.
    pub(crate) async fn read(conn: &mut Conn, attempts: &[&Attempt]) -> Result<Self> {
        let limited = attempts
            .iter()
            .filter(|one| one.limits != StartLimits::default());
        let workers: BTreeSet<&str> = limited.clone().map(|one| &*one.worker).collect();
        let Some(now_ms) = limited.clone().map(|one| one.now_ms).min() else {
            return Ok(Self::default());
        };
        let names = json(&workers);
        let rows: Vec<&str> = workers
            .iter()
            .filter_map(|name| name.split('/').nth(1))
            .collect();
        let _: Vec<String> = conn.all(LOCK_WORKERS, args![&json(&rows)]).await?;
        let in_hand: Vec<(String, i64)> = conn.all(IN_HAND, args![&names]).await?;
        let mut workload = Self {
            in_hand: in_hand.into_iter().collect(),
            ..Self::default()
        };
        let paced = |one: &&Attempt| one.limits.per_minute > 0 || one.limits.per_hour > 0;
        if limited.clone().any(paced) {
            for (span_ms, counts) in [
                (60_000, &mut workload.minute),
                (3_600_000, &mut workload.hour),
            ] {
                let args = args![&names, now_ms - span_ms];
                let found: Vec<(String, i64)> = conn.all(STARTS, args).await?;
                *counts = found.into_iter().collect();
            }
        }
        Ok(workload)
    }

    /// Takes a place at a worker, if it has one.
    pub(crate) fn take(&mut self, attempt: &Attempt) -> bool {
        let limits = attempt.limits;
        let counts = [
            (&mut self.in_hand, limits.concurrency),
            (&mut self.minute, limits.per_minute),
            (&mut self.hour, limits.per_hour),
        ];
        let has = |counts: &HashMap<String, i64>| counts.get(&attempt.worker).copied().unwrap_or(0);
        if counts
            .iter()
            .any(|(counts, most)| *most > 0 && has(counts) >= *most)
        {
            return false;
        }
        for (counts, _) in counts {
            *counts.entry(attempt.worker.clone()).or_default() += 1;
        }
        true
    }
}

/// The jobs whose leases still stand.
async fn begin_distinct(
    conn: &mut Conn,
    mut lines: Vec<AttemptLine<'_>>,
) -> Result<BTreeSet<String>> {
    if lines.is_empty() {
        return Ok(BTreeSet::new());
    }
    let tries: Vec<(String, i64)> = conn.all_lines(POINT_JOBS, &lines).await?;
    let tries: BTreeMap<String, i64> = tries.into_iter().collect();
    lines.retain(|line| tries.contains_key(&line.0.job_id));
    // The first attempt at a job has no others before it.
    let again = |line: &&AttemptLine<'_>| tries.get(&line.0.job_id).is_some_and(|tries| *tries > 1);
    let again: Vec<AttemptLine<'_>> = lines.iter().filter(again).copied().collect();
    if !again.is_empty() {
        conn.run_lines(END_OTHERS, &again).await?;
    }
    if !lines.is_empty() {
        conn.run_lines(INSERT_ATTEMPTS, &lines).await?;
    }
    Ok(tries.into_keys().collect())
}

/// Records tickets; each is answered whether its lease still stands.
pub(crate) async fn tickets(
    conn: &mut Conn,
    tickets: &mut [PendingChange<TicketReceipt, bool>],
) -> Result<()> {
    let lines: Vec<&TicketReceipt> = tickets.iter().map(|one| &one.input).collect();
    let lines = json(&lines);
    // Jobs come before their attempts, as for everybody else: whoever ends one of them elsewhere is waited for with empty hands.
    conn.run(BEGIN_JOBS, args![&lines]).await?;
    let noted: Vec<String> = conn.all(WRITE_TICKETS, args![&lines]).await?;
    for one in tickets {
        one.answer = Some(noted.contains(&one.input.attempt_id));
    }
    Ok(())
}

/// From the vendor's word on a job is worked on.
const BEGIN_JOBS: &str = "UPDATE job SET started_ms = v.now_ms, updated_ms = v.now_ms, revision = job.revision + 1 \
     FROM {rows:$1 job_id text, fence bigint, attempt_id text, ticket text, now_ms bigint} \
     WHERE job.id = v.job_id AND CASE WHEN job.state = 1 AND job.started_ms IS NULL THEN job.fence END = v.fence";

const LOCK_WORKERS: &str = "SELECT id FROM worker WHERE id IN ({list:$1}) ORDER BY id {lock}";

const IN_HAND: &str = "SELECT worker, COUNT(*) FROM attempt \
     WHERE ended_ms IS NULL AND worker IN ({list:$1}) GROUP BY worker";

const STARTS: &str = "SELECT worker, COUNT(*) FROM attempt \
     WHERE worker IN ({list:$1}) AND began_ms > $2 GROUP BY worker";

const POINT_JOBS: &str = "UPDATE job SET \
     tries = job.tries + CASE WHEN job.attempt_id = v.id THEN 0 ELSE 1 END, \
     attempt_id = v.id, worker = v.worker \
     FROM {lines:id text, job_id text, fence bigint, worker text, now_ms bigint} \
     WHERE job.id = v.job_id AND CASE WHEN job.state = 1 THEN job.fence END = v.fence RETURNING job.id, job.tries";

const END_OTHERS: &str = "UPDATE attempt SET state = 'lost', ended_ms = v.now_ms \
     FROM {lines:id text, job_id text, fence bigint, worker text, now_ms bigint} \
     WHERE attempt.job_id = v.job_id AND CASE WHEN attempt.ended_ms IS NULL THEN attempt.id END <> v.id";

pub(crate) const INSERT_ATTEMPTS: &str = "INSERT INTO attempt (id, job_id, worker, state, began_ms) \
     SELECT v.id, v.job_id, v.worker, 'intent', v.now_ms \
     FROM {lines:id text, job_id text, fence bigint, worker text, now_ms bigint} WHERE TRUE \
     ON CONFLICT (id) DO UPDATE SET began_ms = excluded.began_ms";

const WRITE_TICKETS: &str = "UPDATE attempt SET state = 'submitted', ticket = v.ticket, \
     submitted_ms = v.now_ms \
     FROM {rows:$1 job_id text, fence bigint, attempt_id text, ticket text, now_ms bigint} \
     JOIN job ON job.id = v.job_id AND CASE WHEN job.state = 1 THEN job.fence END = v.fence \
     WHERE attempt.id = v.attempt_id AND CASE WHEN attempt.ended_ms IS NULL THEN attempt.job_id END = v.job_id \
     RETURNING attempt.id";
