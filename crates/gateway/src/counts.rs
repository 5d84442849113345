//! What the service counts about itself.

use std::sync::atomic::{AtomicU64, Ordering};

use hyper::StatusCode;

/// Answers by the first digit of their status.
#[derive(Default)]
pub(crate) struct Counts {
    answers: [AtomicU64; 5],
}

impl Counts {
    /// Counts an answer.
    pub(crate) fn answered(&self, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).clamp(1, 5);
        self.answers[class - 1].fetch_add(1, Ordering::Relaxed);
    }

    /// First digit and count.
    pub(crate) fn by_class(&self) -> impl Iterator<Item = (usize, u64)> {
        self.answers
            .iter()
            .enumerate()
            .map(|(index, count)| (index + 1, count.load(Ordering::Relaxed)))
    }
}
