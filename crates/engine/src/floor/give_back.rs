//! Giving a job back to the queue, with the reason and whether it counts as a try.

use atelier_store::{REJECTED, Requeue, UNABLE};

use crate::floor::job::Leased;
use crate::house::House;

/// The state of an attempt that nobody will ever hear of again, or that was never made.
const LOST: &str = "lost";

/// Why a job goes back.
pub(super) struct Why {
    words: String,
    state: &'static str,
    counts: bool,
}

impl Why {
    /// No place was free: the lease is no try.
    pub(super) fn no_place() -> Self {
        Self {
            words: "no place was free".into(),
            state: LOST,
            counts: false,
        }
    }

    /// Whoever had it is gone.
    pub(super) fn lost(words: &str) -> Self {
        Self {
            words: words.to_owned(),
            state: LOST,
            counts: true,
        }
    }

    /// It failed, and may be tried again by anybody.
    pub(super) fn failed(words: String, counts: bool) -> Self {
        Self {
            words,
            state: REJECTED,
            counts,
        }
    }

    /// The back end cannot do it: another one gets it.
    pub(super) fn unable(words: String) -> Self {
        Self {
            words,
            state: UNABLE,
            counts: false,
        }
    }
}

/// Gives a job back to the queue, not to be leased before a time.
pub(super) async fn give_back(
    house: &House,
    leased: &Leased,
    not_before_ms: i64,
    why: Why,
) -> Result<(), atelier_store::Error> {
    let requeue = Requeue {
        job_id: leased.id.to_string(),
        fence: leased.fence,
        not_before_ms,
        why: why.words,
        now_ms: house.now_ms(),
        attempt_state: why.state,
        counts: why.counts,
    };
    house.store.requeue(requeue).await.map(|_| ())
}
