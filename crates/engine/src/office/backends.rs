//! Back ends and worker accounts as their owners change them. A credential is sealed before it is stored and never
//! leaves again; a change is tried out before it is kept, is one commit with the row that tells of it, and applies on
//! every node at once.

mod check;
mod declare;
mod probe;
mod remove;
mod show;

pub(super) use remove::gone;
pub(super) use show::worker as show_worker;

use atelier_contract::pages::backends::{BackendSpec, BackendView};
use atelier_contract::pages::credential::Credential;
use atelier_contract::pages::patch::Patch;
use atelier_contract::pages::workers::{WorkerPatch, WorkerSpec, WorkerView};
use atelier_contract::{Code, Quota, Refusal};
use atelier_store::{Arranged, Arrangement, AuditRow, BackendRow, WorkerPut, WorkerRow};

use check::{refused, undeclared};

use crate::crash;
use crate::engine::{Engine, unavailable};
use crate::floor::pool::load::{credential_place, worker_name};
use crate::ids::random_bytes;
use crate::names::WorkerName;

impl Engine {
    /// Makes a back end of the operator's.
    pub async fn create_backend(
        &self,
        by: &str,
        patch: Patch<BackendSpec>,
    ) -> Result<BackendView, Refusal> {
        let row = self.new_backend(None, patch.made()?);
        self.check_backend(&row)?;
        let act = self.act(by, "backend.create", &row.id, &*row.spec.vendor);
        self.put_backend(row, act).await
    }

    /// Changes a back end of the operator's. One of the configuration can be switched off and on again, no more.
    pub async fn change_backend(
        &self,
        by: &str,
        id: &str,
        patch: Patch<BackendSpec>,
    ) -> Result<BackendView, Refusal> {
        let mut row = self.own_backend(id).await?;
        let spec = changed(&row.spec, &patch)?;
        if row.declared {
            row.switched_off = switched_off(&row, &spec, patch.gives("enabled"))?;
        } else {
            row.spec = spec;
            self.check_backend(&row)?;
        }
        let act = self.act(by, "backend.change", id, patch.names());
        self.put_backend(row, act).await
    }

    async fn put_backend(&self, row: BackendRow, act: AuditRow) -> Result<BackendView, Refusal> {
        let id = row.id.clone();
        let arrangement = Arrangement {
            backends: vec![row],
            ..Arrangement::default()
        };
        self.arrange(arrangement, act).await?;
        self.show_backend(&id).await
    }

    /// Makes a worker account of the operator's at a back end.
    pub async fn create_worker(
        &self,
        by: &str,
        backend_id: &str,
        patch: WorkerPatch,
    ) -> Result<WorkerView, Refusal> {
        let backend = self.own_backend(backend_id).await?;
        undeclared(&backend)?;
        let row = self.new_worker(&backend);
        let act = self.act(by, "worker.create", &row.id, patch.spec.names());
        self.put_worker(&backend, row, &patch, act).await
    }

    /// Changes a worker account of the operator's. Of one of the configuration, what passes can be changed.
    pub async fn change_worker(
        &self,
        by: &str,
        backend_id: &str,
        id: &str,
        patch: WorkerPatch,
    ) -> Result<WorkerView, Refusal> {
        let backend = self.own_backend(backend_id).await?;
        let row = self.worker_at(&backend, id).await?;
        if backend.declared {
            let spec = patch.spec.over(&row.spec)?;
            let same = WorkerSpec {
                state: row.spec.state,
                ..spec
            };
            if same != row.spec {
                undeclared(&backend)?;
            }
        }
        let act = self.act(by, "worker.change", id, patch.spec.names());
        self.put_worker(&backend, row, &patch, act).await
    }

    async fn put_worker(
        &self,
        backend: &BackendRow,
        row: WorkerRow,
        patch: &WorkerPatch,
        act: AuditRow,
    ) -> Result<WorkerView, Refusal> {
        let id = row.id.clone();
        let put = self.changed_worker(backend, row, patch)?;
        let arrangement = Arrangement {
            workers: vec![put],
            ..Arrangement::default()
        };
        self.arrange(arrangement, act).await?;
        self.show_worker(&id).await
    }

    /// Makes a change of back ends and worker accounts in one commit, here and on every other node.
    pub(super) async fn arrange(
        &self,
        arrangement: Arrangement,
        act: AuditRow,
    ) -> Result<(), Refusal> {
        let well: Vec<WorkerName> = arrangement
            .workers
            .iter()
            .filter(|put| put.health.is_some())
            .map(|put| worker_name(&put.row))
            .collect();
        let arranged = self.store.arrange(arrangement, Some(act)).await;
        match arranged.map_err(unavailable)? {
            Arranged::Done => {}
            Arranged::NameTaken => {
                return Err(Refusal::new(
                    Code::Conflict,
                    "there is a back end with this name",
                ));
            }
            Arranged::NoBackend => return Err(Refusal::new(Code::NotFound, "no such back end")),
        }
        crash::point("office.acted");
        let now_ms = self.now_ms();
        for name in well {
            self.pool
                .set_health(&name, |health| health.become_well(now_ms));
        }
        self.pool_changed().await
    }

