//! The pool: every worker account this process can give work to, with what it has in hand and how well it is. The
//! choice itself is pure (see [`choice`]); here its snapshot is kept, under one short lock that no wait ever crosses.

pub(crate) mod build;
pub(crate) mod choice;
pub(crate) mod health;
mod instant;
pub(crate) mod leasable_kinds;
pub(crate) mod load;
mod member;
pub(crate) mod pace;
mod prospects;
mod refusal;
pub(crate) mod routes;
pub(crate) mod slot;
mod slot_use;
pub(crate) mod take;
pub(crate) mod view;
pub(crate) mod worker;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use atelier_backends::Backend;
use atelier_backends::backend::LostSubmit;
use atelier_contract::{BackendId, Quota};
use atelier_fairness::share::FairSemaphore;
use atelier_store::{ShortWork, WorkerNote, read_work_kind};

use crate::names::WorkerName;
use crate::runner::length::is_long;
use crate::runner::routing::RoutingConstraint;
use choice::{Candidate, Choice, Headroom, Requirements, choose};
use health::Condition;
use leasable_kinds::{LeasableKinds, RECENT_MS};
use worker::{EmbeddedWorker, PoolWorker};

/// The pool of this process.
pub(crate) struct Pool {
    /// How many jobs accounts have in hand where there are spare slots.
    inside: Arc<FairSemaphore>,
    members: Mutex<Vec<PoolWorker>>,
    strangers: Mutex<Vec<UnusableWorker>>,
}

/// A stored worker account that this node cannot use, such as for want of its master key: another node may.
pub(crate) struct UnusableWorker {
    pub(crate) owner: Option<String>,
    pub(crate) backend: BackendId,
    pub(crate) banned: bool,
}

impl Pool {
    /// A pool of what runs inside this process.
    pub(crate) fn new(workers: Vec<EmbeddedWorker>) -> Arc<Self> {
        let members = workers.into_iter().map(PoolWorker::inside).collect();
        Arc::new(Self {
            inside: FairSemaphore::elastic("jobs inside", u64::MAX),
            members: Mutex::new(members),
            strangers: Mutex::default(),
        })
    }

    pub(crate) fn members(&self) -> MutexGuard<'_, Vec<PoolWorker>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every worker account at a back end.
    pub(crate) fn at(&self, backend_id: &str) -> Vec<Arc<dyn Backend>> {
        let members = self.members();
        let there = members.iter();
        let there = there.filter(|one| one.candidate.name.backend().as_str() == backend_id);
        there.map(|one| Arc::clone(&one.backend)).collect()
    }

    fn with<T>(&self, name: &WorkerName, act: impl FnOnce(&mut PoolWorker) -> T) -> Option<T> {
        let mut members = self.members();
        members
            .iter_mut()
            .find(|member| member.candidate.name == *name)
            .map(act)
    }

    /// What would come of a wish right now.
    pub(crate) fn outlook(&self, requirements: &Requirements<'_>, now_ms: i64) -> Choice {
        let members = self.members();
        choose(
            requirements,
            members.iter().map(|member| &member.candidate),
            now_ms,
        )
    }

    /// Whether anybody would take a wish, now or later.
    pub(crate) fn is_open(&self, requirements: &Requirements<'_>, now_ms: i64) -> bool {
        let members = self.members();
        let candidates = members.iter().map(|member| &member.candidate);
        choice::is_open(requirements, candidates, now_ms)
    }

    /// The names of models that worker accounts list.
    pub(crate) fn listed_models(&self) -> HashSet<String> {
        let members = self.members();
        let listed = members.iter().flat_map(|one| &one.candidate.models);
        listed.cloned().collect()
    }

    /// Other nodes gave a worker account all it may have: until the next look at the store it counts as busy.
    pub(crate) fn mark_full(&self, name: &WorkerName) {
        self.with(name, |member| {
            member.candidate.busy = member.candidate.busy.max(member.candidate.concurrency + 1);
        });
    }

    /// What to do about a submit to a named worker account whose answer was never seen.
    pub(crate) fn lost_submit(&self, name: &WorkerName) -> Option<LostSubmit> {
        self.with(name, |member| member.backend.lost_submit())
    }

    /// The name of the worker in this process whose attempts are not written down.
    pub(crate) fn unrecorded(&self) -> Option<WorkerName> {
        let members = self.members();
        let first = members.iter().find(|member| !member.recorded)?;
        Some(first.candidate.name.clone())
    }

    /// How many more jobs of some kinds of work could start now, over all.
    pub(crate) fn room(&self, kinds: &[String]) -> usize {
        let members = self.members();
        let quick = |kind: &String| {
            let Some((operation, _, lane)) = read_work_kind(kind) else {
                return false;
            };
            let lane = RoutingConstraint::read(lane);
            let quick = |one: &Candidate| one.is_in(lane) && one.quick.is(operation);
            members.iter().any(|member| quick(&member.candidate))
        };
        let all_quick = kinds.iter().all(quick);
        let short = |kind: &String| {
            read_work_kind(kind).is_some_and(|(operation, ..)| !is_long(operation, false))
        };
        let any_short = kinds.is_empty() || kinds.iter().any(short);
        let free = |PoolWorker { candidate, .. }: &PoolWorker| {
            let ahead = if all_quick {
                candidate.quick.ahead()
            } else {
                0
            };
            let slots = candidate.concurrency + candidate.beside_long(any_short);
            slots.saturating_sub(candidate.busy) + ahead.saturating_sub(candidate.ahead)
        };
        members.iter().map(free).sum()
    }

