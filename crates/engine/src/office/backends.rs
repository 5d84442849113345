//! Back ends and worker accounts as their owners change them. A credential is sealed before it is stored and never
//! leaves again; a change is tried out before it is kept, and applies on every node at once.

mod check;
mod declare;
mod show;

pub use declare::Declared;
pub(crate) use show::worker as show_row;

use std::sync::Arc;

use atelier_contract::{Code, Quota, Refusal};
use atelier_store::{BackendRow, Removed, WorkerRow};
use serde_json::Value;

use crate::engine::{Engine, unavailable};
use crate::ids::random_bytes;
use crate::pool::load::{credential_place, worker_name};

/// What is said about a back end; what is left out stays as it is.
#[derive(Clone, Debug, Default)]
pub struct BackendChange {
    /// What the operator calls it.
    pub name: Option<String>,
    /// Where it is.
    pub base_url: Option<String>,
    /// The vendor's own settings.
    pub settings: Option<Value>,
    /// The operations or families it may serve; empty for all it can.
    pub operations: Option<Vec<String>>,
    /// Its place in the order of fall-back, lowest first.
    pub rank: Option<i64>,
    /// Whether it is used.
    pub enabled: Option<bool>,
}

/// What is said about a worker account; what is left out stays as it is.
#[derive(Clone, Debug, Default)]
pub struct WorkerChange {
    /// What its owner calls it.
    pub name: Option<String>,
    /// Its credential at the vendor.
    pub credential: Option<String>,
    /// Jobs it works on at once.
    pub concurrency: Option<i64>,
    /// Starts in any minute; 0 for no limit.
    pub per_minute: Option<i64>,
    /// Starts in any hour; 0 for no limit.
    pub per_hour: Option<i64>,
    /// Questions about running jobs in a minute; 0 for no limit.
    pub polls_per_minute: Option<i64>,
    /// Its share of the work among its neighbours.
    pub weight: Option<i64>,
    /// The models it may serve; empty for all.
    pub models: Option<Vec<String>>,
    /// The speeds it may serve; empty for all.
    pub modes: Option<Vec<String>>,
    /// Its work hours; empty for always.
    pub hours: Option<String>,
    /// The most it may spend, in quota; `Some(None)` for no limit.
    pub spend_cap: Option<Option<Quota>>,
    /// `active`, `draining` or `paused`.
    pub state: Option<String>,
    /// Counts what it spent from zero again.
    pub clear_spent: bool,
    /// Forgets what is held against it, such as a ban.
    pub clear_health: bool,
}

impl WorkerChange {
    /// Whether it is about the moment only, and leaves the account what it is.
    fn is_passing(&self) -> bool {
        let Self {
            name: None,
            credential: None,
            concurrency: None,
            per_minute: None,
            per_hour: None,
            polls_per_minute: None,
            weight: None,
            models: None,
            modes: None,
            hours: None,
            spend_cap: None,
            ..
        } = self
        else {
            return false;
        };
        true
    }
}

/// Starts a minute that a new worker account may be asked about, unless it is said otherwise.
const POLLS_PER_MINUTE: i64 = 600;
const CONCURRENCY: i64 = 3;
const RANK: i64 = 100;

impl Engine {
    /// Makes a back end of the operator's.
    pub async fn create_backend(
        &self,
        vendor: &str,
        change: BackendChange,
    ) -> Result<Value, Refusal> {
        let row = BackendRow {
            id: self.ids.uuid(),
            owner: None,
            name: String::new(),
            vendor: vendor.to_owned(),
            base_url: String::new(),
            settings: "{}".into(),
            operations: "[]".into(),
            rank: RANK,
            enabled: true,
            declared: false,
            created_ms: self.now_ms(),
            revision: 1,
        };
        let row = self.changed_backend(row, change)?;
        self.put_backend(row).await
    }

    /// Changes a back end of the operator's.
    pub async fn change_backend(&self, id: &str, change: BackendChange) -> Result<Value, Refusal> {
        let row = self.own_backend(id).await?;
        let row = self.changed_backend(row, change)?;
        self.put_backend(row).await
    }

    async fn put_backend(&self, row: BackendRow) -> Result<Value, Refusal> {
        let id = row.id.clone();
        self.store.put_backend(row).await.map_err(unavailable)?;
        self.pool_changed().await?;
        self.show_backend(&id).await
    }

