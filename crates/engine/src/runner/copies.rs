//! Copies of jobs that ended, for back ends that are rehearsed: which jobs they get, and those that wait. Nobody who settles waits for
//! anything here.

use std::collections::VecDeque;
use std::collections::hash_map::{Entry, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use atelier_contract::FaultKind;
use atelier_contract::models::share_hash;
use atelier_contract::pages::rehearsal::RehearsalMissed;
use atelier_store::{BackendRow, Cost, JobRow};
use tokio::sync::Notify;

use crate::runner::pool::load::covers;

/// Copies that wait, of all back ends together.
const WAITING_MOST: usize = 256;

/// A back end that is rehearsed.
struct CopyTarget {
    backend_id: String,
    share: f64,
    operations: Vec<String>,
}

/// A job that ended, for a back end that is rehearsed.
pub(crate) struct JobCopy {
    pub(crate) backend_id: String,
    pub(crate) row: JobRow,
    /// What its own vendor took for it.
    pub(crate) cost: Option<Cost>,
}

/// Why a copy was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyMiss {
    Waiting,
    NoAccount,
    NoCost,
    CapSpent,
    Slow,
    NoInputs,
}

/// What waits to be copied.
#[derive(Default)]
pub(crate) struct CopyQueue {
    /// Whether any back end is rehearsed: every job that ends asks.
    any: AtomicBool,
    targets: Mutex<Vec<CopyTarget>>,
    waiting: Mutex<VecDeque<JobCopy>>,
    missed: Mutex<HashMap<String, RehearsalMissed>>,
    /// Something waits.
    pub(crate) hint: Notify,
}

impl CopyQueue {
    /// Takes over the back ends as they are stored now.
    pub(crate) fn follow<'a>(&self, backends: impl Iterator<Item = &'a BackendRow>) {
        let rehearsed = backends.filter(|row| row.owner.is_none() && row.in_use());
        let targets: Vec<CopyTarget> = rehearsed
            .filter_map(|row| {
                Some(CopyTarget {
                    backend_id: row.id.clone(),
                    share: row.spec.shadow.as_ref()?.share.get(),
                    operations: row.spec.operations.clone(),
                })
            })
            .collect();
        self.any.store(!targets.is_empty(), Ordering::Relaxed);
        *locked(&self.targets) = targets;
    }

    /// Whether any back end is rehearsed.
    pub(crate) fn is_on(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Takes a copy of a job that ended, for each back end whose share it falls into. Follow-ups stay with whoever made what they follow,
    /// and what runs on callers' own accounts is nobody else's.
    pub(crate) fn offer(&self, row: &JobRow, cost: Option<&Cost>) {
        if !self.is_on() {
            return;
        }
        let follows = row.parent_id.is_some() || row.follows.is_some() || !row.lane.is_empty();
        if follows || row.fault == Some(FaultKind::Cancelled) {
            return;
        }
        for target in &*locked(&self.targets) {
            if !target.takes(row) {
                continue;
            }
            let mut waiting = locked(&self.waiting);
            if waiting.len() >= WAITING_MOST {
                drop(waiting);
                self.miss(&target.backend_id, CopyMiss::Waiting);
                continue;
            }
            waiting.push_back(JobCopy {
                backend_id: target.backend_id.clone(),
                row: row.clone(),
                cost: cost.cloned(),
            });
            drop(waiting);
            self.hint.notify_one();
        }
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        locked(&self.waiting).is_empty()
    }

    /// The copy that has waited longest.
    pub(crate) fn take(&self) -> Option<JobCopy> {
        locked(&self.waiting).pop_front()
    }

    /// Counts a copy that was not made.
    pub(crate) fn miss(&self, backend_id: &str, why: CopyMiss) {
        let mut missed = locked(&self.missed);
        let missed = match missed.entry(backend_id.to_owned()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(RehearsalMissed::default()),
        };
        let count = match why {
            CopyMiss::Waiting => &mut missed.waiting,
            CopyMiss::NoAccount => &mut missed.no_account,
            CopyMiss::NoCost => &mut missed.no_cost,
            CopyMiss::CapSpent => &mut missed.cap_spent,
            CopyMiss::Slow => &mut missed.slow,
            CopyMiss::NoInputs => &mut missed.no_inputs,
        };
        *count += 1;
    }

    /// The copies of a back end that were not made.
    pub(crate) fn missed(&self, backend_id: &str) -> RehearsalMissed {
        let missed = locked(&self.missed);
        missed.get(backend_id).copied().unwrap_or_default()
    }

    /// Forgets them.
    pub(crate) fn forget(&self, backend_id: &str) {
        locked(&self.missed).remove(backend_id);
    }
}

impl CopyTarget {
    /// Whether a job falls into its share: by its identifier, so that no two back ends get the same jobs and every node says the same.
    fn takes(&self, row: &JobRow) -> bool {
        let may = self.operations.is_empty()
            || self
                .operations
                .iter()
                .any(|one| covers(one, &row.operation));
        let place = share_hash(&[&row.id, &self.backend_id]) as f64 / u64::MAX as f64;
        may && place < self.share
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
