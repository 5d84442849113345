//! Back ends and worker accounts, as they are stored and read. Credentials come sealed and leave sealed.

pub mod change;

use atelier_contract::Quota;
use atelier_contract::fields::{Count, Real, Text};
use atelier_contract::pages::backends::{BackendSpec, Shadow};
use atelier_contract::pages::cost::Amount;
use atelier_contract::pages::hours::Hours;
use atelier_contract::pages::name::Name;
use atelier_contract::pages::workers::{WorkerSpec, WorkerState};
use serde::de::DeserializeOwned;

use crate::Result;
use crate::db::{args, json};
use crate::jobs::attempt::Attempts;
use crate::jobs::queue::Queue;
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// A back end: a vendor at an address.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendRow {
    pub id: String,
    /// The caller it belongs to; `None` for the operator's.
    pub owner: Option<String>,
    /// What its owner set.
    pub spec: BackendSpec,
    /// Whether it comes from the configuration.
    pub declared: bool,
    /// Whether an operator switched it off although the configuration has it on.
    pub switched_off: bool,
    /// When it was made.
    pub created_ms: i64,
    /// Goes up with every change.
    pub revision: i64,
}

impl BackendRow {
    /// As its row says whether it is rehearsed. What cannot be read is not given jobs either.
    fn shadowed(mut self, shadow: Option<String>) -> Self {
        let nothing = || Shadow {
            share: Real::default(),
            cap: Amount::default(),
        };
        let shadow = shadow.map(|text| serde_json::from_str(&text).unwrap_or_else(|_| nothing()));
        self.spec.shadow = shadow;
        self
    }

    /// Whether it is used.
    pub fn in_use(&self) -> bool {
        self.spec.enabled.on() && !self.switched_off
    }
}

/// A worker account: a credential at a back end, and what may be asked of it.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerRow {
    pub id: String,
    pub backend_id: String,
    /// The caller it belongs to; `None` for the operator's.
    pub owner: Option<String>,
    /// What its owner set; never with a credential.
    pub spec: WorkerSpec,
    /// The sealed credential; empty for none.
    pub credential: String,
    /// What it has spent, in quota.
    pub spent: Quota,
    /// What its vendor says that it took, in millionths, by what it counts in; not taken from here when it is changed.
    pub costs: Vec<(String, i64)>,
    /// What is known of its health as JSON; empty for nothing.
    pub health: String,
    /// When that was learned.
    pub health_ms: i64,
    /// Whether the configuration no longer names it, while it still has jobs in hand.
    pub retired: bool,
    /// When it was made.
    pub created_ms: i64,
    /// Counts changes of what its owner sets.
    pub revision: i64,
}

const BACKEND_COLUMNS: &str = "id, owner, name, vendor, base_url, settings, operations, rank, enabled, \
     declared, switched_off, created_ms, revision, shadow";

const WORKER_COLUMNS: &str = "id, backend_id, owner, name, concurrency, per_minute, per_hour, \
     polls_per_minute, weight, models, modes, hours, spend_cap, cost_cap, state, credential, spent, health, \
     health_ms, retired, created_ms, revision";

impl FromRow for BackendRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            owner: columns.maybe_text()?,
            spec: BackendSpec {
                name: Name::kept(&columns.text()?),
                vendor: Text::cut(&columns.text()?),
                base_url: Text::cut(&columns.text()?),
                settings: serde_json::from_str(&columns.text()?).unwrap_or_default(),
                operations: list(&columns.text()?),
                rank: Count::clamped(columns.int()?),
                enabled: columns.flag()?.into(),
                shadow: None,
            },
            declared: columns.flag()?,
            switched_off: columns.flag()?,
            created_ms: columns.int()?,
            revision: columns.int()?,
        }
        .shadowed(columns.maybe_text()?))
    }
}

impl FromRow for WorkerRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            backend_id: columns.text()?,
            owner: columns.maybe_text()?,
            spec: WorkerSpec {
                name: Name::kept(&columns.text()?),
                credential: None,
                concurrency: Count::clamped(columns.int()?),
                per_minute: Count::clamped(columns.int()?),
                per_hour: Count::clamped(columns.int()?),
                polls_per_minute: Count::clamped(columns.int()?),
                weight: Count::clamped(columns.int()?),
                models: list(&columns.text()?),
                modes: list(&columns.text()?),
                hours: Hours::parse(&columns.text()?).unwrap_or_default(),
                spend_cap: columns.maybe_int()?.map(Quota::from_thousandths),
                cost_cap: columns.maybe_int()?.map(Amount::from_micros),
                state: WorkerState::from_word(&columns.text()?).unwrap_or_default(),
            },
            credential: columns.text()?,
            spent: columns.quota()?,
            costs: Vec::new(),
            health: columns.text()?,
            health_ms: columns.int()?,
            retired: columns.flag()?,
            created_ms: columns.int()?,
            revision: columns.int()?,
        })
    }
}

