//! Back ends and worker accounts as they are kept: rows made, changed, tried out and stored, for the operator and for
//! callers alike. A credential is sealed before it is stored and never leaves again; a change is tried out before it is
//! kept, is one commit with the row that tells of it, and applies on every node at once.

use std::sync::Arc;

use atelier_backends::FieldError;
use atelier_contract::pages::backends::{BackendSpec, BackendView};
use atelier_contract::pages::credential::Credential;
use atelier_contract::pages::patch::Patch;
use atelier_contract::pages::workers::{WorkerPatch, WorkerSpec, WorkerView};
use atelier_contract::{Code, Quota, Refusal};
use atelier_store::{
    AuditRow, BackendChange, BackendChangeOutcome, BackendRow, ExpectedRevision, RemoveOutcome,
    WorkerRow, WorkerUpsert,
};

use super::backend_views;
use crate::context::{Context, unavailable};
use crate::crash;
use crate::hint::Hint;
use crate::ids::random_bytes;
use crate::names::WorkerName;
use crate::runner::{Runner, credential_place};

/// A change that others crossed is made anew so many times.
pub(super) const CROSSED_MOST: usize = 20;

/// Keeps back ends and worker accounts.
pub(super) struct Registry {
    context: Arc<Context>,
    runner: Arc<Runner>,
}

impl Registry {
    pub(super) fn new(context: Arc<Context>, runner: Arc<Runner>) -> Self {
        Self { context, runner }
    }

    /// Makes a change of back ends and worker accounts in one commit, here and on every other node; false when
    /// something was changed since it was read, and is to be read again.
    pub(super) async fn apply_backend_change(
        &self,
        arrangement: BackendChange,
        act: AuditRow,
    ) -> Result<bool, Refusal> {
        let reset = arrangement.workers.iter().filter_map(|put| {
            let (health, _) = put.health.clone()?;
            Some((WorkerName::from(&put.row), health))
        });
        let reset: Vec<(WorkerName, String)> = reset.collect();
        let arrangement = BackendChange {
            alive_since_ms: self.context.alive_since_ms(),
            ..arrangement
        };
        let arranged = self
            .context
            .store()
            .workers()
            .apply_backend_change(arrangement, Some(act))
            .await;
        match arranged.map_err(unavailable)? {
            BackendChangeOutcome::Done => {}
            BackendChangeOutcome::NameTaken => {
                return Err(Refusal::new(
                    Code::Conflict,
                    "there is a back end with this name",
                ));
            }
            BackendChangeOutcome::Crossed => return Ok(false),
            BackendChangeOutcome::OlderNode(node) => {
                return Err(older_node(
                    &node,
                    "would give jobs to a back end that is rehearsed",
                ));
            }
            BackendChangeOutcome::NoBackend => {
                return Err(Refusal::new(Code::NotFound, "no such back end"));
            }
        }
        crash::point("admin.acted");
        self.runner.workers().take_over_health(reset);
        self.pool_changed().await?;
        Ok(true)
    }

    /// A row for a new back end.
    pub(super) fn new_backend(&self, owner: Option<&str>, spec: BackendSpec) -> BackendRow {
        BackendRow {
            id: self.context.ids().uuid(),
            owner: owner.map(str::to_owned),
            spec,
            declared: false,
            switched_off: false,
            created_ms: self.context.now_ms(),
            revision: 1,
        }
    }

    /// A row for a new worker account at a back end.
    pub(super) fn new_worker(&self, backend: &BackendRow) -> WorkerRow {
        WorkerRow {
            id: self.context.ids().uuid(),
            backend_id: backend.id.clone(),
            owner: backend.owner.clone(),
            spec: WorkerSpec::default(),
            credential: String::new(),
            spent: Quota::ZERO,
            costs: Vec::new(),
            health: String::new(),
            health_ms: 0,
            retired: false,
            created_ms: self.context.now_ms(),
            revision: 1,
        }
    }

