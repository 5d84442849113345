//! The clock of the database that nodes share. It is read with every transaction and kept going by this machine's count of
//! time, so that asking costs nothing and this machine's wall clock changes nothing.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A reading that took longer is believed only if there is no better one.
const QUICK_MS: i64 = 100;
/// A reading this old is replaced by any newer one.
const OLD_MS: i64 = 30_000;
/// The clock has not been read yet.
const UNREAD: i64 = i64::MIN;

/// Milliseconds since this machine was switched on, those included in which it slept. Nobody can set it.
pub fn boot_ms() -> i64 {
    #[cfg(target_os = "linux")]
    const COUNT: rustix::time::ClockId = rustix::time::ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    const COUNT: rustix::time::ClockId = rustix::time::ClockId::Monotonic;
    let passed = rustix::time::clock_gettime(COUNT);
    passed.tv_sec * 1_000 + passed.tv_nsec / 1_000_000
}

/// The time by the database's clock.
#[derive(Debug)]
pub(crate) struct DatabaseClock {
    /// How far it is ahead of this machine's count.
    ahead_ms: AtomicI64,
    /// When it was read, and how long that took.
    reading: Mutex<(i64, i64)>,
}

impl Default for DatabaseClock {
    fn default() -> Self {
        Self {
            ahead_ms: AtomicI64::new(UNREAD),
            reading: Mutex::default(),
        }
    }
}

impl DatabaseClock {
    /// Takes a reading that was asked for at a moment of [`boot_ms`] and is here now.
    pub(crate) fn note(&self, database_ms: i64, asked_ms: i64) {
        self.note_at(database_ms, asked_ms, boot_ms());
    }

    /// Milliseconds since 1970, once the clock has been read.
    pub(crate) fn now_ms(&self) -> Option<i64> {
        self.at(boot_ms())
    }

    fn note_at(&self, database_ms: i64, asked_ms: i64, now_ms: i64) {
        let took_ms = now_ms - asked_ms;
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let (read_ms, old_ms) = *reading;
        let first = self.ahead_ms.load(Ordering::Relaxed) == UNREAD;
        if first || took_ms < QUICK_MS || took_ms <= old_ms || now_ms - read_ms > OLD_MS {
            // The clock was read somewhere between; the middle is wrong by half of that at most.
            let ahead_ms = database_ms - (asked_ms + took_ms / 2);
            self.ahead_ms.store(ahead_ms, Ordering::Relaxed);
            *reading = (now_ms, took_ms);
        }
    }

    fn at(&self, now_ms: i64) -> Option<i64> {
        let ahead_ms = self.ahead_ms.load(Ordering::Relaxed);
        (ahead_ms != UNREAD).then(|| now_ms + ahead_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_between_readings() {
        let time = DatabaseClock::default();
        assert_eq!(time.at(0), None);
        time.note_at(1_000_000, 5_000, 5_000);
        assert_eq!(time.at(5_250), Some(1_000_250));
        time.note_at(500_000, 5_500, 5_500);
        assert_eq!(time.at(5_600), Some(500_100), "its clock was set");
    }

    #[test]
    fn a_slow_reading_does_not_replace_a_quick_one() {
        let time = DatabaseClock::default();
        time.note_at(1_000_000, 0, 0);
        time.note_at(1_000_100, 0, 4_000);
        assert_eq!(time.at(4_000), Some(1_004_000));
        time.note_at(1_031_000, 33_000, 37_000);
        assert_eq!(
            time.at(37_000),
            Some(1_033_000),
            "better than none for long"
        );
    }
}
