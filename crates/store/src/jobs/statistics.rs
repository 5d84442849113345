//! Numbers about jobs: how many wait, what was used, how long they take.

use atelier_contract::{Quota, Speed};

use crate::{Result, Store};

/// How much there is to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Jobs waiting.
    pub waiting: i64,
    /// Jobs running.
    pub running: i64,
    /// Deliveries not yet made.
    pub deliveries_due: i64,
}

/// What an account used of one operation on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageRow {
    /// Days since 1970.
    pub day: i64,
    /// `family.operation`.
    pub operation: String,
    /// Jobs that succeeded.
    pub jobs: i64,
    /// What they were charged.
    pub quota: Quota,
}

impl Store {
    /// How much there is to do.
    pub async fn counts(&self) -> Result<Counts> {
        Err(crate::Error::NotFound)
    }
    /// What an account used, by day and operation, of jobs finished from one time to before another.
    pub async fn usage(
        &self,
        _account_id: &str,
        _from_ms: i64,
        _to_ms: i64,
    ) -> Result<Vec<UsageRow>> {
        Err(crate::Error::NotFound)
    }
    /// How long the latest successes took, in milliseconds, newest first.
    pub async fn recent_durations(
        &self,
        _operations: &[String],
        _speed: Speed,
        _limit: i64,
    ) -> Result<Vec<i64>> {
        Err(crate::Error::NotFound)
    }
}
