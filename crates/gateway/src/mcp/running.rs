//! The calls of agents that wait on this node, so that one that is no longer wanted can be ended.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use atelier_contract::JobId;

/// The jobs of calls that wait, by the names of the calls.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<Mutex<HashMap<String, JobId>>>);

impl Running {
    /// Remembers a call until what is given back goes.
    pub(super) fn remember(&self, name: String, job: JobId) -> Remembered {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.insert(name.clone(), job);
        Remembered {
            running: self.clone(),
            name,
        }
    }

    /// The job of a call.
    pub(super) fn job_of(&self, name: &str) -> Option<JobId> {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.get(name).cloned()
    }
}

/// A call that waits.
pub(super) struct Remembered {
    running: Running,
    name: String,
}

impl Drop for Remembered {
    fn drop(&mut self) {
        let mut calls = self
            .running
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        calls.remove(&self.name);
    }
}