    /// What talks to the vendor of a worker account.
    pub(crate) fn backend(&self, name: &WorkerName) -> Option<Arc<dyn Backend>> {
        self.with(name, |member| Arc::clone(&member.backend))
    }

    /// Whether a worker account of this name belongs to a caller.
    pub(crate) fn owns(&self, owner: &str, name: &WorkerName) -> bool {
        self.with(name, |member| {
            member.candidate.owner.as_deref() == Some(owner)
        })
        .unwrap_or(false)
    }

    /// What is to be hoped for in a lane, unless somebody changes something.
    pub(crate) fn availability(&self, lane: RoutingConstraint<'_>) -> Availability {
        let members = self.members();
        let known = members.iter().filter(|one| one.candidate.is_in(lane));
        let known = known.map(|one| one.candidate.health.condition == Condition::Banned);
        let strangers = self.strangers();
        let strange = strangers.iter().filter(|one| one.is_in(lane));
        let mut banned = known.chain(strange.map(|one| one.banned));
        match banned.next() {
            None => Availability::Unknown,
            Some(first) if first && banned.all(|banned| banned) => Availability::None,
            Some(_) => Availability::Some,
        }
    }

    /// Whether another node may know a back end of a lane that this one cannot use and that was not asked yet.
    pub(crate) fn others_may(&self, lane: RoutingConstraint<'_>, asked: &[BackendId]) -> bool {
        let unasked = |one: &UnusableWorker| one.is_in(lane) && !asked.contains(&one.backend);
        self.strangers().iter().any(unasked)
    }

    /// Takes note of the stored worker accounts that this node cannot use.
    fn replace_strangers(&self, strangers: Vec<UnusableWorker>) {
        *self.strangers() = strangers;
    }

    fn strangers(&self) -> MutexGuard<'_, Vec<UnusableWorker>> {
        let strangers = self.strangers.lock();
        strangers.unwrap_or_else(PoisonError::into_inner)
    }

    /// Of some kinds of work those for which a place is free.
    pub(crate) fn leasable(&self, kinds: Vec<String>, now_ms: i64) -> LeasableKinds {
        let members = self.members();
        let candidates: Vec<&Candidate> = members.iter().map(|one| &one.candidate).collect();
        leasable_kinds::leasable_kinds(kinds, &candidates, now_ms)
    }

    /// The short work that a wish gives way to, and what it leaves if there is some; see [`leasable_kinds::required_headroom`]. With
    /// `always`, also while there is room for both as far as this node knows.
    pub(crate) fn required_headroom(
        &self,
        requirements: &Requirements<'_>,
        always: bool,
        now_ms: i64,
    ) -> Option<(Headroom, ShortWork)> {
        let members = self.members();
        let candidates = || members.iter().map(|one| &one.candidate);
        leasable_kinds::required_headroom(requirements, &candidates(), now_ms).or_else(|| {
            let short = leasable_kinds::short_work(requirements, candidates(), now_ms - RECENT_MS);
            let any = always && requirements.long && !short.operations.is_empty();
            any.then_some((Headroom::OneOfSeveral, short))
        })
    }

    /// What has to be written down since the last time.
    pub(crate) fn notes(&self) -> Vec<WorkerNote> {
        let mut notes = Vec::new();
        for member in self.members().iter_mut() {
            if !std::mem::take(&mut member.changed) {
                continue;
            }
            let spent = std::mem::replace(&mut member.unwritten, Quota::ZERO);
            let Some(id) = member.worker_id.clone() else {
                continue;
            };
            notes.push(WorkerNote {
                id,
                spent,
                health: serde_json::to_string(&member.candidate.health).unwrap_or_default(),
                health_ms: member.candidate.health.changed_ms,
            });
        }
        notes
    }

    /// Puts back notes that could not be written down.
    pub(crate) fn restore_notes(&self, notes: &[WorkerNote]) {
        for member in self.members().iter_mut() {
            let same = |note: &&WorkerNote| Some(&note.id) == member.worker_id.as_ref();
            if let Some(note) = notes.iter().find(same) {
                member.unwritten = member.unwritten + note.spent;
                member.changed = true;
            }
        }
    }

    /// Questions a worker account may be asked in a minute, how many jobs it has here, and how long they take.
    pub(crate) fn poll_stats(&self, name: &WorkerName) -> PollStats {
        self.with(name, |member| {
            let mut durations: Vec<i64> = member.candidate.health.durations().collect();
            durations.sort_unstable();
            PollStats {
                polls_per_minute: member.polls_per_minute,
                in_hand: member.here,
                shortest_ms: durations.first().copied(),
                median_ms: durations.get(durations.len() / 2).copied(),
            }
        })
        .unwrap_or_default()
    }
}

impl UnusableWorker {
    fn is_in(&self, lane: RoutingConstraint<'_>) -> bool {
        lane.admits(self.owner.as_deref(), &self.backend)
    }
}

/// What is to be hoped for in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Availability {
    /// A worker account of it can take a job sooner or later.
    Some,
    /// None of its worker accounts can ever take a job again.
    None,
    /// No worker account of it is stored or works inside this process.
    Unknown,
}

/// What polling goes by at one worker account.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PollStats {
    /// Questions in a minute; 0 for no limit.
    pub(crate) polls_per_minute: i64,
    /// Jobs it has in hand on this node.
    pub(crate) in_hand: usize,
    /// The shortest of the latest durations.
    pub(crate) shortest_ms: Option<i64>,
    pub(crate) median_ms: Option<i64>,
}
