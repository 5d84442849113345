//! Back ends and worker accounts, as they are stored and read. Credentials come sealed and leave sealed.

pub mod change;

use atelier_contract::Quota;

use crate::db::args;
use crate::row::{Columns, Read};
use crate::{Result, Store};

/// A back end: a vendor at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendRow {
    /// Identifier.
    pub id: String,
    /// The caller it belongs to; `None` for the operator's.
    pub owner: Option<String>,
    /// What the operator calls it.
    pub name: String,
    /// The vendor's name.
    pub vendor: String,
    /// Where it is.
    pub base_url: String,
    /// The vendor's own settings as JSON.
    pub settings: String,
    /// The operations it may serve as a JSON array; empty means all it can.
    pub operations: String,
    /// Its place in the order of fall-back, lowest first.
    pub rank: i64,
    /// Whether it is used.
    pub enabled: bool,
    /// Whether it comes from the configuration.
    pub declared: bool,
    /// When it was made.
    pub created_ms: i64,
    /// Counts changes.
    pub revision: i64,
}

/// A worker account: a credential at a back end, and what may be asked of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerRow {
    /// Identifier.
    pub id: String,
    /// Its back end.
    pub backend_id: String,
    /// The caller it belongs to; `None` for the operator's.
    pub owner: Option<String>,
    /// What its owner calls it.
    pub name: String,
    /// The sealed credential; empty for none.
    pub credential: String,
    /// Jobs it works on at once.
    pub concurrency: i64,
    /// Starts in any minute; 0 for no limit.
    pub per_minute: i64,
    /// Starts in any hour; 0 for no limit.
    pub per_hour: i64,
    /// Questions about running jobs in a minute; 0 for no limit.
    pub polls_per_minute: i64,
    /// Its share of the work among its neighbours.
    pub weight: i64,
    /// The models it may serve as a JSON array; empty means all.
    pub models: String,
    /// The speeds it may serve as a JSON array; empty means all.
    pub modes: String,
    /// Its work hours in words; empty means always.
    pub hours: String,
    /// The most it may spend, in quota.
    pub spend_cap: Option<Quota>,
    /// What it has spent, in quota.
    pub spent: Quota,
    /// `active`, `draining` or `paused`.
    pub state: String,
    /// What is known of its health as JSON; empty for nothing.
    pub health: String,
    /// When that was learned.
    pub health_ms: i64,
    /// When it was made.
    pub created_ms: i64,
    /// Counts changes of what its owner sets.
    pub revision: i64,
}

const BACKEND_COLUMNS: &str = "id, owner, name, vendor, base_url, settings, operations, rank, enabled, \
     declared, created_ms, revision";

const WORKER_COLUMNS: &str = "id, backend_id, owner, name, credential, concurrency, per_minute, per_hour, \
     polls_per_minute, weight, models, modes, hours, spend_cap, spent, state, health, health_ms, \
     created_ms, revision";

impl Read for BackendRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            owner: columns.maybe_text()?,
            name: columns.text()?,
            vendor: columns.text()?,
            base_url: columns.text()?,
            settings: columns.text()?,
            operations: columns.text()?,
            rank: columns.int()?,
            enabled: columns.flag()?,
            declared: columns.flag()?,
            created_ms: columns.int()?,
            revision: columns.int()?,
        })
    }
}

impl Read for WorkerRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            backend_id: columns.text()?,
            owner: columns.maybe_text()?,
            name: columns.text()?,
            credential: columns.text()?,
            concurrency: columns.int()?,
            per_minute: columns.int()?,
            per_hour: columns.int()?,
            polls_per_minute: columns.int()?,
            weight: columns.int()?,
            models: columns.text()?,
            modes: columns.text()?,
            hours: columns.text()?,
            spend_cap: columns.maybe_int()?.map(Quota::from_thousandths),
            spent: columns.quota()?,
            state: columns.text()?,
            health: columns.text()?,
            health_ms: columns.int()?,
            created_ms: columns.int()?,
            revision: columns.int()?,
        })
    }
}

impl Store {
    /// Every back end, in the order of fall-back.
    pub async fn backends(&self) -> Result<Vec<BackendRow>> {
        let sql = format!("SELECT {BACKEND_COLUMNS} FROM backend ORDER BY rank, created_ms, id");
        self.db().all(&sql, &[]).await
    }

    /// Every worker account, oldest first.
    pub async fn workers(&self) -> Result<Vec<WorkerRow>> {
        let sql = format!("SELECT {WORKER_COLUMNS} FROM worker ORDER BY created_ms, id");
        self.db().all(&sql, &[]).await
    }

    /// When attempts began since a time, each with its worker, oldest first.
    pub async fn recent_starts(&self, since_ms: i64) -> Result<Vec<(String, i64)>> {
        let sql = "SELECT worker, began_ms FROM attempt WHERE began_ms >= $1 ORDER BY began_ms";
        self.db().all(sql, args![since_ms]).await
    }

    /// How many attempts each worker has in hand, on all nodes together.
    pub async fn live_attempts(&self) -> Result<Vec<(String, i64)>> {
        let sql = "SELECT worker, COUNT(*) FROM attempt WHERE ended_ms IS NULL \
             GROUP BY worker ORDER BY worker";
        self.db().all(sql, &[]).await
    }

    /// The jobs that wait in a lane, oldest first.
    pub async fn waiting_in_lane(&self, lane: &str, limit: i64) -> Result<Vec<String>> {
        let sql = "SELECT id FROM job WHERE state = 0 AND lane = $1 ORDER BY turn_ms, id LIMIT $2";
        self.db().all(sql, args![lane, limit]).await
    }

    /// How many jobs wait in each lane.
    pub async fn waiting_by_lane(&self) -> Result<Vec<(String, i64)>> {
        let sql = "SELECT lane, COUNT(*) FROM job WHERE state = 0 GROUP BY lane ORDER BY lane";
        self.db().all(sql, &[]).await
    }
}
