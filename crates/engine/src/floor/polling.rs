//! The polling scheduler: one queue of due times for every job that is at a vendor. Each worker account has a budget of
//! questions; how often one is asked follows from how long its jobs usually take.

mod budget;
mod interval;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::engine::Engine;
use crate::floor::flight::Flight;
use crate::hint::Hint;
use budget::Budget;

/// The longest a scheduler with nothing due sleeps.
const IDLE_MS: i64 = 1_000;
/// One worker account may have this share of the questions under way: a vendor that hangs delays nobody else's.
const WORKER_SHARE: usize = 4;
/// A question that found no place of its worker's free waits this long.
const FULL_MS: i64 = 250;

/// When a flight is due; the number keeps equal times apart and in order.
type Due = (i64, u64);

#[derive(Default)]
struct Queue {
    due: BTreeMap<Due, String>,
    flights: HashMap<String, (Due, Flight)>,
    /// Jobs being asked about that are to be asked again at once.
    poked: HashSet<String>,
    /// Jobs being asked about, each with its worker.
    asking: HashMap<String, String>,
    /// Questions under way at each worker.
    under_way: HashMap<String, usize>,
    budgets: HashMap<String, Budget>,
    count: u64,
}

impl Queue {
    fn put(&mut self, flight: Flight, due_ms: i64) {
        self.count += 1;
        let due = (due_ms, self.count);
        let id = flight.row.id.clone();
        self.due.insert(due, id.clone());
        if let Some((old, _)) = self.flights.insert(id, (due, flight)) {
            self.due.remove(&old);
        }
    }