    /// A row for a new back end.
    pub(super) fn new_backend(&self, owner: Option<&str>, spec: BackendSpec) -> BackendRow {
        BackendRow {
            id: self.ids.uuid(),
            owner: owner.map(str::to_owned),
            spec,
            declared: false,
            switched_off: false,
            created_ms: self.now_ms(),
            revision: 1,
        }
    }

    /// A row for a new worker account at a back end.
    pub(super) fn new_worker(&self, backend: &BackendRow) -> WorkerRow {
        WorkerRow {
            id: self.ids.uuid(),
            backend_id: backend.id.clone(),
            owner: backend.owner.clone(),
            spec: WorkerSpec::default(),
            credential: String::new(),
            spent: Quota::ZERO,
            health: String::new(),
            health_ms: 0,
            retired: false,
            created_ms: self.now_ms(),
            revision: 1,
        }
    }

    /// A worker account with a change made, if it can be set up so. Another credential is another chance.
    pub(super) fn changed_worker(
        &self,
        backend: &BackendRow,
        row: WorkerRow,
        patch: &WorkerPatch,
    ) -> Result<WorkerPut, Refusal> {
        let spec = patch.spec.over(&row.spec)?;
        let (row, fresh) = self.described(row, spec);
        self.build_worker(backend, &row)
            .map_err(|why| refused("account", &why))?;
        let reset = patch.resets.clear_health.on() || fresh;
        Ok(WorkerPut {
            health: reset.then(|| self.well_again(&worker_name(&row))),
            clear_spent: patch.resets.clear_spent.on(),
            row,
        })
    }

    /// A row as a description has it, its credential sealed; whether that is another credential than before.
    pub(super) fn described(&self, mut row: WorkerRow, mut spec: WorkerSpec) -> (WorkerRow, bool) {
        let given = spec.credential.take();
        row.spec = spec;
        let fresh = given.filter(|given| !self.has_credential(&row, given));
        if let Some(credential) = &fresh {
            row.credential = self.seal_credential(&row.id, credential.reveal());
        }
        (row, fresh.is_some())
    }

    /// Health with everything forgotten that is held against a worker account, as it is stored, and its time.
    fn well_again(&self, name: &WorkerName) -> (String, i64) {
        let now_ms = self.now_ms();
        let known = {
            let members = self.pool.members();
            let found = members.iter().find(|member| member.candidate.name == *name);
            found.map(|member| member.candidate.health.clone())
        };
        let mut health = known.unwrap_or_default();
        health.become_well(now_ms);
        (serde_json::to_string(&health).unwrap_or_default(), now_ms)
    }

    /// Whether a worker account has this very credential.
    fn has_credential(&self, row: &WorkerRow, given: &Credential) -> bool {
        if row.credential.is_empty() {
            return given.is_empty();
        }
        let place = credential_place(&row.id);
        let opened = self
            .keyring
            .sealer()
            .open(&row.credential, place.as_bytes());
        opened.is_ok_and(|opened| opened == given.reveal().as_bytes())
    }

    /// Seals a credential for the worker account it belongs to.
    fn seal_credential(&self, worker_id: &str, credential: &str) -> String {
        if credential.is_empty() {
            return String::new();
        }
        let place = credential_place(worker_id);
        self.keyring
            .sealer()
            .seal(credential.as_bytes(), place.as_bytes(), random_bytes())
    }

    /// Takes a change over here, and has every other node do the same.
    pub(super) async fn pool_changed(&self) -> Result<(), Refusal> {
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
            .members()
            .iter()
            .any(|one| one.worker_id.is_none() && one.candidate.backend == id)
        {
            return Err(Refusal::new(
                Code::Conflict,
                "this back end is part of the program; the [studio] settings change it",
            ));
        }
        found.ok_or_else(|| Refusal::new(Code::NotFound, "no such back end"))
    }

    /// A back end of an owner.
    pub(super) async fn backend_row(
        &self,
        owner: Option<&str>,
        id: &str,
    ) -> Result<Option<BackendRow>, Refusal> {
        let rows = self.store.backends().await.map_err(unavailable)?;
        let mine = |row: &BackendRow| row.id == id && row.owner.as_deref() == owner;
        Ok(rows.into_iter().find(mine))
    }

    /// A worker account at a back end, whose owner is the back end's.
    pub(super) async fn worker_at(
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

/// A back end's description with a change made; its vendor stays.
pub(super) fn changed(
    old: &BackendSpec,
    patch: &Patch<BackendSpec>,
) -> Result<BackendSpec, Refusal> {
    Ok(BackendSpec {
        vendor: old.vendor.clone(),
        ..patch.over(old)?
    })
}

/// Whether a back end of the configuration is switched off after a change, if the change is no more than that.
fn switched_off(row: &BackendRow, spec: &BackendSpec, given: bool) -> Result<bool, Refusal> {
    let same = BackendSpec {
        enabled: row.spec.enabled,
        ..spec.clone()
    };
    if same != row.spec || (given && spec.enabled.on() && !row.spec.enabled.on()) {
        undeclared(row)?;
    }
    Ok(if given {
        !spec.enabled.on()
    } else {
        row.switched_off
    })
}
