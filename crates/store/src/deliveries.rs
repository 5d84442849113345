//! Deliveries: results owed to callers' addresses, and every try made.

pub(crate) mod claim;

pub use claim::{AccountSlots, Claim, RouteSlots};

use crate::Result;
use crate::db::args;
use crate::period::Period;
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

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

/// One try in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryTry {
    /// The number of the try.
    pub attempt: i64,
    pub time_ms: i64,
    pub status: Option<i64>,
    /// The failure in words.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: i64,
    /// The first characters of the answer.
    pub answer_start: String,
}

const DELIVERY_COLUMNS: &str = "id, job_id, account_id, url, host, state, attempts, failures, next_ms, \
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

impl FromRow for DeliveryTry {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            attempt: columns.int()?,
            time_ms: columns.int()?,
            status: columns.maybe_int()?,
            error: columns.maybe_text()?,
            duration_ms: columns.int()?,
            answer_start: columns.text()?,
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Deliveries<'a>(pub(crate) &'a StoreCore);

impl Deliveries<'_> {
    /// A page of deliveries, newest first, and how many match.
    pub async fn list(
        self,
        account_id: Option<&str>,
        state: Option<&str>,
        period: Period,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<Delivery>, i64)> {
        let (first, end) = (period.first_ms(), period.end_ms());
        let whose = if account_id.is_some() {
            "account_id = $1"
        } else {
            "$1 IS NULL"
        };
        let which = if state.is_some() {
            "state = $2"
        } else {
            "$2 IS NULL"
        };
        let which = format!("{whose} AND {which} AND created_ms >= $3 AND created_ms < $4");
        let count = format!("SELECT COUNT(*) FROM delivery WHERE {which}");
        let reader = self.0.db.of(account_id);
        let values = args![account_id, state, first, end];
        let total: i64 = reader.one(&count, values).await?;
        // From the end that is nearer, and by the index: the rows themselves are read for the page alone.
        let behind = total - offset.saturating_add(limit);
        let (way, skipped, wanted) = if behind < offset {
            ("ASC", behind.max(0), limit + behind.min(0))
        } else {
            ("DESC", offset, limit)
        };
        if wanted <= 0 {
            return Ok((Vec::new(), total));
        }
        let page = format!(
            "SELECT {DELIVERY_COLUMNS} FROM delivery WHERE id IN (SELECT id FROM delivery WHERE {which} \
               ORDER BY created_ms {way}, id {way} LIMIT $5 OFFSET $6) ORDER BY created_ms DESC, id DESC"
        );
        let values = args![account_id, state, first, end, wanted, skipped];
        Ok((reader.all(&page, values).await?, total))
    }

    /// A delivery of an account.
    pub async fn find(self, account_id: &str, id: &str) -> Result<Option<Delivery>> {
        let sql = format!(
            "SELECT {DELIVERY_COLUMNS} FROM delivery WHERE account_id || '' = $1 AND id = $2"
        );
        self.0
            .db
            .of(Some(account_id))
            .maybe(&sql, args![account_id, id])
            .await
    }

    /// Every try of a delivery of an account that is still remembered, oldest first.
    pub async fn log(self, account_id: &str, id: &str) -> Result<Vec<DeliveryTry>> {
        let sql = "SELECT attempt, time_ms, status, error, duration_ms, answer_start \
             FROM delivery_log WHERE delivery_id = $1 ORDER BY attempt";
        self.0.db.of(Some(account_id)).all(sql, args![id]).await
    }

    /// When the next delivery is due, or a try being made counts as lost.
    pub async fn next_due_ms(self) -> Result<Option<i64>> {
        let sql = "SELECT MIN(next_ms) FROM delivery WHERE state IN ('due', 'sending')";
        self.0.db.one(sql, &[]).await
    }
}
