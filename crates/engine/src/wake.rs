//! In-process hints that something changed. A lost hint costs a second, never a job: every loop also looks by itself.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use atelier_contract::JobId;
use atelier_store::JobRow;
use tokio::sync::Notify;

use crate::hint::Hint;

/// The hints of one process.
#[derive(Default)]
pub(crate) struct Wakeups {
    /// A job may be waiting.
    pub(crate) work: Notify,
    /// A callback may be due.
    pub(crate) callbacks: Notify,
    /// A back end or worker account may have changed.
    pub(crate) pool: Notify,
    /// Prices or models may have changed.
    pub(crate) prices: Notify,
    /// What the other nodes are to be told next.
    outbox: Mutex<HashSet<Hint>>,
    watched: Mutex<HashMap<String, Arc<JobWatch>>>,
}

/// What those share who wait for the same job.
#[derive(Default)]
struct JobWatch {
    notify: Notify,
    /// How it ended, once it has: who ends a job here saves those who wait here a look.
    ended: OnceLock<JobRow>,
}

impl Wakeups {
    /// Puts a hint into the outbox; whether it is the first, so that somebody has to empty it.
    pub(crate) fn queue_hint(&self, hint: Hint) -> bool {
        let mut outbox = self.outbox.lock().unwrap_or_else(PoisonError::into_inner);
        outbox.insert(hint) && outbox.len() == 1
    }

    /// Empties the outbox.
    pub(crate) fn drain_hints(&self) -> Vec<Hint> {
        let mut outbox = self.outbox.lock().unwrap_or_else(PoisonError::into_inner);
        outbox.drain().collect()
    }

    /// Says that a job changed.
    pub(crate) fn job_changed(&self, id: &str) {
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(one) = watched.get(id) {
            one.notify.notify_waiters();
        }
    }

    /// Leaves a job that has ended to those who wait for it; they are still to be told.
    pub(crate) fn job_ended(&self, row: &JobRow) {
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = watched.get(&row.id).cloned();
        drop(watched);
        if let Some(waiting) = waiting {
            let _ = waiting.ended.set(row.clone());
        }
    }

    /// Whether somebody here waits for changes of a job.
    pub(crate) fn is_watched(&self, id: &str) -> bool {
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.contains_key(id)
    }

    /// Says that a job of an account changed.
    pub(crate) fn account_changed(&self, account_id: &str) {
        self.job_changed(&of_account(account_id));
    }

    fn watch(&self, id: &str) -> Arc<JobWatch> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.entry(id.to_owned()).or_default().clone()
    }

    fn unwatch(&self, id: &str) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        // The map's own reference and the leaving watcher's: nobody else is left.
        if watched
            .get(id)
            .is_some_and(|one| Arc::strong_count(one) <= 2)
        {
            watched.remove(id);
        }
    }
}

/// The name under which all jobs of an account are watched; no job has it.
fn of_account(account_id: &str) -> String {
    format!("account {account_id}")
}

/// Waits for changes of one job, or of an account's.
pub struct Changes {
    wakes: Arc<Wakeups>,
    id: String,
    watched: Arc<JobWatch>,
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Changes").field(&self.id).finish()
    }
}

impl Changes {
    pub(crate) fn of_job(wakes: Arc<Wakeups>, id: &JobId) -> Self {
        Self::of(wakes, id.to_string())
    }

    pub(crate) fn of_account(wakes: Arc<Wakeups>, account_id: &str) -> Self {
        Self::of(wakes, of_account(account_id))
    }

    fn of(wakes: Arc<Wakeups>, id: String) -> Self {
        let watched = wakes.watch(&id);
        Self { wakes, id, watched }
    }

    /// The job as it ended, if it ended here while it was watched.
    pub(crate) fn ended(&self) -> Option<&JobRow> {
        self.watched.ended.get()
    }

    /// Runs `read` until it gives an answer: at once, at every hint, and every `idle` without one.
    pub async fn until<T, F>(&self, idle: Duration, mut read: impl FnMut() -> F) -> T
    where
        F: Future<Output = Option<T>>,
    {
        self.until_hinted(idle, |_| read()).await
    }

    /// The same; what reads is told whether there is a reason to, which is a hint or that it is the first time.
    pub async fn until_hinted<T, F>(&self, idle: Duration, mut read: impl FnMut(bool) -> F) -> T
    where
        F: Future<Output = Option<T>>,
    {
        let mut hinted = true;
        loop {
            // Register before reading, so that a change between the two is not missed.
            let hint = self.watched.notify.notified();
            tokio::pin!(hint);
            hint.as_mut().enable();
            if let Some(answer) = read(hinted).await {
                return answer;
            }
            hinted = tokio::time::timeout(idle, hint).await.is_ok();
        }
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.wakes.unwatch(&self.id);
    }
}
