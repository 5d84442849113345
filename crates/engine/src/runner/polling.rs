//! The polling scheduler: one queue of due times for every job that is at a vendor. Each worker account may be
//! asked so often; how often one is asked follows from how long its jobs usually take.

mod interval;
mod limiter;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::names::WorkerName;
use crate::runner::job::RunningJob;
use crate::runner::pool::PollStats;
use limiter::PollLimiter;

/// The longest a scheduler with nothing due sleeps.
const IDLE_MS: i64 = 1_000;
/// One worker account may have this share of the questions under way: a vendor that hangs delays nobody else's.
const WORKER_SHARE: usize = 4;
/// A question that found no place of its worker's free waits this long.
const FULL_MS: i64 = 250;

/// When a job is due; the number keeps equal times apart and in order.
type DueKey = (i64, u64);

#[derive(Default)]
struct Queue {
    due: BTreeMap<DueKey, String>,
    /// Each job in a box: a table has room for up to twice as many as it holds, and for all of them again while it grows.
    jobs: HashMap<String, (DueKey, Box<RunningJob>)>,
    /// Jobs being asked about that are to be asked again at once.
    poll_again: HashSet<String>,
    /// Jobs being asked about, each with its worker.
    asking: HashMap<String, WorkerName>,
    /// Questions under way at each worker.
    under_way: HashMap<WorkerName, usize>,
    limiters: HashMap<WorkerName, PollLimiter>,
    count: u64,
}

impl Queue {
    fn put(&mut self, job: Box<RunningJob>, due_ms: i64) {
        self.count += 1;
        let due = (due_ms, self.count);
        let id = job.id().to_string();
        self.due.insert(due, id.clone());
        if let Some((old, _)) = self.jobs.insert(id, (due, job)) {
            self.due.remove(&old);
        }
    }

    /// The job whose turn it is, if its worker has a place and a turn left; else it gets its own later time.
    fn next(
        &mut self,
        now_ms: i64,
        most: usize,
        limit: impl Fn(&WorkerName) -> i64,
    ) -> Option<RunningJob> {
        loop {
            let first = self
                .due
                .first_entry()
                .filter(|first| first.key().0 <= now_ms)?;
            let id = first.remove();
            let Some((_, mut job)) = self.jobs.remove(&id) else {
                continue;
            };
            let wanted = !job.signals().stop.is_cancelled();
            let worker = job.worker().clone();
            if wanted && self.under_way.get(&worker).is_some_and(|now| *now >= most) {
                self.put(job, now_ms + FULL_MS);
                continue;
            }
            if wanted && !job.granted {
                let per_minute = limit(&worker);
                let limiters = limiter::limiter_for(&mut self.limiters, &worker, now_ms);
                let allowed_ms = limiters.take(per_minute, now_ms);
                if allowed_ms > now_ms {
                    job.granted = true;
                    self.put(job, allowed_ms);
                    continue;
                }
            }
            job.granted = false;
            *self.under_way.entry(worker.clone()).or_default() += 1;
            self.asking.insert(id, worker);
            return Some(*job);
        }
    }

    /// A job is no longer being asked about.
    fn asked(&mut self, id: &str) {
        if let Some(worker) = self.asking.remove(id)
            && let Some(now) = self.under_way.get_mut(&worker)
        {
            *now -= 1;
            if *now == 0 {
                self.under_way.remove(&worker);
            }
        }
    }
}

/// The jobs at vendors that this node asks about.
pub(crate) struct Polling {
    queue: Mutex<Queue>,
    /// Something may be due earlier than was thought.
    pub(crate) hint: Notify,
    permits: Arc<Semaphore>,
    /// Questions under way at one worker, at most.
    most: usize,
}

impl Polling {
    pub(crate) fn new(at_once: usize) -> Self {
        Self {
            most: (at_once / WORKER_SHARE).max(1),
            queue: Mutex::default(),
            hint: Notify::new(),
            permits: Arc::new(Semaphore::new(at_once.max(1))),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, job: RunningJob, now_ms: i64, due_ms: i64) {
        let mut queue = self.queue();
        queue.asked(job.id());
        let poll_again = queue.poll_again.remove(job.id().as_str());
        // One that was stopped meanwhile has to be let go.
        let at_once = poll_again || job.signals().stop.is_cancelled();
        let due_ms = if at_once { now_ms } else { due_ms };
        let earlier = queue
            .due
            .first_key_value()
            .is_none_or(|(first, _)| due_ms < first.0);
        queue.put(Box::new(job), due_ms);
        drop(queue);
        if earlier {
            self.hint.notify_one();
        }
    }

    /// Asks about a job at once; false when it is not here.
    pub(crate) fn poll_now(&self, id: &str, now_ms: i64) -> bool {
        let mut queue = self.queue();
        if queue.asking.contains_key(id) {
            queue.poll_again.insert(id.to_owned());
            return true;
        }
        let Some((due, job)) = queue.jobs.remove(id) else {
            return false;
        };
        // Its turn has been taken and cannot be moved, unless nobody wants it any more.
        if job.granted && !job.signals().stop.is_cancelled() {
            queue.jobs.insert(id.to_owned(), (due, job));
            return true;
        }
        queue.due.remove(&due);
        queue.put(job, now_ms);
        drop(queue);
        self.hint.notify_one();
        true
    }

    /// How many jobs are at vendors.
    pub(crate) fn len(&self) -> usize {
        let queue = self.queue();
        queue.jobs.len() + queue.asking.len()
    }

    /// A question is over, and its place is given back.
    pub(crate) fn done(&self, id: &str, permit: OwnedSemaphorePermit) {
        let mut queue = self.queue();
        // A job that was put back is waiting again and not being asked about.
        if !queue.jobs.contains_key(id) {
            queue.asked(id);
            queue.poll_again.remove(id);
        }
        drop(queue);
        let full = self.permits.available_permits() == 0;
        drop(permit);
        if full {
            self.hint.notify_one();
        }
    }

    /// Has a job at a vendor asked about from now on.
    pub(crate) fn watch(&self, job: RunningJob, poll_stats: &PollStats, now_ms: i64) {
        let wait_ms = if job.ticket.is_some() && job.began_ms + IDLE_MS > now_ms {
            interval::first_ms(poll_stats)
        } else {
            interval::LEAST_MS
        };
        let wait_ms = interval::jittered(wait_ms, job.id(), job.leased.fence as u64);
        self.put(job, now_ms, now_ms + wait_ms);
    }

    /// Has a job asked about again after a while.
    pub(crate) fn watch_again(
        &self,
        job: RunningJob,
        pause: Duration,
        poll_stats: &PollStats,
        now_ms: i64,
    ) {
        let wait_ms = interval::next_ms(pause, poll_stats);
        let wait_ms = interval::jittered(wait_ms, job.id(), now_ms as u64);
        self.put(job, now_ms, now_ms + wait_ms);
    }

    /// The next job whose turn it is, with a place to ask about it; else the milliseconds until there may be one.
    pub(crate) fn next(
        &self,
        now_ms: i64,
        limit: impl Fn(&WorkerName) -> i64,
    ) -> Result<(RunningJob, OwnedSemaphorePermit), i64> {
        let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() else {
            // Whoever gives a place back gives a hint.
            return Err(IDLE_MS);
        };
        let mut queue = self.queue();
        if let Some(job) = queue.next(now_ms, self.most, limit) {
            return Ok((job, permit));
        }
        let next = queue.due.first_key_value();
        let wait = next.map_or(IDLE_MS, |(first, _)| first.0 - now_ms);
        Err(wait.clamp(1, IDLE_MS))
    }
}
