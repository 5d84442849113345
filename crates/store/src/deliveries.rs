//! Deliveries: results owed to callers' addresses, and every try made.

use crate::{Result, Store};

/// A result owed to a caller's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// `cb_` and the job's id.
    pub id: String,
    /// The job.
    pub job_id: String,
    /// Whose job.
    pub account_id: String,
    /// Where to.
    pub url: String,
    /// The host of the address.
    pub host: String,
    /// due, sending, delivered, exhausted or stopped.
    pub state: String,
    /// Tries made or being made.
    pub attempts: i64,
    /// When the next try is due; while sending, when the try counts as lost.
    pub next_ms: i64,
    /// The last HTTP status.
    pub last_status: Option<i64>,
    /// The last failure in words.
    pub last_error: Option<String>,
    /// When it came to be owed.
    pub created_ms: i64,
    /// When it arrived.
    pub delivered_ms: Option<i64>,
}

/// Where a delivery goes after a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    /// It arrived.
    Delivered,
    /// Try again.
    Due {
        /// When.
        next_ms: i64,
    },
    /// Given up.
    Exhausted,
    /// The receiver wants no more.
    Stopped,
}

/// The result of one try.
#[derive(Clone, Debug)]
pub struct DeliveryResult {
    /// The delivery.
    pub id: String,
    /// The number of the try; an older one is refused.
    pub attempts: i64,
    /// Where it goes.
    pub state: DeliveryState,
    /// The HTTP status.
    pub status: Option<i64>,
    /// The failure in words.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: i64,
    /// The first characters of the answer.
    pub answer_start: String,
    /// The time.
    pub now_ms: i64,
}

/// One try in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryTry {
    /// The number of the try.
    pub attempt: i64,
    /// When it ended.
    pub time_ms: i64,
    /// The HTTP status.
    pub status: Option<i64>,
    /// The failure in words.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: i64,
    /// The first characters of the answer.
    pub answer_start: String,
}

impl Store {
    /// Takes deliveries whose time has come, fairly between hosts.
    pub async fn claim_deliveries(
        &self,
        _now_ms: i64,
        _lease_until_ms: i64,
        _limit: i64,
        _per_host: i64,
        _skip_hosts: &[String],
    ) -> Result<Vec<Delivery>> {
        Err(crate::Error::NotFound)
    }
    /// Records a try; false when it was not the current one.
    pub async fn finish_delivery(&self, _result: DeliveryResult) -> Result<bool> {
        Err(crate::Error::NotFound)
    }
    /// A page of deliveries, newest first, and how many match.
    pub async fn deliveries(
        &self,
        _account_id: Option<&str>,
        _state: Option<&str>,
        _offset: i64,
        _limit: i64,
    ) -> Result<(Vec<Delivery>, i64)> {
        Err(crate::Error::NotFound)
    }
    /// Every try of a delivery, oldest first.
    pub async fn delivery_log(&self, _id: &str) -> Result<Vec<DeliveryTry>> {
        Err(crate::Error::NotFound)
    }
    /// Makes a delivery due again, unless it is being sent.
    pub async fn redeliver(&self, _account_id: &str, _id: &str, _now_ms: i64) -> Result<bool> {
        Err(crate::Error::NotFound)
    }
    /// Makes every given-up delivery of an account owed since a time due again; how many.
    pub async fn redeliver_failed(
        &self,
        _account_id: &str,
        _since_ms: i64,
        _now_ms: i64,
    ) -> Result<u64> {
        Err(crate::Error::NotFound)
    }
    /// When the next delivery is due.
    pub async fn next_delivery_ms(&self) -> Result<Option<i64>> {
        Err(crate::Error::NotFound)
    }
}
