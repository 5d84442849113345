//! Turns: so many questions a minute, evenly, with a little saved up for a burst.

use std::collections::HashMap;
use std::hash::Hash;

/// Worker accounts come and go: with so many remembered, those that have nothing to wait for are forgotten.
const REMEMBERED: usize = 1_024;
const MINUTE_MS: i64 = 60_000;
/// Questions saved up while nobody asks are worth this much time.
const SAVED_MS: i64 = 2_000;

/// When a worker account may be asked again, in thousandths of a millisecond.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PollLimiter {
    next_us: i64,
    per_minute: i64,
}

impl PollLimiter {
    /// Takes one question: the time it may be put, now or later. Questions taken later get later times.
    pub(super) fn take(&mut self, per_minute: i64, now_ms: i64) -> i64 {
        if per_minute <= 0 {
            return now_ms;
        }
        if std::mem::replace(&mut self.per_minute, per_minute) != per_minute {
            // What was promised under another limit counts no more.
            self.next_us = self.next_us.min(now_ms * 1_000);
        }
        let step_us = MINUTE_MS * 1_000 / per_minute;
        let turn_us = self.next_us.max((now_ms - SAVED_MS) * 1_000);
        self.next_us = turn_us + step_us.max(1);
        now_ms.max((turn_us + 999).div_euclid(1_000))
    }

    /// Whether all that can be saved up is: forgetting it changes nothing.
    fn is_rested(&self, now_ms: i64) -> bool {
        self.next_us <= (now_ms - SAVED_MS) * 1_000
    }
}

/// The turns of one worker account among those of all.
pub(super) fn limiter_for<'a, K: Clone + Eq + Hash>(
    all: &'a mut HashMap<K, PollLimiter>,
    worker: &K,
    now_ms: i64,
) -> &'a mut PollLimiter {
    if all.len() >= REMEMBERED && !all.contains_key(worker) {
        all.retain(|_, limiter| !limiter.is_rested(now_ms));
    }
    all.entry(worker.clone()).or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_minute_sees_more_questions_than_allowed_and_what_was_saved() {
        let mut limiter = PollLimiter::default();
        let mut times: Vec<i64> = (0..1_000).map(|_| limiter.take(120, 1_000_000)).collect();
        times.sort_unstable();
        for from in &times {
            let within = times
                .iter()
                .filter(|at| (*from..from + MINUTE_MS).contains(at));
            assert!(within.count() <= 120 + 4);
        }
        assert_eq!(times[4], 1_000_000, "two seconds are saved up");
        assert_eq!(times.last(), Some(&(1_000_000 + 995 * 500)));
    }

    #[test]
    fn a_rested_account_is_like_one_that_was_never_asked() {
        let mut limiter = PollLimiter::default();
        limiter.take(120, 1_000_000);
        assert!(!limiter.is_rested(1_000_000));
        assert!(!limiter.is_rested(1_000_400), "half a second for each");
        assert!(limiter.is_rested(1_000_500));
        let mut fresh = PollLimiter::default();
        for _ in 0..10 {
            let (one, other) = (limiter.take(120, 1_000_500), fresh.take(120, 1_000_500));
            assert_eq!(one, other);
        }
    }

    #[test]
    fn accounts_that_came_and_went_are_forgotten() {
        let mut all = HashMap::new();
        for worker in 0..10_000 {
            limiter_for(&mut all, &worker, worker).take(120, worker);
        }
        assert!(all.len() <= REMEMBERED, "{}", all.len());
    }

    #[test]
    fn a_raised_limit_holds_from_now_on() {
        let mut limiter = PollLimiter::default();
        for _ in 0..100 {
            limiter.take(1, 1_000_000);
        }
        assert_eq!(limiter.take(600, 1_000_000), 1_000_000);
        assert_eq!(limiter.take(600, 1_000_000), 1_000_100);
    }

    #[test]
    fn no_limit_is_no_limit() {
        let mut limiter = PollLimiter::default();
        assert!((0..100).all(|_| limiter.take(0, 5) == 5));
    }
}
