//! The jobs this process works on right now: their fences, how far they are, and the switch that stops them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use atelier_backends::backend::Gauge;
use atelier_store::ProgressNote;
use tokio_util::sync::CancellationToken;

struct Piece {
    fence: i64,
    gauge: Gauge,
    written: u8,
    cancelled: CancellationToken,
    /// Nobody wants it any more; a job that another node has is still wanted.
    unwanted: bool,
}

/// The jobs in hand.
#[derive(Default)]
pub(crate) struct Workbench {
    pieces: Mutex<HashMap<String, Piece>>,
}

impl Workbench {
    fn pieces(&self) -> std::sync::MutexGuard<'_, HashMap<String, Piece>> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a job in hand.
    pub(crate) fn put(&self, id: &str, fence: i64, progress: u8) -> (Gauge, CancellationToken) {
        let piece = Piece {
            fence,
            gauge: Gauge::default(),
            written: progress,
            cancelled: CancellationToken::new(),
            unwanted: false,
        };
        piece.gauge.set(progress);
        let handles = (piece.gauge.clone(), piece.cancelled.clone());
        self.pieces().insert(id.to_owned(), piece);
        handles
    }

    /// Puts a job away, unless it has been taken in hand again since.
    pub(crate) fn remove(&self, id: &str, fence: i64) {
        let mut pieces = self.pieces();
        if pieces.get(id).is_some_and(|piece| piece.fence == fence) {
            pieces.remove(id);
        }
    }

    /// Whether a job is in hand.
    pub(crate) fn holds(&self, id: &str) -> bool {
        self.pieces().contains_key(id)
    }

    /// Tells whoever works on a job to stop, because nobody wants it any more.
    pub(crate) fn cancel(&self, id: &str) {
        if let Some(piece) = self.pieces().get_mut(id) {
            piece.unwanted = true;
            piece.cancelled.cancel();
        }
    }

    /// Tells whoever works on a job by this fence to stop, because another one has it.
    pub(crate) fn lose(&self, id: &str, fence: i64) {
        if let Some(piece) = self.pieces().get(id).filter(|piece| piece.fence == fence) {
            piece.cancelled.cancel();
        }
    }

    /// Whether a stopped job is wanted by nobody.
    pub(crate) fn is_unwanted(&self, id: &str, fence: i64) -> bool {
        self.pieces()
            .get(id)
            .is_some_and(|piece| piece.fence == fence && piece.unwanted)
    }

    /// How far a job in hand is, if it is in hand.
    pub(crate) fn progress(&self, id: &str) -> Option<u8> {
        self.pieces().get(id).map(|piece| piece.gauge.get())
    }

    /// The jobs in hand.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.pieces().keys().cloned().collect()
    }

    /// The jobs in hand, each with its fence.
    pub(crate) fn held(&self) -> Vec<(String, i64)> {
        let pieces = self.pieces();
        let held = pieces.iter().map(|(id, piece)| (id.clone(), piece.fence));
        held.collect()
    }

    /// The progress that has not been written down yet.
    pub(crate) fn unwritten(&self) -> Vec<ProgressNote> {
        let mut notes = Vec::new();
        for (id, piece) in self.pieces().iter_mut() {
            let now = piece.gauge.get();
            if now > piece.written {
                piece.written = now;
                notes.push(ProgressNote {
                    job_id: id.clone(),
                    fence: piece.fence,
                    progress: i64::from(now),
                });
            }
        }
        notes
    }
}
