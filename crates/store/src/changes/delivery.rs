//! A delivery: a result owed to a caller's address, what became of a try, and who takes it next.

use crate::Result;
use crate::db::{Conn, args, json};
use crate::deliveries::texts::DeliveryTexts;
use crate::row::{Columns, FromRow};

/// A result owed to a caller's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// `cb_` and the job's id.
    pub id: String,
    pub job_id: String,
    pub account_id: String,
    pub url: String,
    /// The host of the address, with its port when it is not the usual one.
    pub host: String,
    /// due, sending, delivered, exhausted or stopped.
    pub state: String,
    /// Tries made or being made.
    pub attempts: i64,
    /// Tries known to have failed since it was owed, or asked for again.
    pub failures: i64,
    /// When the next try is due; while sending, when the try counts as lost.
    pub next_ms: i64,
    /// The last HTTP status.
    pub last_status: Option<i64>,
    /// The last failure in words.
    pub last_error: Option<String>,
    /// When it came to be owed.
    pub created_ms: i64,
    pub delivered_ms: Option<i64>,
}

impl Delivery {
    /// When the next try is due; none while it is being sent or when it is over.
    pub fn next_attempt_ms(&self) -> Option<i64> {
        (self.state == "due").then_some(self.next_ms)
    }
}

/// Where a delivery goes after a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    Delivered,
    Due {
        next_ms: i64,
    },
    /// All tries failed and no more are made.
    Exhausted,
    /// The receiver wants no more.
    Stopped,
}

/// The result of one try.
#[derive(Clone, Debug)]
pub struct DeliveryResult {
    pub id: String,
    /// The number of the try; an older one is refused.
    pub attempts: i64,
    pub state: DeliveryState,
    /// Tries known to have failed, this one included.
    pub failures: i64,
    pub status: Option<i64>,
    /// The failure in words.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: i64,
    /// The first characters of the answer.
    pub answer_start: String,
    pub now_ms: i64,
}

pub(crate) const DELIVERY_COLUMNS: &str = "id, job_id, account_id, url, host, state, attempts, failures, next_ms, \
     last_status, last_error, created_ms, delivered_ms";

impl FromRow for Delivery {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            job_id: columns.text()?,
            account_id: columns.text()?,
            url: columns.text()?,
            host: columns.text()?,
            state: columns.text()?,
            attempts: columns.int()?,
            failures: columns.int()?,
            next_ms: columns.int()?,
            last_status: columns.maybe_int()?,
            last_error: columns.maybe_text()?,
            created_ms: columns.int()?,
            delivered_ms: columns.maybe_int()?,
        })
    }
}

/// Deliveries to be taken.
pub(crate) struct ChosenDeliveries {
    pub(crate) ids: Vec<String>,
    pub(crate) now_ms: i64,
    pub(crate) lease_until_ms: i64,
}

/// Takes what is still free.
pub(crate) async fn take<T: FromRow>(
    conn: &mut Conn,
    texts: &DeliveryTexts,
    chosen: &ChosenDeliveries,
) -> Result<Vec<T>> {
    let ids = json(&chosen.ids);
    let args = args![chosen.now_ms, chosen.lease_until_ms, &ids];
    conn.all_replanned(texts.take, args).await
}
