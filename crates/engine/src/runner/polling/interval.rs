//! How long to wait before a vendor is asked about a job, from how long its jobs usually take.

use std::hash::{Hash as _, Hasher as _};
use std::time::Duration;

use crate::runner::pool::PollStats;

/// No job is asked about more often.
pub(super) const LEAST_MS: i64 = 20;
/// However long jobs take, a result waits no longer than this for the next question, unless the vendor says so.
const MOST_MS: i64 = 15_000;
/// A minute and a quarter: turns that are planned to the last question have a queue before it for ever.
const SHARE_MS: i64 = 75_000;
/// Questions in the usual duration of a job.
const QUESTIONS: i64 = 20;

/// The wait before the first question: half of the shortest job seen lately, at least an interval.
pub(super) fn first_ms(poll_stats: &PollStats) -> i64 {
    let half = poll_stats.shortest_ms.unwrap_or_default() / 2;
    next_ms(Duration::ZERO, poll_stats).max(half)
}

/// The wait before the next question: what the vendor asks for, a twentieth of the usual duration, and long enough
/// for every job of the worker account to get its turn.
pub(super) fn next_ms(pause: Duration, poll_stats: &PollStats) -> i64 {
    let pause = i64::try_from(pause.as_millis()).unwrap_or(MOST_MS);
    let usual = (poll_stats.median_ms.unwrap_or_default() / QUESTIONS).min(MOST_MS);
    let share = if poll_stats.polls_per_minute > 0 {
        poll_stats.in_hand as i64 * SHARE_MS / poll_stats.polls_per_minute
    } else {
        0
    };
    pause.max(usual).max(share).max(LEAST_MS)
}

/// Up to a fifth more or less, so that jobs begun together are not asked about together.
pub(super) fn jittered(wait_ms: i64, id: &str, salt: u64) -> i64 {
    let mut hasher = std::hash::DefaultHasher::new();
    (id, salt).hash(&mut hasher);
    let thousandths = 800 + (hasher.finish() % 401) as i64;
    (wait_ms.saturating_mul(thousandths) / 1_000).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn poll_stats(median_ms: Option<i64>, in_hand: usize) -> PollStats {
        PollStats {
            polls_per_minute: 600,
            in_hand,
            shortest_ms: median_ms,
            median_ms,
        }
    }

    #[test]
    fn the_interval_follows_the_usual_duration_the_vendor_and_the_turns() {
        let pause = Duration::from_secs(1);
        assert_eq!(next_ms(pause, &poll_stats(None, 1)), 1_000);
        assert_eq!(next_ms(pause, &poll_stats(Some(60_000), 1)), 3_000);
        assert_eq!(next_ms(pause, &poll_stats(Some(3_600_000), 1)), MOST_MS);
        assert_eq!(next_ms(pause, &poll_stats(None, 100)), 12_500);
        assert_eq!(first_ms(&poll_stats(Some(60_000), 1)), 30_000);
        assert_eq!(next_ms(Duration::ZERO, &PollStats::default()), LEAST_MS);
    }

    #[test]
    fn jitter_stays_within_a_fifth_and_spreads() {
        let waits: Vec<i64> = (0..1_000).map(|n| jittered(10_000, "job", n)).collect();
        assert!(waits.iter().all(|wait| (8_000..=12_000).contains(wait)));
        let distinct: std::collections::HashSet<_> = waits.iter().collect();
        assert!(distinct.len() > 100, "{}", distinct.len());
    }
}
