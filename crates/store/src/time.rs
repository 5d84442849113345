//! The clock that nodes agree on: that of the database they share. It is read with every transaction and kept going by
//! this machine's monotonic clock, so that asking costs nothing and a wrong wall clock changes nothing.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// A reading that took longer is believed only if there is no better one.
const QUICK: Duration = Duration::from_millis(100);
/// A reading this old is replaced by any newer one.
const OLD: Duration = Duration::from_secs(30);
/// Time stands still rather than going back by less than this; by more, the database's clock was set.
const STILL_MS: i64 = 2_000;

/// The time by the database's clock.
#[derive(Debug, Default)]
pub(crate) struct SharedTime(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    reading: Option<Reading>,
    told_ms: i64,
}

#[derive(Clone, Copy, Debug)]
struct Reading {
    database_ms: i64,
    at: Instant,
    took: Duration,
}

impl SharedTime {
    /// Takes a reading that was asked for at a moment and is here now.
    pub(crate) fn note(&self, database_ms: i64, asked: Instant) {
        self.note_at(database_ms, asked, Instant::now());
    }

    /// Milliseconds since 1970, once the clock has been read.
    pub(crate) fn now_ms(&self) -> Option<i64> {
        self.at(Instant::now())
    }

    fn note_at(&self, database_ms: i64, asked: Instant, now: Instant) {
        let took = now - asked;
        let new = Reading {
            database_ms,
            // The clock was read somewhere between; the middle is wrong by half of that at most.
            at: asked + took / 2,
            took,
        };
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let better = state
            .reading
            .is_none_or(|old| took < QUICK || took <= old.took || now - old.at > OLD);
        if better {
            state.reading = Some(new);
        }
    }

    fn at(&self, now: Instant) -> Option<i64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let reading = state.reading?;
        let since = i64::try_from((now - reading.at).as_millis()).unwrap_or(i64::MAX);
        let now_ms = reading.database_ms.saturating_add(since);
        let back_ms = state.told_ms - now_ms;
        if !(0..STILL_MS).contains(&back_ms) {
            state.told_ms = now_ms;
        }
        Some(state.told_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_between_readings_and_never_a_little_back() {
        let (time, start) = (SharedTime::default(), Instant::now());
        let after = |ms| start + Duration::from_millis(ms);
        assert_eq!(time.at(start), None);
        time.note_at(1_000_000, start, start);
        assert_eq!(time.at(after(250)), Some(1_000_250));
        time.note_at(1_000_100, after(250), after(250));
        assert_eq!(time.at(after(250)), Some(1_000_250), "it stands still");
        assert_eq!(time.at(after(450)), Some(1_000_300));
        time.note_at(500_000, after(500), after(500));
        assert_eq!(
            time.at(after(500)),
            Some(500_000),
            "the database's clock was set"
        );
    }

    #[test]
    fn a_slow_reading_does_not_replace_a_quick_one() {
        let (time, start) = (SharedTime::default(), Instant::now());
        let after = |ms| start + Duration::from_millis(ms);
        time.note_at(1_000_000, start, start);
        time.note_at(1_000_100, start, after(4_000));
        assert_eq!(time.at(after(4_000)), Some(1_004_000));
        time.note_at(1_031_000, after(33_000), after(37_000));
        assert_eq!(
            time.at(after(37_000)),
            Some(1_033_000),
            "better than none for long"
        );
    }
}
