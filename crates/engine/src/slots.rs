//! Which back end serves a job: the first in order that can do the operation and has a slot free.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::Backend;
use atelier_backends::backend::LostSubmit;

/// Whoever makes the media, under a name and with so many jobs at once.
#[derive(Clone)]
pub struct Worker {
    /// Its name in attempts and metrics.
    pub name: String,
    /// How many jobs it works on at once.
    pub slots: usize,
    /// The worker account itself.
    pub backend: Arc<dyn Backend>,
}

struct Bench {
    worker: Worker,
    busy: AtomicUsize,
}

/// Every back end with its busy slots.
pub(crate) struct Slots {
    benches: Vec<Arc<Bench>>,
}

/// A slot of a back end, free again when dropped.
pub(crate) struct Slot {
    bench: Arc<Bench>,
}

impl Slot {
    /// The back end it belongs to.
    pub(crate) fn backend(&self) -> &Arc<dyn Backend> {
        &self.bench.worker.backend
    }

    /// The name of the worker it belongs to.
    pub(crate) fn worker(&self) -> &str {
        &self.bench.worker.name
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.bench.busy.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Slots {
    pub(crate) fn new(workers: Vec<Worker>) -> Self {
        let benches = workers
            .into_iter()
            .map(|worker| {
                Arc::new(Bench {
                    worker,
                    busy: AtomicUsize::new(0),
                })
            })
            .collect();
        Self { benches }
    }

    /// Takes a slot for an operation, if one is free.
    pub(crate) fn take(&self, operation: &str) -> Option<Slot> {
        self.benches
            .iter()
            .filter(|bench| bench.worker.backend.serves(operation))
            .find_map(|bench| {
                let most = bench.worker.slots;
                let taken = bench
                    .busy
                    .fetch_update(Ordering::AcqRel, Ordering::Acquire, |busy| {
                        (busy < most).then_some(busy + 1)
                    });
                taken.is_ok().then(|| Slot {
                    bench: bench.clone(),
                })
            })
    }

    /// Takes a slot of a named back end even when it is full: its job is already at the vendor.
    pub(crate) fn take_over(&self, name: &str) -> Option<Slot> {
        let bench = self
            .benches
            .iter()
            .find(|bench| bench.worker.name == name)?;
        bench.busy.fetch_add(1, Ordering::AcqRel);
        Some(Slot {
            bench: bench.clone(),
        })
    }

    /// Whether a lost submit to a named back end must not be repeated.
    pub(crate) fn is_careful(&self, name: &str) -> bool {
        let named = self.benches.iter().find(|bench| bench.worker.name == name);
        named.is_some_and(|bench| bench.worker.backend.lost_submit() == LostSubmit::Unknown)
    }

    /// How many more jobs could start now, over all back ends.
    pub(crate) fn free(&self) -> usize {
        let free = |bench: &Arc<Bench>| {
            bench
                .worker
                .slots
                .saturating_sub(bench.busy.load(Ordering::Acquire))
        };
        self.benches.iter().map(free).sum()
    }

    /// Whether some back end can do an operation at all.
    pub(crate) fn serves(&self, operation: &str) -> bool {
        self.benches
            .iter()
            .any(|bench| bench.worker.backend.serves(operation))
    }

    /// Whether a slot for an operation is free.
    pub(crate) fn has_free(&self, operation: &str) -> bool {
        self.benches.iter().any(|bench| {
            bench.worker.backend.serves(operation)
                && bench.busy.load(Ordering::Acquire) < bench.worker.slots
        })
    }

    /// Name, busy slots and all slots of each back end.
    pub(crate) fn picture(&self) -> Vec<(String, usize, usize)> {
        let one = |bench: &Arc<Bench>| {
            (
                bench.worker.name.clone(),
                bench.busy.load(Ordering::Acquire),
                bench.worker.slots,
            )
        };
        self.benches.iter().map(one).collect()
    }
}