    /// Removes a back end of the operator's with its worker accounts; one with jobs in hand stays.
    pub async fn remove_backend(&self, id: &str) -> Result<(), Refusal> {
        undeclared(&self.own_backend(id).await?)?;
        let removed = self.store.remove_backend(None, id).await;
        gone(removed.map_err(unavailable)?, "no such back end")?;
        self.pool_changed().await
    }

    /// Makes a worker account of the operator's at a back end.
    pub async fn create_worker(
        &self,
        backend_id: &str,
        change: WorkerChange,
    ) -> Result<Value, Refusal> {
        let backend = self.own_backend(backend_id).await?;
        undeclared(&backend)?;
        let row = self.new_worker(&backend);
        self.put_worker(&backend, row, change).await
    }

    /// Changes a worker account of the operator's.
    pub async fn change_worker(
        &self,
        backend_id: &str,
        id: &str,
        change: WorkerChange,
    ) -> Result<Value, Refusal> {
        let backend = self.own_backend(backend_id).await?;
        let row = self.worker_at(&backend, id).await?;
        if !change.is_passing() {
            undeclared(&backend)?;
        }
        self.put_worker(&backend, row, change).await
    }

    /// Removes a worker account of the operator's; one with jobs in hand stays.
    pub async fn remove_worker(&self, backend_id: &str, id: &str) -> Result<(), Refusal> {
        let backend = self.own_backend(backend_id).await?;
        undeclared(&backend)?;
        self.worker_at(&backend, id).await?;
        let removed = self.store.remove_worker(None, id).await;
        gone(removed.map_err(unavailable)?, "no such account")?;
        self.pool_changed().await
    }

    /// Asks the vendors of a back end's worker accounts whether they are well; what they say counts.
    pub async fn probe_backend(&self, id: &str, worker_id: Option<&str>) -> Result<Value, Refusal> {
        let backend = self.own_backend(id).await?;
        if let Some(worker_id) = worker_id {
            self.worker_at(&backend, worker_id).await?;
        }
        let asked: Vec<_> = {
            let stations = self.pool.stations();
            let wanted = stations.iter().filter(|station| {
                station.desk.backend == id
                    && worker_id.is_none_or(|wanted| station.worker_id.as_deref() == Some(wanted))
            });
            wanted
                .map(|station| (station.desk.name.clone(), Arc::clone(&station.backend)))
                .collect()
        };
        for (name, backend) in asked {
            // What came of it shows in the health.
            let _ = self.probe_worker(&name, backend.as_ref()).await;
        }
        self.write_notes().await.map_err(unavailable)?;
        self.show_backend(id).await
    }

    /// A row for a new worker account at a back end.
    pub(crate) fn new_worker(&self, backend: &BackendRow) -> WorkerRow {
        WorkerRow {
            id: self.ids.uuid(),
            backend_id: backend.id.clone(),
            owner: backend.owner.clone(),
            name: String::new(),
            credential: String::new(),
            concurrency: CONCURRENCY,
            per_minute: 0,
            per_hour: 0,
            polls_per_minute: POLLS_PER_MINUTE,
            weight: 1,
            models: "[]".into(),
            modes: "[]".into(),
            hours: String::new(),
            spend_cap: None,
            spent: Quota::ZERO,
            state: "active".into(),
            health: String::new(),
            health_ms: 0,
            created_ms: self.now_ms(),
            revision: 1,
        }
    }

    /// Tries a change of a worker account out and keeps it.
    pub(crate) async fn put_worker(
        &self,
        backend: &BackendRow,
        row: WorkerRow,
        change: WorkerChange,
    ) -> Result<Value, Refusal> {
        let (clear_spent, clear_health) = (change.clear_spent, change.clear_health);
        let fresh_credential = match &change.credential {
            Some(given) => !self.has_credential(&row.id, given).await?,
            None => false,
        };
        let row = self.changed_worker(row, change)?;
        self.build_worker(backend, &row)
            .map_err(|why| refused("account", &why))?;
        let (id, name) = (row.id.clone(), worker_name(&row));
        let kept = self.store.put_worker(row).await.map_err(unavailable)?;
        if !kept {
            return Err(Refusal::new(Code::NotFound, "no such back end"));
        }
        if clear_spent {
            self.store.clear_spent(&id).await.map_err(unavailable)?;
        }
        self.pool_changed().await?;
        // Another credential is another chance.
        if clear_health || fresh_credential {
            let now_ms = self.now_ms();
            self.pool
                .set_health(&name, |health| health.become_well(now_ms));
            self.write_notes().await.map_err(unavailable)?;
        }
        self.show_worker(&id).await
    }

