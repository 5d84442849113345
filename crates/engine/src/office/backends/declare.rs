//! Back ends that the configuration declares: the same at every start, and described only there. What an operator
//! switched stays switched.

use atelier_contract::pages::backends::Declared;
use atelier_contract::pages::name::Name;
use atelier_contract::pages::workers::WorkerSpec;
use atelier_contract::{Code, Refusal};
use atelier_store::{Arrangement, BackendRow, WorkerPut, WorkerRow};

use super::check::refused;
use crate::engine::{Engine, unavailable};
use crate::floor::pool::load::worker_name;

/// Who declares, in the audit record.
const BY: &str = "configuration";

impl Engine {
    /// Takes over what the configuration declares, in one commit; what it no longer declares is removed, or drained
    /// first. Nothing is written when nothing is different.
    pub async fn declare_backends(&self, declared: Vec<Declared>) -> Result<(), Refusal> {
        let backends = self.store.backends().await.map_err(unavailable)?;
        let workers = self.store.workers().await.map_err(unavailable)?;
        let mut wanted = Arrangement {
            keeps_switches: true,
            ..Arrangement::default()
        };
        let (mut kept, mut names) = (Vec::new(), Vec::new());
        for one in declared {
            let id = identifier(&one.spec.name)?;
            names.push(id.clone());
            let (row, known) = self.declared_row(&backends, &id, &one)?;
            for account in one.accounts {
                let put = self.declared_worker(&workers, &row, account)?;
                kept.push(put.row.id.clone());
                if !workers.contains(&put.row) {
                    wanted.workers.push(put);
                }
            }
            if known != Some(&row) {
                wanted.backends.push(row);
            }
        }
        let leaves = |row: &&BackendRow| row.declared && !names.contains(&row.id);
        let leaving = backends.iter().filter(leaves).map(|row| row.id.clone());
        wanted.leaving_backends = leaving.collect();
        let leaves = |row: &&WorkerRow| names.contains(&row.backend_id) && !kept.contains(&row.id);
        let leaving = workers.iter().filter(leaves).map(|row| row.id.clone());
        wanted.leaving_workers = leaving.collect();
        let same = wanted.backends.is_empty()
            && wanted.workers.is_empty()
            && wanted.leaving_backends.is_empty()
            && wanted.leaving_workers.is_empty();
        if same {
            return self.pool_changed().await;
        }
        let act = self.act(BY, "backends.declare", "backends", names.join(" "));
        self.arrange(wanted, act).await
    }

    /// The row of a declared back end, and the one that is stored.
    fn declared_row<'a>(
        &self,
        backends: &'a [BackendRow],
        id: &str,
        one: &Declared,
    ) -> Result<(BackendRow, Option<&'a BackendRow>), Refusal> {
        let known = backends
            .iter()
            .find(|row| row.id == id && row.owner.is_none());
        let fresh = || BackendRow {
            id: id.to_owned(),
            ..self.new_backend(None, one.spec.clone())
        };
        let row = BackendRow {
            spec: one.spec.clone(),
            declared: true,
            ..known.cloned().unwrap_or_else(fresh)
        };
        self.check_backend(&row)?;
        Ok((row, known))
    }

    /// A declared worker account: its state is the operator's once it is there, the rest is the configuration's.
    fn declared_worker(
        &self,
        workers: &[WorkerRow],
        backend: &BackendRow,
        mut spec: WorkerSpec,
    ) -> Result<WorkerPut, Refusal> {
        if spec.name.is_empty() {
            spec.name = Name::kept("default");
        }
        // No credential in the configuration means none, not the old one.
        spec.credential = Some(spec.credential.unwrap_or_default());
        let id = format!("{}-{}", backend.id, identifier(&spec.name)?);
        let known = workers.iter().find(|row| row.id == id).cloned();
        let fresh = || WorkerRow {
            id: id.clone(),
            ..self.new_worker(backend)
        };
        let is_known = known.is_some();
        let mut row = known.unwrap_or_else(fresh);
        if is_known {
            spec.state = row.spec.state;
        }
        row.retired = false;
        let (row, another) = self.described(row, spec);
        self.build_worker(backend, &row)
            .map_err(|why| refused("account", &why))?;
        Ok(WorkerPut {
            health: another.then(|| self.well_again(&worker_name(&row))),
            clear_spent: false,
            row,
        })
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
