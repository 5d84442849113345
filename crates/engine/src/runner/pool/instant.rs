//! Work that takes no time, as telling a seed inside this process: it needs no place, which it would hold longer for being
//! written down than for being worked on.

use std::collections::HashMap;

/// Jobs of such work that may be in hand besides those that have places.
pub(crate) const INSTANT_JOBS_MOST: usize = 256;
/// Work of an operation is quick when it took no longer,
const QUICK_MS: i64 = 10;
/// so many times in a row.
const QUICK_RUNS: u8 = 8;

/// How often in a row work of each operation was quick.
#[derive(Clone, Debug, Default)]
pub(crate) struct InstantOperations(HashMap<&'static str, u8>);

impl InstantOperations {
    /// Takes note of how long a piece of work took.
    pub(crate) fn took(&mut self, operation: &'static str, took_ms: i64) {
        let times = self.0.entry(operation).or_default();
        *times = if took_ms <= QUICK_MS {
            QUICK_RUNS.min(*times + 1)
        } else {
            0
        };
    }

    /// Whether work of an operation is known to be quick.
    pub(crate) fn is(&self, operation: &str) -> bool {
        self.0.get(operation) == Some(&QUICK_RUNS)
    }

    /// How many jobs may be in hand besides, if all of them are quick.
    pub(crate) fn ahead(&self) -> usize {
        let any = self.0.values().any(|times| *times == QUICK_RUNS);
        if any { INSTANT_JOBS_MOST } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_quick_once_it_always_was() {
        let mut quick = InstantOperations::default();
        for _ in 0..QUICK_RUNS {
            assert!(!quick.is("a"));
            quick.took("a", QUICK_MS);
        }
        assert!(quick.is("a") && !quick.is("b"));
        assert_eq!(quick.ahead(), INSTANT_JOBS_MOST);
        quick.took("a", QUICK_MS + 1);
        assert!(!quick.is("a"));
        assert_eq!(quick.ahead(), 0);
    }
}
