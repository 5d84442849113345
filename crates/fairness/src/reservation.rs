//! A thread that is kept for a piece of work from its acceptance until it begins.

use std::sync::{Arc, Mutex, PoisonError};

use crate::share::FairPermit;

/// What is kept for a piece of work that begins at once: its thread, or nothing where it needs none.
#[derive(Clone, Default)]
pub struct Reservation(Option<Arc<Mutex<Option<FairPermit>>>>);

impl Reservation {
    /// Keeps a thread.
    pub fn thread(part: FairPermit) -> Self {
        Self(Some(Arc::new(Mutex::new(Some(part)))))
    }

    /// The thread, for whoever asks first.
    pub fn take(&self) -> Option<FairPermit> {
        let kept = self.0.as_ref()?;
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.take()
    }
}