    /// The flight whose turn it is, if its worker's budget and places allow; one over budget gets its own later time.
    fn next(&mut self, now_ms: i64, most: usize, limit: impl Fn(&str) -> i64) -> Option<Flight> {
        loop {
            let first = self
                .due
                .first_entry()
                .filter(|first| first.key().0 <= now_ms)?;
            let id = first.remove();
            let Some((_, mut flight)) = self.flights.remove(&id) else {
                continue;
            };
            let wanted = !flight.cancelled.is_cancelled();
            let worker = flight.slot.worker().to_owned();
            if wanted && self.under_way.get(&worker).is_some_and(|now| *now >= most) {
                self.put(flight, now_ms + FULL_MS);
                continue;
            }
            if wanted && !flight.granted {
                let per_minute = limit(&worker);
                let budget = self.budgets.entry(worker.clone()).or_default();
                let turn_ms = budget.take(per_minute, now_ms);
                if turn_ms > now_ms {
                    flight.granted = true;
                    self.put(flight, turn_ms);
                    continue;
                }
            }
            flight.granted = false;
            *self.under_way.entry(worker.clone()).or_default() += 1;
            self.asking.insert(id, worker);
            return Some(flight);
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
    places: Arc<Semaphore>,
    /// Questions under way at one worker, at most.
    most: usize,
}

impl Polling {
    pub(crate) fn new(at_once: usize) -> Self {
        Self {
            most: (at_once / WORKER_SHARE).max(1),
            queue: Mutex::default(),
            hint: Notify::new(),
            places: Arc::new(Semaphore::new(at_once.max(1))),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, flight: Flight, now_ms: i64, due_ms: i64) {
        let mut queue = self.queue();
        queue.asked(&flight.row.id);
        let poked = queue.poked.remove(&flight.row.id);
        // One that was stopped meanwhile has to be let go.
        let at_once = poked || flight.cancelled.is_cancelled();
        let due_ms = if at_once { now_ms } else { due_ms };
        let earlier = queue
            .due
            .first_key_value()
            .is_none_or(|(first, _)| due_ms < first.0);
        queue.put(flight, due_ms);
        drop(queue);
        if earlier {
            self.hint.notify_one();
        }
    }

    /// Asks about a job at once; false when it is not here.
    pub(crate) fn poke(&self, id: &str, now_ms: i64) -> bool {
        let mut queue = self.queue();
        if queue.asking.contains_key(id) {
            queue.poked.insert(id.to_owned());
            return true;
        }
        let Some((due, flight)) = queue.flights.remove(id) else {
            return false;
        };
        // Its turn in the worker's budget has been taken and cannot be moved, unless nobody wants it any more.
        if flight.granted && !flight.cancelled.is_cancelled() {
            queue.flights.insert(id.to_owned(), (due, flight));
            return true;
        }
        queue.due.remove(&due);
        queue.put(flight, now_ms);
        drop(queue);
        self.hint.notify_one();
        true
    }

    /// How many jobs are at vendors.
    pub(crate) fn len(&self) -> usize {
        let queue = self.queue();
        queue.flights.len() + queue.asking.len()
    }

    fn done(&self, id: &str) {
        let mut queue = self.queue();
        // A flight that was put back is waiting again and not being asked about.
        if !queue.flights.contains_key(id) {
            queue.asked(id);
            queue.poked.remove(id);
        }
    }
}

impl Engine {
    /// Has a job at a vendor asked about from now on.
    pub(crate) fn watch(self: &Arc<Self>, flight: Flight) {
        let now_ms = self.now_ms();
        let rhythm = self.pool.rhythm(flight.slot.worker());
        let wait_ms = if flight.ticket.is_some() && flight.began_ms + IDLE_MS > now_ms {
            interval::first_ms(&rhythm)
        } else {
            interval::LEAST_MS
        };
        let wait_ms = interval::jittered(wait_ms, &flight.row.id, flight.row.fence as u64);
        self.polling.put(flight, now_ms, now_ms + wait_ms);
    }

    /// Has a job asked about again after a while.
    pub(crate) fn watch_again(self: &Arc<Self>, flight: Flight, pause: Duration) {
        let now_ms = self.now_ms();
        let rhythm = self.pool.rhythm(flight.slot.worker());
        let wait_ms = interval::next_ms(pause, &rhythm);
        let wait_ms = interval::jittered(wait_ms, &flight.row.id, now_ms as u64);
        self.polling.put(flight, now_ms, now_ms + wait_ms);
    }

    /// Asks about every job whose turn it is; says how many and how many milliseconds there are until the next.
    pub fn poll_step(self: &Arc<Self>) -> (usize, i64) {
        let mut asked = 0;
        loop {
            let Ok(place) = Arc::clone(&self.polling.places).try_acquire_owned() else {
                // Whoever gives a place back gives a hint.
                return (asked, IDLE_MS);
            };
            let now_ms = self.now_ms();
            let mut queue = self.polling.queue();
            let limit = |worker: &str| self.pool.rhythm(worker).polls_per_minute;
            let Some(flight) = queue.next(now_ms, self.polling.most, limit) else {
                let next = queue.due.first_key_value();
                let wait = next.map_or(IDLE_MS, |(first, _)| first.0 - now_ms);
                return (asked, wait.clamp(1, IDLE_MS));
            };
            drop(queue);
            asked += 1;
            self.ask_in_a_task(flight, place);
        }
    }

    fn ask_in_a_task(self: &Arc<Self>, flight: Flight, place: OwnedSemaphorePermit) {
        let engine = self.clone();
        self.tasks.spawn(async move {
            let id = flight.row.id.clone();
            if flight.cancelled.is_cancelled() {
                engine.let_go(&flight);
            } else {
                engine.ask(flight).await;
            }
            engine.polling.done(&id);
            let full = engine.polling.places.available_permits() == 0;
            drop(place);
            if full {
                engine.polling.hint.notify_one();
            }
        });
    }

    /// Stops the work on a job that is final, and tells its vendor.
    pub(crate) fn stop_work(&self, id: &str) {
        self.bench.cancel(id);
        self.polling.poke(id, self.now_ms());
    }

    /// Stops the work on a job that another node has now.
    pub(crate) fn lose_work(&self, id: &str, fence: i64) {
        self.bench.lose(id, fence);
        self.polling.poke(id, self.now_ms());
    }

    /// A vendor posted that a job is worth a look: the vendor is asked, and nothing else is believed.
    pub fn vendor_hook(&self, backend_id: &str, token: &str) -> bool {
        let Some(job_id) = self.keyring.hook_job(backend_id, token) else {
            return false;
        };
        if !self.polling.poke(&job_id, self.now_ms()) {
            self.tell(Hint::Poll(job_id));
        }
        true
    }
}
