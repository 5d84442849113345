//! A place at a worker account, which one job takes. It is left to others while the job only waits.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use atelier_backends::Backend;
use atelier_contract::brief::Brief;
use atelier_contract::{AttemptId, JobId};
use atelier_fairness::reservation::Reservation;
use atelier_store::{Attempt, StartLimits};

use super::Pool;
use super::choice::{Choice, Mode};
use super::health::Fitness;
use super::routes::ModelRouting;
use super::slot_use::SlotUse;
use super::worker::PoolWorker;
use crate::names::WorkerName;

/// How often a job that comes back looks whether a place is free.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The job has the place.
const HELD: u8 = 0;
/// The place is another's while the work only waits.
const YIELDED: u8 = 1;
/// The next free place is this job's.
const RETURNING: u8 = 2;

/// A place at a worker account, free again when dropped.
pub(crate) struct Slot {
    pool: Arc<Pool>,
    name: WorkerName,
    backend: Arc<dyn Backend>,
    vendor: &'static str,
    custody: bool,
    recorded: bool,
    /// Whether the vendor was asked; until then the start does not count.
    began: AtomicBool,
    state: AtomicU8,
    taken: SlotUse,
    /// It was given without a place, for work that takes no time.
    ahead: AtomicBool,
    /// What is kept inside this process for the work to begin at once.
    reserved: OnceLock<Reservation>,
}

impl Slot {
    pub(super) fn new(pool: Arc<Pool>, member: &PoolWorker, taken: SlotUse) -> Self {
        Self {
            pool,
            name: member.candidate.name.clone(),
            backend: Arc::clone(&member.backend),
            vendor: member.vendor,
            custody: member.candidate.owner.is_some(),
            recorded: member.recorded,
            began: AtomicBool::new(taken.began),
            state: AtomicU8::new(HELD),
            taken,
            ahead: AtomicBool::new(false),
            reserved: OnceLock::new(),
        }
    }

    /// A free place at a named worker account for what is nobody's job, if it takes work and is allowed to.
    pub(crate) fn free(pool: &Arc<Pool>, name: &WorkerName, now_ms: i64) -> Result<Self, Choice> {
        let mut members = pool.members();
        let named = |member: &&mut PoolWorker| member.candidate.name == *name;
        let member = members.iter_mut().find(named).ok_or(Choice::Nobody)?;
        let candidate = &mut member.candidate;
        let fit = candidate.health.fitness(now_ms) == Fitness::Fit;
        let open = matches!(candidate.mode, Mode::Active | Mode::Rehearsal);
        if !fit || !open || candidate.is_used_up() {
            return Err(Choice::Nobody);
        }
        let next_ms = candidate.free_ms(now_ms);
        if next_ms > now_ms || candidate.busy >= candidate.concurrency {
            return Err(Choice::Wait(next_ms));
        }
        candidate.pace.push(now_ms);
        member.enter(false);
        let taken = SlotUse {
            began: true,
            ..SlotUse::default()
        };
        Ok(Self::new(Arc::clone(pool), member, taken))
    }

    /// Has no place; work that takes long after all takes one when it goes on after a rest.
    pub(super) fn stay_ahead(&self) {
        self.state.store(YIELDED, Ordering::Release);
        self.ahead.store(true, Ordering::Release);
    }

    /// The worker account it belongs to, as it is now: a job at a vendor goes on with a credential that was changed
    /// meanwhile, and with the old one when the account is gone.
    pub(crate) fn backend(&self) -> Arc<dyn Backend> {
        let now = self
            .pool
            .with(&self.name, |member| Arc::clone(&member.backend));
        now.unwrap_or_else(|| Arc::clone(&self.backend))
    }

    /// Puts into a brief what the operator's route to its back end says of the model: its name there, and what it takes.
    pub(crate) fn follow_route(&self, routing: &ModelRouting<'_>, brief: &mut Brief) {
        if routing.routes.is_empty() {
            return;
        }
        self.pool.with(&self.name, |member| {
            if let Some(found) = member.candidate.route(routing) {
                brief.vendor_model.clone_from(&found.route.model);
                brief.unit_cost = found.route.cost;
            }
        });
    }

    /// Keeps what the work needs to begin at once, if that is free; whether it does begin at once.
    pub(crate) fn reserve(&self, whose: &Arc<str>, brief: &Brief) -> bool {
        match self.backend.reserve(whose, brief, self.taken.long) {
            Some(reserved) => self.reserved.set(reserved).is_ok(),
            None => false,
        }
    }