/// The entries of a stored list; one that a newer program wrote and this one cannot read is passed over.
fn list<T: DeserializeOwned>(text: &str) -> Vec<T> {
    let entries: Vec<serde_json::Value> = serde_json::from_str(text).unwrap_or_default();
    let read = |entry| serde_json::from_value(entry).ok();
    entries.into_iter().filter_map(read).collect()
}

/// Back ends and worker accounts.
#[derive(Clone, Copy, Debug)]
pub struct Workers<'a>(pub(crate) &'a StoreCore);

impl Workers<'_> {
    /// Every back end, in the order of fall-back.
    pub async fn backends(self) -> Result<Vec<BackendRow>> {
        let sql = format!("SELECT {BACKEND_COLUMNS} FROM backend ORDER BY rank, created_ms, id");
        self.0.db.all(&sql, &[]).await
    }

    /// Every worker account, oldest first.
    pub async fn list(self) -> Result<Vec<WorkerRow>> {
        let sql = format!("SELECT {WORKER_COLUMNS} FROM worker ORDER BY created_ms, id");
        let workers = self.0.db.all(&sql, &[]).await?;
        let sql = "SELECT worker_id, currency, cost FROM worker_cost ORDER BY worker_id, currency";
        Ok(with_costs(workers, self.0.db.all(sql, &[]).await?))
    }

    /// The back ends that a caller has worker accounts at, in the order of fall-back. They are found by those accounts, which
    /// have an index by owner; read on behalf of the caller.
    pub async fn backends_of_owner(self, account_id: &str) -> Result<Vec<BackendRow>> {
        let sql = format!(
            "SELECT {BACKEND_COLUMNS} FROM backend \
             WHERE id IN (SELECT backend_id FROM worker WHERE owner = $1) AND owner = $1 \
             ORDER BY rank, created_ms, id"
        );
        let reader = self.0.db.of(Some(account_id));
        reader.all(&sql, args![account_id]).await
    }

    /// The worker accounts of a caller, oldest first; read on behalf of the caller.
    pub async fn of_owner(self, account_id: &str) -> Result<Vec<WorkerRow>> {
        let reader = self.0.db.of(Some(account_id));
        let sql =
            format!("SELECT {WORKER_COLUMNS} FROM worker WHERE owner = $1 ORDER BY created_ms, id");
        let workers = reader.all(&sql, args![account_id]).await?;
        let sql = "SELECT worker_id, currency, cost FROM worker_cost \
             WHERE worker_id IN (SELECT id FROM worker WHERE owner = $1) \
             ORDER BY worker_id, currency";
        let costs = reader.all(sql, args![account_id]).await?;
        Ok(with_costs(workers, costs))
    }
}

/// Worker accounts with what their vendors say that they took.
fn with_costs(mut workers: Vec<WorkerRow>, costs: Vec<((String, String), i64)>) -> Vec<WorkerRow> {
    for ((worker_id, currency), cost) in costs {
        if let Some(row) = workers.iter_mut().find(|row| row.id == worker_id) {
            row.costs.push((currency, cost));
        }
    }
    workers
}

impl Attempts<'_> {
    /// When attempts began since a time, each with its worker, oldest first.
    pub async fn recent_starts(self, since_ms: i64) -> Result<Vec<(String, i64)>> {
        let sql = "SELECT worker, began_ms FROM attempt WHERE began_ms >= $1 ORDER BY began_ms";
        self.0.db.all(sql, args![since_ms]).await
    }

    /// How many attempts each worker has in hand, on all nodes together.
    pub async fn live_by_worker(self) -> Result<Vec<(String, i64)>> {
        let sql = "SELECT worker, COUNT(*) FROM attempt WHERE ended_ms IS NULL \
             GROUP BY worker ORDER BY worker";
        self.0.db.all(sql, &[]).await
    }

    /// The worker of every attempt at some jobs, each with its job, oldest first.
    pub async fn asked_workers(self, jobs: &[&str]) -> Result<Vec<(String, String)>> {
        let sql = "SELECT job_id, worker FROM attempt WHERE job_id IN ({list:$1}) \
             ORDER BY began_ms, id";
        self.0.db.all(sql, args![&json(jobs)]).await
    }
}

impl Queue<'_> {
    /// The jobs that wait in a lane, oldest first.
    pub async fn waiting_in_lane(self, lane: &str, limit: i64) -> Result<Vec<String>> {
        let sql = "SELECT id FROM job WHERE state = 0 AND lane = $1 ORDER BY turn_ms, id LIMIT $2";
        self.0.db.all(sql, args![lane, limit]).await
    }

    /// How many jobs wait in each lane.
    pub async fn waiting_by_lane(self) -> Result<Vec<(String, i64)>> {
        let sql = "SELECT lane, COUNT(*) FROM job WHERE state = 0 GROUP BY lane ORDER BY lane";
        self.0.db.all(sql, &[]).await
    }
}
