//! What vendors took, for those who look: by worker account, and against what callers paid.

use atelier_contract::Quota;

use crate::Result;
use crate::db::args;
use crate::jobs::statistics::Statistics;
use crate::row::{Columns, FromRow};

/// What callers paid for one operation at one vendor, and what the vendor took for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarginRow {
    pub vendor: String,
    pub operation: String,
    /// What the vendor counts in; empty where it did not say what it took.
    pub currency: String,
    /// Only jobs that succeeded.
    pub jobs: i64,
    /// What callers were charged for them.
    pub quota: Quota,
    /// What the vendor took, also for what nobody got, in millionths of the currency.
    pub cost: i64,
}

impl FromRow for MarginRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            vendor: columns.text()?,
            operation: columns.text()?,
            currency: columns.text()?,
            jobs: columns.int()?,
            quota: columns.quota()?,
            cost: columns.int()?,
        })
    }
}

impl Statistics<'_> {
    /// What callers paid and what vendors took since a day, counted from 1970.
    pub async fn margins(self, since_day: i64) -> Result<Vec<MarginRow>> {
        let sql = "SELECT vendor, operation, currency, CAST(SUM(jobs) AS BIGINT), \
             CAST(SUM(quota) AS BIGINT), CAST(SUM(cost) AS BIGINT) FROM margin WHERE day >= $1 \
             GROUP BY vendor, operation, currency ORDER BY vendor, operation, currency";
        self.0.db.all(sql, args![since_day]).await
    }
}
