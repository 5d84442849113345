//! A worker account in the pool: what the choice sees of it, and what it is built of.

use std::collections::HashSet;
use std::sync::Arc;

use atelier_backends::Backend;
use atelier_backends::backend::LostSubmit;
use atelier_contract::{FAMILIES, Quota};

use crate::meters::EMBEDDED;
use crate::names::WorkerName;
use crate::runner::pool::choice::Candidate;

/// One in so many slots inside this process is there besides, for accounts that have none. A vendor's are as many as the vendor
/// allows.
const SPARE: usize = 8;

/// So many are there besides for short work, as threads are.
const SHORT_SLOTS: usize = 1;

/// Whoever makes the media inside this process, under a name and with so many jobs at once.
#[derive(Clone)]
pub struct EmbeddedWorker {
    /// Its name in attempts and metrics.
    pub name: String,
    /// How many jobs it works on at once.
    pub slots: usize,
    /// Its place in the order of fall-back.
    pub rank: i64,
    /// Whether it serves only what no other back end serves.
    pub last_resort: bool,
    /// The operations it may serve; empty for all it can.
    pub operations: Vec<String>,
    pub backend: Arc<dyn Backend>,
}

/// A worker account and what it is built of.
#[derive(Clone)]
pub(crate) struct PoolWorker {
    pub(crate) candidate: Candidate,
    pub(crate) backend: Arc<dyn Backend>,
    /// Its vendor, as metrics name it.
    pub(crate) vendor: &'static str,
    /// Whether an attempt is written down before it begins; what costs nothing to repeat in this process is not.
    pub(crate) recorded: bool,
    /// The identifier of the worker account, where it is stored.
    pub(crate) worker_id: Option<String>,
    /// What was read to build it.
    pub(crate) revision: (i64, i64),
    pub(crate) polls_per_minute: i64,
    /// Jobs in hand on this node.
    pub(crate) here: usize,
    /// Those of them that wait for a place to come back to.
    pub(crate) returning: usize,
    /// Spent since it was last written down.
    pub(crate) unwritten: Quota,
    pub(crate) changed: bool,
}

impl PoolWorker {
    /// A job takes a place.
    pub(crate) fn enter(&mut self, long: bool) {
        self.here += 1;
        self.candidate.busy += 1;
        self.candidate.long += usize::from(long);
    }

    /// A job leaves its place.
    pub(crate) fn leave(&mut self, long: bool) {
        self.here = self.here.saturating_sub(1);
        self.candidate.busy = self.candidate.busy.saturating_sub(1);
        self.candidate.long = self.candidate.long.saturating_sub(usize::from(long));
    }

    /// What runs inside this process.
    pub(crate) fn inside(worker: EmbeddedWorker) -> Self {
        let allowed = |name: &str| {
            worker.operations.is_empty() || worker.operations.iter().any(|one| covers(one, name))
        };
        let candidate = Candidate {
            backend: worker.name.as_str().into(),
            title: worker.name.clone(),
            rank: worker.rank,
            last_resort: worker.last_resort,
            operations: operations(worker.backend.as_ref(), allowed),
            weight: 1,
            concurrency: worker.slots,
            spare: worker.slots / SPARE,
            beside: SHORT_SLOTS,
            name: WorkerName::inside(&worker.name),
            ..Candidate::default()
        };
        Self {
            recorded: worker.backend.lost_submit() != LostSubmit::Repeat,
            backend: worker.backend,
            vendor: EMBEDDED,
            worker_id: None,
            revision: (0, 0),
            polls_per_minute: 0,
            here: 0,
            returning: 0,
            unwritten: Quota::ZERO,
            changed: false,
            candidate,
        }
    }
}

/// What a back end can do and is allowed to.
pub(crate) fn operations(
    backend: &dyn Backend,
    allowed: impl Fn(&str) -> bool,
) -> HashSet<&'static str> {
    FAMILIES
        .iter()
        .flat_map(|family| family.submits)
        .map(|submit| submit.name)
        .filter(|name| allowed(name) && backend.serves(name))
        .collect()
}

/// Whether an entry of a list of operations covers one: by its name, or by its family.
pub(crate) fn covers(entry: &str, operation: &str) -> bool {
    let of_family =
        || atelier_contract::operation(operation).is_some_and(|(family, _)| family.name == entry);
    entry == operation || of_family()
}