    /// A worker account with a change made, if it can be set up so. Another credential is another chance.
    pub(super) fn changed_worker(
        &self,
        backend: &BackendRow,
        row: WorkerRow,
        patch: &WorkerPatch,
    ) -> Result<WorkerUpsert, Refusal> {
        let spec = patch.spec.over(&row.spec)?;
        let (row, fresh) = self.described(row, spec);
        self.runner
            .workers()
            .build(backend, &row)
            .map_err(refused)?;
        let reset = patch.resets.clear_health.on() || fresh;
        Ok(WorkerUpsert {
            health: reset.then(|| {
                let workers = self.runner.workers();
                workers.reset_health(&WorkerName::from(&row), fresh)
            }),
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

    /// Whether a worker account has this very credential.
    fn has_credential(&self, row: &WorkerRow, given: &Credential) -> bool {
        if row.credential.is_empty() {
            return given.is_empty();
        }
        let place = credential_place(&row.id);
        let opened = self
            .context
            .keyring()
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
        self.context.keyring().sealer().seal(
            credential.as_bytes(),
            place.as_bytes(),
            random_bytes(),
        )
    }

    /// Takes a change over here, and has every other node do the same.
    pub(super) async fn pool_changed(&self) -> Result<(), Refusal> {
        self.runner.workers().load().await.map_err(unavailable)?;
        self.context.broadcast(Hint::Pool);
        self.context.wakes().work.notify_one();
        Ok(())
    }

    /// A back end of the operator's that can be changed here.
    pub(super) async fn own_backend(&self, id: &str) -> Result<BackendRow, Refusal> {
        let found = self.backend_row(id).await?;
        let reports = self.runner.workers().reports();
        if reports.iter().any(|one| one.inside && one.backend == id) {
            return Err(Refusal::new(
                Code::Conflict,
                "this back end is part of the program; the [studio] settings change it",
            ));
        }
        found.ok_or_else(|| Refusal::new(Code::NotFound, "no such back end"))
    }

    /// Every back end, whoever owns it.
    async fn backend_rows(&self) -> Result<Vec<BackendRow>, Refusal> {
        let rows = self.context.store().workers().backends().await;
        rows.map_err(unavailable)
    }

    /// Every worker account, whoever owns it.
    async fn worker_rows(&self) -> Result<Vec<WorkerRow>, Refusal> {
        let rows = self.context.store().workers().list().await;
        rows.map_err(unavailable)
    }

    /// A back end of the operator's.
    async fn backend_row(&self, id: &str) -> Result<Option<BackendRow>, Refusal> {
        let rows = self.backend_rows().await?;
        let mine = |row: &BackendRow| row.id == id && row.owner.is_none();
        Ok(rows.into_iter().find(mine))
    }

    /// The worker accounts at a back end, or one of them.
    pub(super) async fn workers_at(
        &self,
        backend: &BackendRow,
        worker_id: Option<&str>,
    ) -> Result<Vec<WorkerRow>, Refusal> {
        if let Some(id) = worker_id {
            return Ok(vec![self.worker_at(backend, id).await?]);
        }
        let rows = self.worker_rows().await?;
        let here = |row: &WorkerRow| row.backend_id == backend.id;
        Ok(rows.into_iter().filter(here).collect())
    }

    /// A worker account at a back end, whose owner is the back end's.
    pub(super) async fn worker_at(
        &self,
        backend: &BackendRow,
        id: &str,
    ) -> Result<WorkerRow, Refusal> {
        let rows = self.worker_rows().await?;
        rows.into_iter()
            .find(|row| row.id == id && row.backend_id == backend.id && row.owner == backend.owner)
            .ok_or_else(|| Refusal::new(Code::NotFound, "no such account"))
    }

    /// Refuses a back end that cannot be set up as it is described.
    pub(super) fn check_backend(&self, row: &BackendRow) -> Result<(), Refusal> {
        self.runner.workers().check_backend(row).map_err(refused)
    }

    /// Every back end of the operator's with its worker accounts, in the order of fall-back; the embedded one too.
    pub(super) async fn backends(&self) -> Result<Vec<BackendView>, Refusal> {
        let rows = self.backend_rows().await?;
        let workers = self.worker_rows().await?;
        let reports = self.runner.workers().reports();
        let inside = reports.iter().filter(|one| one.inside);
        let mut shown: Vec<BackendView> = inside.map(backend_views::embedded).collect();
        let own = rows.iter().filter(|row| row.owner.is_none());
        shown.extend(own.map(|row| backend_views::backend(row, &workers, &reports)));
        shown.sort_by_key(|one| one.rank);
        Ok(shown)
    }

    /// One back end of the operator's with its worker accounts.
    pub(super) async fn show_backend(&self, id: &str) -> Result<BackendView, Refusal> {
        let all = self.backends().await?;
        all.into_iter()
            .find(|one| one.id == id)
            .ok_or_else(|| Refusal::new(Code::NotFound, "no such back end"))
    }

    /// One worker account, whoever owns it.
    pub(super) async fn show_worker(&self, id: &str) -> Result<WorkerView, Refusal> {
        let rows = self.worker_rows().await?;
        let reports = self.runner.workers().reports();
        rows.iter()
            .find(|row| row.id == id)
            .map(|row| backend_views::worker(row, &reports))
            .ok_or_else(no_account)
    }
}

/// A description that cannot be taken, with the field to blame.
pub(super) fn refused(wrong: FieldError) -> Refusal {
    Refusal::invalid(&wrong.field, wrong.why)
}

/// Refuses what only the configuration may change.
pub(super) fn undeclared(row: &BackendRow) -> Result<(), Refusal> {
    if row.declared {
        return Err(Refusal::new(
            Code::Conflict,
            "this back end comes from the configuration; change it there",
        ));
    }
    Ok(())
}

pub(super) fn no_account() -> Refusal {
    Refusal::new(Code::NotFound, "no such account")
}

/// Whether a changed back end is another server, or the same one asked otherwise: what was shown of it before says nothing.
pub(super) fn goes_elsewhere(old: &BackendSpec, new: &BackendSpec) -> bool {
    old.base_url != new.base_url || old.settings != new.settings
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

/// What became of a removal, in words.
pub(super) fn gone(removed: RemoveOutcome, absent: &str) -> Result<(), Refusal> {
    match removed {
        RemoveOutcome::Done => Ok(()),
        RemoveOutcome::Absent => Err(Refusal::new(Code::NotFound, absent)),
        RemoveOutcome::Busy(jobs) => Err(Refusal::new(
            Code::Conflict,
            format!(
                "{jobs} jobs are in hand there; set it to draining and try again when they have ended"
            ),
        )),
    }
}

/// A back end as it was read.
pub(super) fn seen_backend(row: &BackendRow) -> ExpectedRevision {
    ExpectedRevision::Backend(row.id.clone(), row.revision)
}

/// A worker account as it was read.
pub(super) fn seen_worker(row: &WorkerRow) -> ExpectedRevision {
    ExpectedRevision::Worker(row.id.clone(), row.revision)
}

/// Refuses the first use of what a node at work would not know.
pub(super) fn older_node(node: &str, lacks: &str) -> Refusal {
    let message =
        format!("the node {node} runs an older release that {lacks}; upgrade or stop it first");
    Refusal::new(Code::Conflict, message)
}

/// Refuses a change that others crossed again and again.
pub(super) fn crossed() -> Refusal {
    Refusal::new(
        Code::Conflict,
        "others are changing it at the same time; look at it and try again",
    )
}
