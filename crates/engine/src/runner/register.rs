//! The jobs this process works on right now: their fences, how far they are, and the switch that stops them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use atelier_backends::backend::ProgressTracker;
use atelier_store::ProgressNote;
use tokio_util::sync::CancellationToken;

/// What whoever works on a job shares with whoever asks about it.
pub(crate) struct Signals {
    fence: i64,
    /// How far it is.
    pub(crate) progress: ProgressTracker,
    /// Set when the work is to stop.
    pub(crate) stop: CancellationToken,
    /// The progress that is written down.
    written: AtomicU8,
    /// Whether it is written down that somebody works on it.
    marked: AtomicBool,
    /// Nobody wants it any more; a job that another node has is still wanted.
    unwanted: AtomicBool,
    /// A call is out that costs and that nobody can find again.
    paid: AtomicBool,
    /// Until when the job is this node's, as far as it knows.
    lease_until_ms: AtomicI64,
}

impl Signals {
    /// Whether a stopped job is wanted by nobody.
    pub(crate) fn is_unwanted(&self) -> bool {
        self.unwanted.load(Ordering::Acquire)
    }

    /// It is written down that somebody works on it.
    pub(crate) fn set_marked(&self) {
        self.progress.begin();
        self.marked.store(true, Ordering::Release);
    }

    /// When somebody began to work on it.
    pub(crate) fn began_ms(&self, now_ms: i64) -> Option<i64> {
        let ago = self.progress.begun()?;
        Some(now_ms - i64::try_from(ago.as_millis()).unwrap_or(0))
    }

    /// Whether the job is certainly this node's at a time.
    pub(crate) fn is_ours(&self, now_ms: i64) -> bool {
        now_ms < self.lease_until_ms.load(Ordering::Acquire)
    }

    /// Whether a call is out that costs and that nobody can find again: a stop waits for it.
    pub(crate) fn is_paid(&self) -> bool {
        self.paid.load(Ordering::Acquire)
    }

    /// Says so, or that it is over.
    pub(crate) fn set_paid(&self, paid: bool) {
        self.paid.store(paid, Ordering::Release);
    }
}

/// The jobs in hand.
#[derive(Default)]
pub(crate) struct Register {
    jobs: Mutex<HashMap<String, Arc<Signals>>>,
}

impl Register {
    fn jobs(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Signals>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a job in hand.
    pub(crate) fn enter(
        &self,
        id: &str,
        fence: i64,
        lease_until_ms: i64,
        progress: u8,
    ) -> Arc<Signals> {
        let signals = Arc::new(Signals {
            fence,
            progress: ProgressTracker::default(),
            stop: CancellationToken::new(),
            written: AtomicU8::new(progress),
            marked: AtomicBool::new(false),
            unwanted: AtomicBool::new(false),
            paid: AtomicBool::new(false),
            lease_until_ms: AtomicI64::new(lease_until_ms),
        });
        signals.progress.set(progress);
        self.jobs().insert(id.to_owned(), signals.clone());
        signals
    }

    /// Puts a job away, unless it has been taken in hand again since.
    pub(crate) fn leave(&self, id: &str, fence: i64) {
        let mut jobs = self.jobs();
        if jobs.get(id).is_some_and(|job| job.fence == fence) {
            jobs.remove(id);
        }
    }

    /// Whether a job is in hand.
    pub(crate) fn holds(&self, id: &str) -> bool {
        self.jobs().contains_key(id)
    }

    /// Tells whoever works on a job to stop, because nobody wants it any more.
    pub(crate) fn cancel(&self, id: &str) {
        if let Some(job) = self.jobs().get(id) {
            job.unwanted.store(true, Ordering::Release);
            job.stop.cancel();
        }
    }

    /// Tells whoever works on a job by this fence to stop, because another one has it.
    pub(crate) fn lose(&self, id: &str, fence: i64) {
        if let Some(job) = self.jobs().get(id).filter(|job| job.fence == fence) {
            job.stop.cancel();
        }
    }

    /// Some jobs are this node's for longer.
    pub(crate) fn renewed<'a>(&self, ids: impl IntoIterator<Item = &'a String>, until_ms: i64) {
        let jobs = self.jobs();
        for job in ids.into_iter().filter_map(|id| jobs.get(id)) {
            job.lease_until_ms.fetch_max(until_ms, Ordering::AcqRel);
        }
    }

    /// How far a job in hand is, if it is in hand.
    pub(crate) fn progress(&self, id: &str) -> Option<u8> {
        self.jobs().get(id).map(|job| job.progress.get())
    }

    /// The jobs in hand.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.jobs().keys().cloned().collect()
    }

    /// The jobs in hand, each with its fence.
    pub(crate) fn leases(&self) -> Vec<(String, i64)> {
        let jobs = self.jobs();
        let held = jobs.iter().map(|(id, job)| (id.clone(), job.fence));
        held.collect()
    }

    /// The jobs with a call out that costs and that nobody can find again, each with its fence.
    pub(crate) fn paid(&self) -> Vec<(String, i64)> {
        let jobs = self.jobs();
        let paid = jobs.iter().filter(|(_, job)| job.is_paid());
        paid.map(|(id, job)| (id.clone(), job.fence)).collect()
    }

    /// What has not been written down yet: that somebody works on a job, and how far it is.
    pub(crate) fn unwritten(&self, now_ms: i64) -> Vec<ProgressNote> {
        let mut notes = Vec::new();
        for (id, job) in self.jobs().iter() {
            let now = job.progress.get();
            let further = now > job.written.fetch_max(now, Ordering::Relaxed);
            let began_ms = job.began_ms(now_ms);
            let began_ms = began_ms.filter(|_| !job.marked.swap(true, Ordering::AcqRel));
            if further || began_ms.is_some() {
                notes.push(ProgressNote {
                    job_id: id.clone(),
                    fence: job.fence,
                    progress: i64::from(now),
                    began_ms,
                });
            }
        }
        notes
    }

    /// Has what could not be written down written down later.
    pub(crate) fn mark_unwritten(&self, notes: &[ProgressNote]) {
        let jobs = self.jobs();
        for note in notes {
            let same = |job: &&Arc<Signals>| job.fence == note.fence;
            if let Some(job) = jobs.get(&note.job_id).filter(same) {
                job.written.store(0, Ordering::Relaxed);
                if note.began_ms.is_some() {
                    job.marked.store(false, Ordering::Release);
                }
            }
        }
    }
}