    /// What is kept for the work to begin at once.
    pub(crate) fn reserved(&self) -> Reservation {
        self.reserved.get().cloned().unwrap_or_default()
    }

    /// Its vendor, as metrics name it.
    pub(crate) fn vendor(&self) -> &'static str {
        self.vendor
    }

    /// Whether it is at a caller's own worker account.
    pub(crate) fn custody(&self) -> bool {
        self.custody
    }

    /// The name of the worker account it belongs to.
    pub(crate) fn worker(&self) -> &WorkerName {
        &self.name
    }

    /// What its worker account may be given, on all nodes together.
    fn limits(&self) -> StartLimits {
        let left = usize::from(self.taken.leaves_one);
        let limits = self.pool.with(&self.name, |member| StartLimits {
            concurrency: member.candidate.concurrency.saturating_sub(left).max(1) as i64,
            per_minute: member.candidate.pace.per_minute as i64,
            per_hour: member.candidate.pace.per_hour as i64,
        });
        limits.unwrap_or_default()
    }

    /// The intent to ask its worker account for a job.
    pub(crate) fn intent(&self, job_id: &JobId, fence: i64, now_ms: i64) -> Attempt {
        Attempt {
            id: AttemptId::of(job_id, fence).to_string(),
            job_id: job_id.to_string(),
            fence,
            worker: self.name.to_string(),
            limits: self.limits(),
            now_ms,
        }
    }

    /// Whether attempts here are written down before they begin.
    pub(crate) fn recorded(&self) -> bool {
        self.recorded
    }

    /// Leaves the place to others while the work only waits, or takes it again when it goes on: what it needs then is
    /// bounded by whoever works inside this process, so it is not kept waiting.
    pub(crate) fn step_aside(&self, aside: bool) {
        let (from, to) = if aside {
            (HELD, YIELDED)
        } else {
            (YIELDED, HELD)
        };
        if self.moves(from, to) {
            let count = |member: &mut PoolWorker| {
                if aside {
                    member.leave(self.taken.long);
                } else {
                    member.enter(self.taken.long);
                }
            };
            self.pool.with(&self.name, count);
        }
    }

    /// Leaves a vendor's place to others until the vendor can be asked. Nothing was started yet.
    pub(crate) fn leave(&self) {
        if self.moves(HELD, YIELDED) {
            self.pool.with(&self.name, |member| {
                member.leave(self.taken.long);
                member.candidate.pace.undo();
            });
        }
    }

    /// Takes a vendor's place again as soon as one is free; nobody new gets one before. A vendor's limits are the
    /// vendor's, so it is waited for.
    pub(crate) async fn come_back(&self, now_ms: impl Fn() -> i64) {
        if self.moves(YIELDED, RETURNING) {
            self.pool.with(&self.name, |member| {
                member.enter(self.taken.long);
                member.returning += 1;
            });
        }
        while self.state.load(Ordering::Acquire) == RETURNING {
            let came = self.pool.with(&self.name, |member| {
                let taken = member.candidate.busy.saturating_sub(member.returning);
                let free = taken < member.candidate.concurrency.max(1);
                if free {
                    member.returning = member.returning.saturating_sub(1);
                    member.candidate.pace.push(now_ms());
                    self.state.store(HELD, Ordering::Release);
                }
                free
            });
            // The account is gone: whoever begins finds out.
            if came.is_none() {
                self.state.store(HELD, Ordering::Release);
            }
            if came == Some(false) {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        }
    }

    /// The vendor is about to be asked.
    pub(crate) fn begin(&self) {
        self.began.store(true, Ordering::Release);
    }

    fn moves(&self, from: u8, to: u8) -> bool {
        let (order, other) = (Ordering::AcqRel, Ordering::Acquire);
        let moved = self.state.compare_exchange(from, to, order, other);
        moved.is_ok()
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let began = self.began.load(Ordering::Acquire);
        let (probe, recorded, long) = (self.taken.probe, self.recorded, self.taken.long);
        let state = self.state.load(Ordering::Acquire);
        let ahead = self.ahead.load(Ordering::Acquire);
        self.pool.with(&self.name, |member| {
            if ahead {
                member.candidate.ahead = member.candidate.ahead.saturating_sub(1);
            }
            if state != YIELDED {
                member.leave(long);
            }
            if state == RETURNING {
                member.returning = member.returning.saturating_sub(1);
            }
            // Whoever left a vendor's place took the start back then.
            if !began && (state == HELD || !recorded) {
                member.candidate.pace.undo();
            }
            if probe {
                member.candidate.health.probing = false;
            }
        });
    }
}
