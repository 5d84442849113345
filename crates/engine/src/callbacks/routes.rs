//! Routes: the callbacks of one account to one host. Each has its own places, so that a slow receiver delays nobody
//! else's, and one that does not answer is left alone for a while. Nothing is dropped: what is due waits, and one
//! probe tells when the receiver is back.

use atelier_contract::AccountId;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use atelier_store::{AccountSlots, RouteSlots};

use crate::callback_queue::{QueuedCallback, Route, RouteQueues};

/// Tries in a row that must go unanswered before a route is closed.
const FAILURES: u32 = 10;
/// How long it stays closed.
const CLOSED_MS: i64 = 60_000;
/// Troubled routes remembered; the longest silent are forgotten first.
const REMEMBERED: usize = 10_000;

#[derive(Clone, Copy, Default)]
struct RouteState {
    under_way: i64,
    failures: u32,
    closed_until_ms: i64,
    seen_ms: i64,
}

impl RouteState {
    fn places(&self, usual: i64, now_ms: i64) -> i64 {
        if self.closed_until_ms > now_ms {
            return 0;
        }
        let most = if self.failures >= FAILURES { 1 } else { usual };
        (most - self.under_way).max(0)
    }
}

/// What is known of the routes in use and of those in trouble.
pub(crate) struct Routes {
    usual: i64,
    records: Mutex<HashMap<Route, RouteState>>,
}

impl Routes {
    /// Routes that have so many places each.
    pub(crate) fn new(usual: i64) -> Self {
        Self {
            usual,
            records: Mutex::default(),
        }
    }

    /// The routes that have other than the usual places now.
    pub(crate) fn places(&self, now_ms: i64) -> Vec<RouteSlots> {
        let records = self.records();
        let places = records.iter().map(|(route, record)| RouteSlots {
            account_id: route.account_id.to_string(),
            host: route.host.clone(),
            places: record.places(self.usual, now_ms),
        });
        places.filter(|one| one.places != self.usual).collect()
    }

    /// The accounts that have other than the usual places now, over all their routes.
    pub(crate) fn accounts(&self, usual: i64) -> Vec<AccountSlots> {
        let mut under_way: HashMap<&AccountId, i64> = HashMap::new();
        let records = self.records();
        for (route, record) in records.iter().filter(|(_, record)| record.under_way > 0) {
            *under_way.entry(&route.account_id).or_default() += record.under_way;
        }
        let places = |(account_id, busy): (&AccountId, i64)| AccountSlots {
            account_id: account_id.to_string(),
            places: (usual - busy).max(0),
        };
        under_way.into_iter().map(places).collect()
    }

    /// Takes out of what was handed over whatever there is a place for, and notes that it begins; beside it, what has
    /// waited for too long or whose route is closed. So many may begin in all, and so many of an account.
    pub(crate) fn admit(
        &self,
        queues: &mut RouteQueues<QueuedCallback>,
        now_ms: i64,
        mut free: usize,
        per_account: i64,
    ) -> (Vec<QueuedCallback>, Vec<QueuedCallback>) {
        let mut records = self.records();
        let mut under_way: HashMap<AccountId, i64> = HashMap::new();
        for (route, record) in records.iter() {
            *under_way.entry(route.account_id.clone()).or_default() += record.under_way;
        }
        let (mut send, mut late) = (Vec::new(), Vec::new());
        queues.look(|route, items| {
            if free == 0 {
                // Those behind it came later.
                while items.front().is_some_and(|one| one.is_late(now_ms)) {
                    late.extend(items.pop_front());
                }
                return false;
            }
            let record = records.get(route).copied().unwrap_or_default();
            let closed = record.closed_until_ms > now_ms;
            while items
                .front()
                .is_some_and(|one| closed || one.is_late(now_ms))
            {
                late.extend(items.pop_front());
            }
            let busy = under_way.get(&route.account_id).copied().unwrap_or(0);
            let places = record.places(self.usual, now_ms).min(per_account - busy);
            let places = usize::try_from(places).unwrap_or(0);
            let count = places.min(free).min(items.len());
            if count == 0 {
                return false;
            }
            free -= count;
            *under_way.entry(route.account_id.clone()).or_default() += count as i64;
            records.entry(route.clone()).or_default().under_way += count as i64;
            send.extend(items.drain(..count));
            true
        });
        (send, late)
    }

    /// Notes that a try begins.
    pub(crate) fn begin(&self, route: &Route) {
        let mut records = self.records();
        records.entry(route.clone()).or_default().under_way += 1;
    }

    /// Notes that a try was not made after all.
    pub(crate) fn leave(&self, route: &Route) {
        let mut records = self.records();
        let Some(record) = records.get_mut(route) else {
            return;
        };
        record.under_way -= 1;
        if record.under_way == 0 && record.failures == 0 {
            records.remove(route);
        }
    }

