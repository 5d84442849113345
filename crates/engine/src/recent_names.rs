//! Names that something was found out about a moment ago, so that it is not asked again at once.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names remembered at most; past that all are forgotten, which costs a question each.
const REMEMBERED: usize = 10_000;

/// Remembers names for a while.
pub(crate) struct RecentNames {
    span_ms: i64,
    until_ms: Mutex<HashMap<String, i64>>,
}

impl RecentNames {
    /// Remembers for so long.
    pub(crate) fn new(span_ms: i64) -> Self {
        Self {
            span_ms,
            until_ms: Mutex::default(),
        }
    }

    /// Takes note of a name.
    pub(crate) fn note(&self, name: &str, now_ms: i64) {
        let mut names = self.names();
        if names.len() >= REMEMBERED {
            names.clear();
        }
        let until_ms = now_ms + self.span_ms;
        match names.get_mut(name) {
            Some(known) => *known = until_ms,
            None => drop(names.insert(name.to_owned(), until_ms)),
        }
    }

    /// Whether a name was taken note of lately.
    pub(crate) fn knows(&self, name: &str, now_ms: i64) -> bool {
        let until_ms = self.names().get(name).copied();
        // A clock that was set back makes nothing known for longer.
        until_ms.is_some_and(|until_ms| (now_ms..=now_ms + self.span_ms).contains(&until_ms))
    }

    /// What was known of a name holds no longer.
    pub(crate) fn forget(&self, name: &str) {
        self.names().remove(name);
    }

    fn names(&self) -> MutexGuard<'_, HashMap<String, i64>> {
        self.until_ms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_known_for_its_time_and_no_longer() {
        let lately = RecentNames::new(1_000);
        assert!(!lately.knows("a", 0));
        lately.note("a", 0);
        assert!(lately.knows("a", 1_000));
        assert!(!lately.knows("a", 1_001));
        assert!(!lately.knows("b", 0));
        lately.note("a", 5_000);
        assert!(!lately.knows("a", 3_000), "the clock was set back");
        lately.forget("a");
        assert!(!lately.knows("a", 5_000));
    }

    #[test]
    fn memory_for_names_is_bounded() {
        let lately = RecentNames::new(1_000);
        for number in 0..=REMEMBERED {
            lately.note(&number.to_string(), 0);
        }
        assert!(lately.names().len() <= REMEMBERED);
        assert!(lately.knows(&REMEMBERED.to_string(), 0), "the last one");
    }
}
