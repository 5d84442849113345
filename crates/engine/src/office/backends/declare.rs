//! Back ends that the configuration declares: the same at every start, and changed only there.

use atelier_contract::{Code, Refusal};
use atelier_store::{BackendRow, Removed};

use super::{BackendChange, RANK, WorkerChange};
use crate::engine::{Engine, unavailable};

/// A back end as the configuration declares it.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    /// The vendor's name.
    pub vendor: String,
    /// What is said about the back end; its name tells it from the others.
    pub backend: BackendChange,
    /// Its worker accounts, told apart by their names.
    pub workers: Vec<WorkerChange>,
}

impl Engine {
    /// Takes over what the configuration declares; what it no longer declares is removed, or drained first.
    pub async fn declare_backends(&self, declared: Vec<Declared>) -> Result<(), Refusal> {
        let mut kept = Vec::new();
        for one in declared {
            kept.push(self.declare(one).await?);
        }
        let rows = self.store.backends().await.map_err(unavailable)?;
        let left = rows
            .into_iter()
            .filter(|row| row.declared && !kept.contains(&row.id));
        for mut row in left {
            let removed = self.store.remove_backend(None, &row.id).await;
            if let Removed::Busy(_) = removed.map_err(unavailable)? {
                // What is in hand goes on; nothing new begins.
                row.enabled = false;
                self.store.put_backend(row).await.map_err(unavailable)?;
            }
        }
        self.pool_changed().await
    }

    async fn declare(&self, one: Declared) -> Result<String, Refusal> {
        let name = one.backend.name.clone().unwrap_or_default();
        let id = identifier(&name)?;
        let fresh = BackendRow {
            id: id.clone(),
            owner: None,
            name,
            vendor: one.vendor,
            base_url: String::new(),
            settings: "{}".into(),
            operations: "[]".into(),
            rank: RANK,
            enabled: true,
            declared: false,
            created_ms: self.now_ms(),
            revision: 1,
        };
        let mut row = self.changed_backend(fresh, one.backend)?;
        row.declared = true;
        let kept = self.store.put_backend(row.clone()).await;
        kept.map_err(unavailable)?;
        let mut workers = Vec::new();
        for change in one.workers {
            let name = change.name.clone().unwrap_or_else(|| "default".to_owned());
            let mut worker = self.new_worker(&row);
            worker.id = format!("{id}-{}", identifier(&name)?);
            workers.push(worker.id.clone());
            let change = WorkerChange {
                name: Some(name),
                ..change
            };
            self.put_worker(&row, worker, change).await?;
        }
        let stored = self.store.workers().await.map_err(unavailable)?;
        for worker in stored.into_iter().filter(|worker| worker.backend_id == id) {
            if !workers.contains(&worker.id) {
                let removed = self.store.remove_worker(None, &worker.id).await;
                if let Removed::Busy(_) = removed.map_err(unavailable)? {
                    let drained = atelier_store::WorkerRow {
                        state: "draining".into(),
                        ..worker
                    };
                    self.store.put_worker(drained).await.map_err(unavailable)?;
                }
            }
        }
        Ok(id)
    }
}

/// A declared thing is known by its name, so that every start means the same one.
fn identifier(name: &str) -> Result<String, Refusal> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.len() > 60 || !name.chars().all(plain) {
        return Err(Refusal::field(
            Code::InvalidParameter,
            "backends.name",
            "must be 1 to 60 letters, digits, dots, hyphens or underscores",
        ));
    }
    Ok(name.to_owned())
}
