//! Deliveries: results owed to callers' addresses, and every try made.

mod change;
pub mod claim;
pub(crate) mod texts;

use crate::Result;
use crate::changes::delivery::{DELIVERY_COLUMNS, Delivery};
use crate::db::args;
use crate::deliveries::texts::CALLBACKS;
use crate::notices::Notices;
use crate::period::Period;
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

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

impl<'a> Deliveries<'a> {
    /// What accounts and operators are told.
    pub fn notices(self) -> Notices<'a> {
        Notices(self.0)
    }
}

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
        self.0.db.one(CALLBACKS.next_due, &[]).await
    }
}
