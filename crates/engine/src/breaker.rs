//! A host that keeps failing is left alone for a while, so that it delays nobody else's callbacks. Nothing is
//! dropped: what is due waits, and one probe tells when the host is back.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Tries in a row that must fail before a host is left alone.
const FAILURES: u32 = 10;
/// How long it is left alone.
const OPEN_MS: i64 = 60_000;
/// Hosts remembered; the longest silent are forgotten first.
const REMEMBERED: usize = 10_000;

#[derive(Clone, Copy, Default)]
struct Record {
    failures: u32,
    open_until_ms: i64,
    seen_ms: i64,
}

/// What is known of the hosts callbacks go to.
#[derive(Default)]
pub(crate) struct Breaker {
    hosts: Mutex<HashMap<String, Record>>,
}

impl Breaker {
    fn hosts(&self) -> std::sync::MutexGuard<'_, HashMap<String, Record>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The hosts to leave alone now.
    pub(crate) fn open(&self, now_ms: i64) -> Vec<String> {
        let hosts = self.hosts();
        hosts
            .iter()
            .filter(|(_, record)| record.open_until_ms > now_ms)
            .map(|(host, _)| host.clone())
            .collect()
    }

    /// Notes how a try went.
    pub(crate) fn note(&self, host: &str, succeeded: bool, now_ms: i64) {
        let mut hosts = self.hosts();
        if succeeded {
            hosts.remove(host);
            return;
        }
        if hosts.len() >= REMEMBERED && !hosts.contains_key(host) {
            let oldest = hosts
                .iter()
                .min_by_key(|(_, record)| record.seen_ms)
                .map(|(host, _)| host.clone());
            oldest.and_then(|host| hosts.remove(&host));
        }
        let record = hosts.entry(host.to_owned()).or_default();
        record.failures += 1;
        record.seen_ms = now_ms;
        if record.failures >= FAILURES {
            record.open_until_ms = now_ms + OPEN_MS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_left_alone_after_ten_failures_and_heard_again_after_a_success() {
        let breaker = Breaker::default();
        for _ in 0..9 {
            breaker.note("dead", false, 0);
        }
        assert!(breaker.open(0).is_empty());
        breaker.note("dead", false, 0);
        assert_eq!(breaker.open(1), ["dead"]);
        assert!(breaker.open(OPEN_MS).is_empty(), "one probe may go");
        breaker.note("dead", false, OPEN_MS);
        assert_eq!(
            breaker.open(OPEN_MS + 1),
            ["dead"],
            "a failed probe closes the door again"
        );
        breaker.note("dead", true, OPEN_MS * 2);
        assert!(breaker.open(OPEN_MS * 2).is_empty());
    }
}