    /// Notes that a try is over, and whether anybody answered at all: a receiver that refuses quickly delays nobody.
    pub(crate) fn end(&self, route: &Route, answered: bool, now_ms: i64) {
        let mut records = self.records();
        let Some(record) = records.get_mut(route) else {
            return;
        };
        record.under_way -= 1;
        record.seen_ms = now_ms;
        if answered {
            record.failures = 0;
            record.closed_until_ms = 0;
        } else {
            record.failures = record.failures.saturating_add(1);
            if record.failures >= FAILURES {
                record.closed_until_ms = now_ms + CLOSED_MS;
            }
        }
        if record.under_way == 0 && record.failures == 0 {
            records.remove(route);
        }
        forget_oldest(&mut records);
    }

    fn records(&self) -> std::sync::MutexGuard<'_, HashMap<Route, RouteState>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the memory for troubled routes bounded; those in use are bounded by the callbacks under way.
fn forget_oldest(records: &mut HashMap<Route, RouteState>) {
    if records.len() <= REMEMBERED {
        return;
    }
    let idle = records.iter().filter(|(_, record)| record.under_way == 0);
    let oldest = idle.min_by_key(|(_, record)| record.seen_ms);
    if let Some(route) = oldest.map(|(route, _)| route.clone()) {
        records.remove(&route);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(host: &str) -> Route {
        Route {
            account_id: "a".into(),
            host: host.into(),
        }
    }

    fn places(routes: &Routes, now_ms: i64) -> Vec<(String, i64)> {
        let places = routes.places(now_ms).into_iter();
        places.map(|one| (one.host, one.places)).collect()
    }

    fn fail(routes: &Routes, times: usize, now_ms: i64) {
        for _ in 0..times {
            routes.begin(&route("dead"));
            routes.end(&route("dead"), false, now_ms);
        }
    }

    #[test]
    fn what_is_under_way_takes_places_and_gives_them_back() {
        let routes = Routes::new(4);
        routes.begin(&route("busy"));
        routes.begin(&route("busy"));
        assert_eq!(places(&routes, 0), [("busy".into(), 2)]);
        routes.begin(&route("other"));
        let account = |places| AccountSlots {
            account_id: "a".into(),
            places,
        };
        assert_eq!(routes.accounts(5), [account(2)], "over all its hosts");
        assert_eq!(routes.accounts(2), [account(0)]);
        routes.end(&route("other"), true, 0);
        routes.end(&route("busy"), true, 0);
        assert_eq!(places(&routes, 0), [("busy".into(), 3)]);
        routes.end(&route("busy"), true, 0);
        assert!(routes.records().is_empty(), "nothing is remembered");
    }

    #[test]
    fn a_route_is_closed_after_ten_silent_tries_probed_once_and_open_after_an_answer() {
        let routes = Routes::new(4);
        fail(&routes, 9, 0);
        assert!(places(&routes, 0).is_empty());
        fail(&routes, 1, 0);
        assert_eq!(places(&routes, 1), [("dead".into(), 0)]);
        assert_eq!(
            places(&routes, CLOSED_MS),
            [("dead".into(), 1)],
            "one probe"
        );
        routes.begin(&route("dead"));
        assert_eq!(places(&routes, CLOSED_MS), [("dead".into(), 0)], "only one");
        routes.end(&route("dead"), false, CLOSED_MS);
        assert_eq!(places(&routes, CLOSED_MS + 1), [("dead".into(), 0)]);
        routes.begin(&route("dead"));
        routes.end(&route("dead"), true, CLOSED_MS * 2);
        assert!(places(&routes, CLOSED_MS * 2).is_empty());
    }

    #[test]
    fn a_try_that_was_not_made_says_nothing_of_its_receiver() {
        let routes = Routes::new(4);
        fail(&routes, 10, 0);
        routes.begin(&route("dead"));
        routes.leave(&route("dead"));
        assert_eq!(places(&routes, 1), [("dead".into(), 0)], "still closed");
        routes.begin(&route("other"));
        routes.leave(&route("other"));
        assert_eq!(routes.records().len(), 1, "nothing is remembered");
    }

    #[test]
    fn memory_for_troubled_routes_is_bounded() {
        let routes = Routes::new(4);
        for number in 0..REMEMBERED + 5 {
            let route = route(&number.to_string());
            routes.begin(&route);
            routes.end(&route, false, number as i64);
        }
        let records = routes.records();
        assert_eq!(records.len(), REMEMBERED);
        assert!(!records.contains_key(&route("0")), "the oldest went first");
    }
}
