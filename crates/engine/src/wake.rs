//! In-process hints that something changed. A lost hint costs a second, never a job: every loop also looks by itself.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use atelier_contract::JobId;
use tokio::sync::Notify;

use crate::hint::Hint;

/// The hints of one process.
#[derive(Default)]
pub(crate) struct Wakes {
    /// A job may be waiting.
    pub(crate) work: Notify,
    /// A callback may be due.
    pub(crate) callbacks: Notify,
    /// A back end or worker account may have changed.
    pub(crate) pool: Notify,
    /// Prices may have changed.
    pub(crate) prices: Notify,
    /// What the other nodes are to be told next.
    outbox: Mutex<HashSet<Hint>>,
    watched: Mutex<HashMap<String, Arc<Notify>>>,
}

impl Wakes {
    /// Puts a hint into the outbox; whether it is the first, so that somebody has to empty it.
    pub(crate) fn gather(&self, hint: Hint) -> bool {
        let mut outbox = self.outbox.lock().unwrap_or_else(PoisonError::into_inner);
        outbox.insert(hint) && outbox.len() == 1
    }

    /// Empties the outbox.
    pub(crate) fn gathered(&self) -> Vec<Hint> {
        let mut outbox = self.outbox.lock().unwrap_or_else(PoisonError::into_inner);
        outbox.drain().collect()
    }

    /// Says that a job changed.
    pub(crate) fn job_changed(&self, id: &str) {
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(notify) = watched.get(id) {
            notify.notify_waiters();
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

    fn watch(&self, id: &str) -> Arc<Notify> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.entry(id.to_owned()).or_default().clone()
    }

    fn unwatch(&self, id: &str) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        // The map's own reference and the leaving watcher's: nobody else is left.
        if watched
            .get(id)
            .is_some_and(|notify| Arc::strong_count(notify) <= 2)
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
    wakes: Arc<Wakes>,
    id: String,
    notify: Arc<Notify>,
}

impl Changes {
    pub(crate) fn of_job(wakes: Arc<Wakes>, id: &JobId) -> Self {
        Self::of(wakes, id.to_string())
    }

    pub(crate) fn of_account(wakes: Arc<Wakes>, account_id: &str) -> Self {
        Self::of(wakes, of_account(account_id))
    }

    fn of(wakes: Arc<Wakes>, id: String) -> Self {
        let notify = wakes.watch(&id);
        Self { wakes, id, notify }
    }

    /// Runs `read` until it gives an answer: at once, at every hint, and every `idle` without one.
    pub async fn until<T, F>(&self, idle: Duration, mut read: impl FnMut() -> F) -> T
    where
        F: Future<Output = Option<T>>,
    {
        loop {
            // Register before reading, so that a change between the two is not missed.
            let hint = self.notify.notified();
            tokio::pin!(hint);
            hint.as_mut().enable();
            if let Some(answer) = read().await {
                return answer;
            }
            let _ = tokio::time::timeout(idle, hint).await;
        }
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.wakes.unwatch(&self.id);
    }
}