    /// Whether a stored worker account has this very credential.
    async fn has_credential(&self, worker_id: &str, given: &str) -> Result<bool, Refusal> {
        let stored = self.store.workers().await.map_err(unavailable)?;
        let stored = stored.into_iter().find(|row| row.id == worker_id);
        let opened = stored.and_then(|row| {
            let place = credential_place(worker_id);
            let sealer = self.keyring.sealer();
            sealer.open(&row.credential, place.as_bytes()).ok()
        });
        Ok(opened.is_some_and(|opened| opened == given.as_bytes()))
    }

    /// Seals a credential for the worker account it belongs to.
    pub(crate) fn seal_credential(&self, worker_id: &str, credential: &str) -> String {
        if credential.is_empty() {
            return String::new();
        }
        let place = credential_place(worker_id);
        self.keyring
            .sealer()
            .seal(credential.as_bytes(), place.as_bytes(), random_bytes())
    }

    /// Takes a change over here, and has every other node do the same.
    pub(crate) async fn pool_changed(&self) -> Result<(), Refusal> {
        self.load_pool().await.map_err(unavailable)?;
        self.wake_pool();
        self.wakes.work.notify_one();
        Ok(())
    }

    /// A back end of the operator's that can be changed here.
    async fn own_backend(&self, id: &str) -> Result<BackendRow, Refusal> {
        let found = self.backend_row(None, id).await?;
        if self
            .pool
            .stations()
            .iter()
            .any(|one| one.worker_id.is_none() && one.desk.backend == id)
        {
            return Err(Refusal::new(
                Code::Conflict,
                "this back end is part of the program; the [studio] settings change it",
            ));
        }
        found.ok_or_else(|| Refusal::new(Code::NotFound, "no such back end"))
    }

    /// A back end of an owner.
    pub(crate) async fn backend_row(
        &self,
        owner: Option<&str>,
        id: &str,
    ) -> Result<Option<BackendRow>, Refusal> {
        let rows = self.store.backends().await.map_err(unavailable)?;
        let mine = |row: &BackendRow| row.id == id && row.owner.as_deref() == owner;
        Ok(rows.into_iter().find(mine))
    }

    /// A worker account at a back end, whose owner is the back end's.
    pub(crate) async fn worker_at(
        &self,
        backend: &BackendRow,
        id: &str,
    ) -> Result<WorkerRow, Refusal> {
        let rows = self.store.workers().await.map_err(unavailable)?;
        rows.into_iter()
            .find(|row| row.id == id && row.backend_id == backend.id && row.owner == backend.owner)
            .ok_or_else(|| Refusal::new(Code::NotFound, "no such account"))
    }
}

/// Refuses what only the configuration may change.
pub(crate) fn undeclared(row: &BackendRow) -> Result<(), Refusal> {
    if row.declared {
        return Err(Refusal::new(
            Code::Conflict,
            "this back end comes from the configuration; change it there",
        ));
    }
    Ok(())
}

/// What is wrong, with the field it names in front, if it names one.
pub(crate) fn refused(field: &str, why: &str) -> Refusal {
    match why.split_once(": ") {
        Some((named, rest))
            if named
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_.[]".contains(c)) =>
        {
            Refusal::invalid(named, rest)
        }
        _ => Refusal::invalid(field, why),
    }
}

pub(crate) fn gone(removed: Removed, absent: &str) -> Result<(), Refusal> {
    match removed {
        Removed::Done => Ok(()),
        Removed::Absent => Err(Refusal::new(Code::NotFound, absent)),
        Removed::Busy(jobs) => Err(Refusal::new(
            Code::Conflict,
            format!(
                "{jobs} jobs are in hand there; set it to draining and try again when they have ended"
            ),
        )),
    }
}
