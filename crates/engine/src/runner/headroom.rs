//! Short work beside long work of the same account: what long work leaves of a vendor's slots.

use atelier_store::ShortWork;

use crate::runner::pool::choice::{Headroom, Requirements};
use crate::runner::runner_core::RunnerCore;

/// What the store said of short work of one account, for jobs of it that are placed together within a moment. A store that
/// did not answer is not asked again for each of them either: places are held meanwhile.
#[derive(Default)]
pub(crate) struct ShortSeen {
    known: Vec<(ShortWork, bool)>,
    /// Whether they are placed for a call of the account, which has its share of reads. The loops read for themselves: jobs of
    /// others do not wait for what one account reads besides.
    for_caller: bool,
}

impl ShortSeen {
    /// For jobs that a call of the account brings.
    pub(crate) fn for_caller() -> Self {
        Self {
            for_caller: true,
            ..Self::default()
        }
    }

    fn of(&self, short: &ShortWork) -> Option<bool> {
        // Since when is a moment later for each of them; that only what waits counts is another matter. Its time is no date,
        // also where clocks differ.
        let only_waits = |short: &ShortWork| short.since_ms > i64::MAX / 2;
        let same = |known: &ShortWork| {
            known.operations == short.operations
                && known.lanes == short.lanes
                && only_waits(known) == only_waits(short)
        };
        let mut known = self.known.iter();
        known.find(|(known, _)| same(known)).map(|(_, some)| *some)
    }

    fn note(&mut self, short: ShortWork, some: bool) {
        self.known.push((short, some));
    }
}

/// What a job leaves to short work of its account. The store is asked where the last slot is at stake, and always where other
/// nodes may have begun something that this one does not know of yet.
pub(super) async fn headroom_for(
    core: &RunnerCore,
    requirements: &Requirements<'_>,
    account_id: &str,
    seen: &mut ShortSeen,
) -> Headroom {
    if !requirements.long {
        return Headroom::Nothing;
    }
    let (context, now_ms) = (&core.context, core.context.steady_ms());
    let shared = context.store().is_postgres();
    let Some((headroom, short)) = core.pool.required_headroom(requirements, shared, now_ms) else {
        return Headroom::Nothing;
    };
    let short = ShortWork {
        since_ms: short.since_ms.saturating_add(context.clock().ahead_ms()),
        ..short
    };
    let some = if let Some(some) = seen.of(&short) {
        some
    } else {
        let queue = context.store().queue();
        let found = if seen.for_caller {
            queue
                .caller_has_short_work(account_id, &short, now_ms)
                .await
        } else {
            queue.has_short_work(account_id, &short, now_ms).await
        };
        let some = found.unwrap_or_else(|error| {
            tracing::debug!(%error, "waiting short jobs could not be counted");
            false
        });
        seen.note(short, some);
        some
    };
    if some { headroom } else { Headroom::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(lane: &str, since_ms: i64) -> ShortWork {
        ShortWork {
            operations: vec!["artgen.imagine"],
            lanes: vec![lane.to_owned()],
            since_ms,
        }
    }

    /// The promise: a batch asks once about each kind of short work, and never takes one kind for another.
    #[test]
    fn what_was_said_of_a_kind_of_short_work_holds_for_that_kind() {
        let mut seen = ShortSeen::default();
        assert_eq!(seen.of(&short("any", 1)), None);
        seen.note(short("any", 1), true);
        seen.note(short("own", 1), false);
        assert_eq!(seen.of(&short("any", 2)), Some(true), "a moment later");
        assert_eq!(seen.of(&short("own", 2)), Some(false));
        assert_eq!(seen.of(&short("at", 1)), None);
        assert_eq!(seen.of(&short("any", i64::MAX - 9)), None, "waits");
    }
}
