//! Giving a job back to the queue, with the reason and whether it counts as a try.

use atelier_store::{REJECTED, RequeueRequest, UNABLE};

use crate::context::Context;
use crate::runner::job::LeasedJob;

/// The state of an attempt that nobody will ever hear of again, or that was never made.
const LOST: &str = "lost";

/// Why a job goes back.
pub(super) struct RequeueReason {
    words: String,
    state: &'static str,
    counts: bool,
}

impl RequeueReason {
    /// No place was free: the lease is no try.
    pub(super) fn no_slot() -> Self {
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
pub(super) async fn requeue(
    context: &Context,
    leased: &LeasedJob,
    not_before_ms: i64,
    why: RequeueReason,
) -> Result<(), atelier_store::Error> {
    let requeue = RequeueRequest {
        job_id: leased.id.to_string(),
        fence: leased.fence,
        not_before_ms,
        why: why.words,
        now_ms: context.now_ms(),
        attempt_state: why.state,
        counts: why.counts,
    };
    context
        .store()
        .attempts()
        .requeue(requeue)
        .await
        .map(|_| ())
}
