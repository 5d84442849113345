//! Lanes: the callbacks of one account to one host. Each has its own places, so that a slow receiver delays nobody
//! else's, and one that does not answer is left alone for a while. Nothing is dropped: what is due waits, and one
//! probe tells when the receiver is back.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use atelier_store::{AccountRoom, Delivery, Room};

/// Tries in a row that must go unanswered before a lane is closed.
const FAILURES: u32 = 10;
/// How long it stays closed.
const CLOSED_MS: i64 = 60_000;
/// Troubled lanes remembered; the longest silent are forgotten first.
const REMEMBERED: usize = 10_000;

/// An account and a host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lane {
    account_id: String,
    host: String,
}

impl Lane {
    /// The lane a delivery belongs to.
    pub(crate) fn of(delivery: &Delivery) -> Self {
        Self {
            account_id: delivery.account_id.clone(),
            host: delivery.host.clone(),
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Record {
    under_way: i64,
    failures: u32,
    closed_until_ms: i64,
    seen_ms: i64,
}

impl Record {
    fn places(&self, usual: i64, now_ms: i64) -> i64 {
        if self.closed_until_ms > now_ms {
            return 0;
        }
        let most = if self.failures >= FAILURES { 1 } else { usual };
        (most - self.under_way).max(0)
    }
}

/// What is known of the lanes in use and of those in trouble.
pub(crate) struct Lanes {
    usual: i64,
    records: Mutex<HashMap<Lane, Record>>,
}

impl Lanes {
    /// Lanes that have so many places each.
    pub(crate) fn new(usual: i64) -> Self {
        Self {
            usual,
            records: Mutex::default(),
        }
    }

    /// The lanes that have other than the usual places now.
    pub(crate) fn rooms(&self, now_ms: i64) -> Vec<Room> {
        let records = self.records();
        let rooms = records.iter().map(|(lane, record)| Room {
            account_id: lane.account_id.clone(),
            host: lane.host.clone(),
            places: record.places(self.usual, now_ms),
        });
        rooms.filter(|room| room.places != self.usual).collect()
    }

    /// The accounts that have other than the usual places now, over all their lanes.
    pub(crate) fn accounts(&self, usual: i64) -> Vec<AccountRoom> {
        let mut under_way: HashMap<&str, i64> = HashMap::new();
        let records = self.records();
        for (lane, record) in records.iter().filter(|(_, record)| record.under_way > 0) {
            *under_way.entry(&lane.account_id).or_default() += record.under_way;
        }
        let room = |(account_id, busy): (&str, i64)| AccountRoom {
            account_id: account_id.to_owned(),
            places: (usual - busy).max(0),
        };
        under_way.into_iter().map(room).collect()
    }

    /// Notes that a try begins.
    pub(crate) fn begin(&self, lane: &Lane) {
        let mut records = self.records();
        records.entry(lane.clone()).or_default().under_way += 1;
    }

    /// Notes that a try is over, and whether anybody answered at all: a receiver that refuses quickly delays nobody.
    pub(crate) fn end(&self, lane: &Lane, answered: bool, now_ms: i64) {
        let mut records = self.records();
        let Some(record) = records.get_mut(lane) else {
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
            records.remove(lane);
        }
        forget_oldest(&mut records);
    }

    fn records(&self) -> std::sync::MutexGuard<'_, HashMap<Lane, Record>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the memory for troubled lanes bounded; those in use are bounded by the callbacks under way.
fn forget_oldest(records: &mut HashMap<Lane, Record>) {
    if records.len() <= REMEMBERED {
        return;
    }
    let idle = records.iter().filter(|(_, record)| record.under_way == 0);
    let oldest = idle.min_by_key(|(_, record)| record.seen_ms);
    if let Some(lane) = oldest.map(|(lane, _)| lane.clone()) {
        records.remove(&lane);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(host: &str) -> Lane {
        Lane {
            account_id: "a".into(),
            host: host.into(),
        }
    }

    fn places(lanes: &Lanes, now_ms: i64) -> Vec<(String, i64)> {
        let rooms = lanes.rooms(now_ms).into_iter();
        rooms.map(|room| (room.host, room.places)).collect()
    }

    fn fail(lanes: &Lanes, times: usize, now_ms: i64) {
        for _ in 0..times {
            lanes.begin(&lane("dead"));
            lanes.end(&lane("dead"), false, now_ms);
        }
    }

    #[test]
    fn what_is_under_way_takes_places_and_gives_them_back() {
        let lanes = Lanes::new(4);
        lanes.begin(&lane("busy"));
        lanes.begin(&lane("busy"));
        assert_eq!(places(&lanes, 0), [("busy".into(), 2)]);
        lanes.begin(&lane("other"));
        let room = |places| AccountRoom {
            account_id: "a".into(),
            places,
        };
        assert_eq!(lanes.accounts(5), [room(2)], "over all its hosts");
        assert_eq!(lanes.accounts(2), [room(0)]);
        lanes.end(&lane("other"), true, 0);
        lanes.end(&lane("busy"), true, 0);
        assert_eq!(places(&lanes, 0), [("busy".into(), 3)]);
        lanes.end(&lane("busy"), true, 0);
        assert!(lanes.records().is_empty(), "nothing is remembered");
    }

    #[test]
    fn a_lane_is_closed_after_ten_silent_tries_probed_once_and_open_after_an_answer() {
        let lanes = Lanes::new(4);
        fail(&lanes, 9, 0);
        assert!(places(&lanes, 0).is_empty());
        fail(&lanes, 1, 0);
        assert_eq!(places(&lanes, 1), [("dead".into(), 0)]);
        assert_eq!(places(&lanes, CLOSED_MS), [("dead".into(), 1)], "one probe");
        lanes.begin(&lane("dead"));
        assert_eq!(places(&lanes, CLOSED_MS), [("dead".into(), 0)], "only one");
        lanes.end(&lane("dead"), false, CLOSED_MS);
        assert_eq!(places(&lanes, CLOSED_MS + 1), [("dead".into(), 0)]);
        lanes.begin(&lane("dead"));
        lanes.end(&lane("dead"), true, CLOSED_MS * 2);
        assert!(places(&lanes, CLOSED_MS * 2).is_empty());
    }

    #[test]
    fn memory_for_troubled_lanes_is_bounded() {
        let lanes = Lanes::new(4);
        for number in 0..REMEMBERED + 5 {
            let lane = lane(&number.to_string());
            lanes.begin(&lane);
            lanes.end(&lane, false, number as i64);
        }
        let records = lanes.records();
        assert_eq!(records.len(), REMEMBERED);
        assert!(!records.contains_key(&lane("0")), "the oldest went first");
    }
}
