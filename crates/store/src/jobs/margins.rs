//! What vendors took, for those who look: by worker account, and against what callers paid.

use atelier_contract::Quota;

use crate::Result;
use crate::db::{args, json};
use crate::jobs::statistics::Statistics;
use crate::row::{Columns, FromRow};

/// What callers paid for one model in one operation at one back end, and what its vendor took for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarginRow {
    pub vendor: String,
    /// What the operator calls the back end; empty where it is not known or gone.
    pub backend: String,
    pub operation: String,
    /// Empty where there is none or it is not known.
    pub model: String,
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
            backend: columns.text()?,
            operation: columns.text()?,
            model: columns.text()?,
            currency: columns.text()?,
            jobs: columns.int()?,
            quota: columns.quota()?,
            cost: columns.int()?,
        })
    }
}

/// What programs wrote that did not know of back ends and models is by the day alone.
const MARGINS: &str = "SELECT vendor, backend, operation, model, currency, CAST(SUM(jobs) AS BIGINT), \
     CAST(SUM(quota) AS BIGINT), CAST(SUM(cost) AS BIGINT) FROM ( \
       SELECT taking.vendor, COALESCE(backend.name, '') AS backend, taking.operation, taking.model, taking.currency, \
         taking.jobs, taking.quota, taking.cost \
       FROM taking LEFT JOIN backend ON backend.id = taking.backend_id WHERE taking.hour >= $1 \
       UNION ALL \
       SELECT vendor, '' AS backend, operation, '' AS model, currency, jobs, quota, cost FROM margin WHERE day >= $2 \
     ) AS both_kinds GROUP BY vendor, backend, operation, model, currency \
     ORDER BY vendor, backend, operation, model, currency";

const HOURS_OF_DAY: i64 = 24;

/// What one model brought and took at one back end in an hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakingRow {
    pub backend_id: String,
    pub model: String,
    /// Hours since 1970.
    pub hour: i64,
    /// What the vendor counts in; empty where it did not say what it took.
    pub currency: String,
    /// Only jobs that succeeded.
    pub jobs: i64,
    pub quota: Quota,
    /// In millionths of the currency.
    pub cost: i64,
}

impl FromRow for TakingRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            backend_id: columns.text()?,
            model: columns.text()?,
            hour: columns.int()?,
            currency: columns.text()?,
            jobs: columns.int()?,
            quota: columns.quota()?,
            cost: columns.int()?,
        })
    }
}

const TAKINGS: &str = "SELECT backend_id, model, hour, currency, CAST(SUM(jobs) AS BIGINT), CAST(SUM(quota) AS BIGINT), \
     CAST(SUM(cost) AS BIGINT) FROM taking WHERE hour >= $1 AND model IN ({list:$2}) \
     GROUP BY backend_id, model, hour, currency ORDER BY hour DESC, backend_id, model, currency";

impl Statistics<'_> {
    /// What some models brought and took since an hour, counted from 1970, the latest hour first.
    pub async fn takings(self, models: &[String], since_hour: i64) -> Result<Vec<TakingRow>> {
        self.0
            .db
            .all(TAKINGS, args![since_hour, &json(&models)])
            .await
    }

    /// What callers paid and what vendors took since an hour, counted from 1970.
    pub async fn margins(self, since_hour: i64) -> Result<Vec<MarginRow>> {
        // A day that has begun before is left out.
        let since_day = (since_hour + HOURS_OF_DAY - 1).div_euclid(HOURS_OF_DAY);
        self.0.db.all(MARGINS, args![since_hour, since_day]).await
    }
}
