//! Pacing: the starts of the last hour, so that a worker account never sees more than it may in any minute or hour.

use std::collections::VecDeque;

const MINUTE_MS: i64 = 60_000;
/// Starts older than this pace nothing any more.
pub(crate) const HOUR_MS: i64 = 60 * MINUTE_MS;

/// When a worker account was given work lately, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pace {
    /// Starts in any minute; 0 for no limit.
    pub(crate) per_minute: usize,
    /// Starts in any hour; 0 for no limit.
    pub(crate) per_hour: usize,
    starts: VecDeque<i64>,
}

impl Pace {
    pub(crate) fn new(per_minute: usize, per_hour: usize) -> Self {
        Self {
            per_minute,
            per_hour,
            starts: VecDeque::new(),
        }
    }

    /// When the next start is due, at the earliest.
    pub(crate) fn next_ms(&self, now_ms: i64) -> i64 {
        let after = |limit: usize, span_ms: i64| {
            let nth = (limit > 0)
                .then(|| self.starts.len().checked_sub(limit))
                .flatten();
            nth.map_or(now_ms, |place| now_ms.max(self.starts[place] + span_ms))
        };
        after(self.per_minute, MINUTE_MS).max(after(self.per_hour, HOUR_MS))
    }

    /// A start is made.
    pub(crate) fn push(&mut self, now_ms: i64) {
        if self.per_minute == 0 && self.per_hour == 0 {
            return;
        }
        while self
            .starts
            .front()
            .is_some_and(|first| *first <= now_ms - HOUR_MS)
        {
            self.starts.pop_front();
        }
        self.starts.push_back(now_ms);
    }

    /// The latest start was not made after all.
    pub(crate) fn undo(&mut self) {
        self.starts.pop_back();
    }

    /// Takes over what the store knows of the last hour.
    pub(crate) fn remember(&mut self, starts: impl Iterator<Item = i64>) {
        self.starts = starts.collect();
    }

    /// Keeps the starts under new limits.
    pub(crate) fn limit(&mut self, per_minute: usize, per_hour: usize) {
        self.per_minute = per_minute;
        self.per_hour = per_hour;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_minute_and_no_hour_sees_more_starts_than_allowed() {
        let mut pace = Pace::new(3, 10);
        let (mut now, mut starts) = (0, Vec::new());
        while starts.len() < 50 {
            now = pace.next_ms(now);
            pace.push(now);
            starts.push(now);
            now += 1;
        }
        for (span, limit) in [(MINUTE_MS, 3), (HOUR_MS, 10)] {
            for from in &starts {
                let within = starts.iter().filter(|at| (*from..from + span).contains(at));
                assert!(within.count() <= limit, "{limit} in {span} ms from {from}");
            }
        }
    }

    #[test]
    fn a_restart_remembers_and_an_undone_start_does_not_count() {
        let mut pace = Pace::new(1, 0);
        pace.remember([1_000].into_iter());
        assert_eq!(pace.next_ms(2_000), 61_000);
        pace.undo();
        assert_eq!(pace.next_ms(2_000), 2_000);
        let free = Pace::new(0, 0);
        assert_eq!(free.next_ms(5), 5);
    }
}
