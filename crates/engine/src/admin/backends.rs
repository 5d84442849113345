//! Back ends and worker accounts of the operator's, as operators make, change, ask and remove them.

mod cheapest;
mod declare;
mod probe;
mod test_jobs;
mod verify;

use std::sync::Arc;

use atelier_contract::models::ModelDefinition;
use atelier_contract::pages::backends::{BackendSpec, BackendView, DeclaredBackend};
use atelier_contract::pages::cost::Amount;
use atelier_contract::pages::patch::Patch;
use atelier_contract::pages::verify::{Verification, VerifyBody, VerifyOutcome};
use atelier_contract::pages::workers::{WorkerPatch, WorkerSpec, WorkerView};
use atelier_contract::{Code, Refusal};
use atelier_store::{BackendChange, BackendRow, WorkerRow, WorkerUpsert};

use super::registry::{
    CROSSED_MOST, Registry, changed, crossed, goes_elsewhere, gone, no_account, seen_backend,
    seen_worker, undeclared,
};
use crate::context::{Context, unavailable};
use crate::crash;
use crate::names::WorkerName;
use crate::runner::Runner;

pub(super) use probe::probe as ask_vendors;
use test_jobs::test_jobs;

/// The operator's back ends and their worker accounts.
pub struct Backends {
    context: Arc<Context>,
    runner: Arc<Runner>,
    registry: Arc<Registry>,
}

impl Backends {
    pub(super) fn new(context: Arc<Context>, runner: Arc<Runner>, registry: Arc<Registry>) -> Self {
        Self {
            context,
            runner,
            registry,
        }
    }

    /// Every back end of the operator's with its worker accounts, in the order of fall-back; the embedded one too.
    pub async fn list(&self) -> Result<Vec<BackendView>, Refusal> {
        self.registry.backends().await
    }

    /// One back end of the operator's with its worker accounts.
    pub async fn one(&self, id: &str) -> Result<BackendView, Refusal> {
        self.registry.show_backend(id).await
    }

    /// Takes over what the configuration declares, in one commit; what it no longer declares is removed, or drained
    /// first. Nothing is written when nothing is different.
    pub async fn declare(&self, declared: Vec<DeclaredBackend>) -> Result<(), Refusal> {
        declare::declare(&self.context, &self.runner, &self.registry, declared).await
    }

    /// Asks the vendors of a back end's worker accounts, or of one. A vendor that is not well is a refusal with the
    /// class of the fault and the vendor's words.
    pub async fn probe(
        &self,
        by: &str,
        id: &str,
        worker_id: Option<&str>,
    ) -> Result<BackendView, Refusal> {
        let backend = self.registry.own_backend(id).await?;
        let asked = self.registry.workers_at(&backend, worker_id).await?;
        if asked.is_empty() {
            let message = "there is no worker account to ask the vendor with";
            return Err(Refusal::new(Code::BackendFailed, message));
        }
        let models = self.runner.routed_models(&backend.id, &backend.spec.name);
        let faults = ask_vendors(&self.runner, &backend, &asked, &models).await;
        let target = worker_id.unwrap_or_default();
        let act = self.context.act(by, "backend.probe", id, target);
        let noted = self.runner.workers().write_notes(Some(act)).await;
        noted.map_err(unavailable)?;
        if faults.is_empty() {
            return self.one(id).await;
        }
        Err(Refusal::new(Code::BackendFailed, faults.join("; ")))
    }

    /// Tries the routes of a back end, each with one cheap job at the vendor, and spends no more than was given.
    pub async fn verify(
        &self,
        by: &str,
        id: &str,
        body: VerifyBody,
        models: &[ModelDefinition],
    ) -> Result<Verification, Refusal> {
        let row = self.registry.own_backend(id).await?;
        let asked = self.registry.workers_at(&row, None).await?;
        let mut report = Verification {
            backend: row.spec.name.to_string(),
            vendor: row.spec.vendor.to_string(),
            problem: None,
            spent: Amount::default(),
            routes: Vec::new(),
        };
        let workers = self.runner.workers();
        let mut known = asked.iter().map(WorkerName::from);
        let Some(backend) = known.find_map(|name| workers.backend(&name)) else {
            report.problem = Some("no worker account takes work".to_owned());
            return Ok(report);
        };
        let jobs = test_jobs(&row, backend.as_ref(), models);
        let wanted = body.route.as_deref();
        let jobs = jobs
            .iter()
            .filter(|job| wanted.is_none_or(|route| route == job.route));
        if body.plan.on() {
            let models = self.runner.routed_models(&row.id, &row.spec.name);
            let faults = ask_vendors(&self.runner, &row, &asked, &models).await;
            report.problem = Some(faults.join("; ")).filter(|words| !words.is_empty());
            let planned = || VerifyOutcome::Planned;
            let rows = jobs.map(|job| job.omitted().unwrap_or_else(|| job.row(planned(), None)));
            report.routes = rows.collect();
            return Ok(report);
        }
        // Who had money spent is written down before it is.
        let act = self
            .context
            .act(by, "backend.verify", id, wanted.unwrap_or_default());
        let noted = workers.write_notes(Some(act)).await;
        noted.map_err(unavailable)?;
        let mut budget = verify::TestBudget::of(&body);
        for job in jobs {
            let tried = job.run(&self.context, workers, &asked, &mut budget).await;
            report.routes.push(tried);
        }
        report.spent = Amount::from_micros(budget.spent);
        Ok(report)
    }

    /// Makes a back end of the operator's.
    pub async fn create(
        &self,
        by: &str,
        patch: Patch<BackendSpec>,
    ) -> Result<BackendView, Refusal> {
        let row = self.registry.new_backend(None, patch.made()?);
        self.registry.check_backend(&row)?;
        let act = self
            .context
            .act(by, "backend.create", &row.id, &*row.spec.vendor);
        let id = row.id.clone();
        let arrangement = BackendChange {
            backends: vec![row],
            ..BackendChange::default()
        };
        self.registry.apply_backend_change(arrangement, act).await?;
        self.one(&id).await
    }

    /// Tries out a back end with its worker accounts, and makes nothing.
    pub fn check_whole(
        &self,
        spec: &Patch<BackendSpec>,
        accounts: &[WorkerPatch],
    ) -> Result<(), Refusal> {
        self.whole(spec, accounts).map(|_| ())
    }

    /// Makes a back end of the operator's with its worker accounts, all in one commit.
    pub async fn create_whole(
        &self,
        by: &str,
        spec: &Patch<BackendSpec>,
        accounts: &[WorkerPatch],
    ) -> Result<(), Refusal> {
        let (row, workers) = self.whole(spec, accounts)?;
        let detail = format!("{} with {} accounts", &*row.spec.vendor, workers.len());
        let act = self.context.act(by, "backend.create", &row.id, detail);
        let arrangement = BackendChange {
            backends: vec![row],
            workers,
            ..BackendChange::default()
        };
        // Nothing of it was read before, so nothing can be crossed.
        self.registry.apply_backend_change(arrangement, act).await?;
        Ok(())
    }

    fn whole(
        &self,
        spec: &Patch<BackendSpec>,
        accounts: &[WorkerPatch],
    ) -> Result<(BackendRow, Vec<WorkerUpsert>), Refusal> {
        let row = self.registry.new_backend(None, spec.made()?);
        self.registry.check_backend(&row)?;
        let workers = accounts.iter().map(|account| {
            let worker = self.registry.new_worker(&row);
            self.registry.changed_worker(&row, worker, account)
        });
        let workers = workers.collect::<Result<_, _>>()?;
        Ok((row, workers))
    }

    /// Changes a back end of the operator's. One of the configuration can be switched off and on again, no more.
    pub async fn change(
        &self,
        by: &str,
        id: &str,
        patch: Patch<BackendSpec>,
    ) -> Result<BackendView, Refusal> {
        for _ in 0..CROSSED_MOST {
            let mut row = self.registry.own_backend(id).await?;
            let seen = seen_backend(&row);
            let spec = changed(&row.spec, &patch)?;
            let elsewhere = goes_elsewhere(&row.spec, &spec);
            if row.declared {
                row.switched_off = switched_off(&row, &spec, patch.gives("enabled"))?;
            } else {
                row.spec = spec;
                self.registry.check_backend(&row)?;
            }
            let arrangement = BackendChange {
                backends: vec![row],
                seen: vec![seen],
                ..BackendChange::default()
            };
            let act = self.context.act(by, "backend.change", id, patch.names());
            if self.registry.apply_backend_change(arrangement, act).await? {
                if elsewhere {
                    self.doubt(id).await?;
                }
                return self.one(id).await;
            }
        }
        Err(crossed())
    }

    /// The worker accounts of a back end go another way from now on.
    async fn doubt(&self, id: &str) -> Result<(), Refusal> {
        let row = self.registry.own_backend(id).await?;
        let all = self.registry.workers_at(&row, None).await?;
        self.runner.workers().doubt(&all);
        Ok(())
    }

    /// Makes a worker account of the operator's at a back end.
    pub async fn create_worker(
        &self,
        by: &str,
        backend_id: &str,
        patch: WorkerPatch,
    ) -> Result<WorkerView, Refusal> {
        let backend = self.registry.own_backend(backend_id).await?;
        undeclared(&backend)?;
        let row = self.registry.new_worker(&backend);
        let id = row.id.clone();
        let put = self.registry.changed_worker(&backend, row, &patch)?;
        let arrangement = BackendChange {
            workers: vec![put],
            ..BackendChange::default()
        };
        let act = self
            .context
            .act(by, "worker.create", &id, patch.spec.names());
        self.registry.apply_backend_change(arrangement, act).await?;
        self.registry.show_worker(&id).await
    }

    /// Changes a worker account of the operator's. Of one of the configuration, what passes can be changed.
    pub async fn change_worker(
        &self,
        by: &str,
        backend_id: &str,
        id: &str,
        patch: WorkerPatch,
    ) -> Result<WorkerView, Refusal> {
        for _ in 0..CROSSED_MOST {
            let backend = self.registry.own_backend(backend_id).await?;
            let row = self.registry.worker_at(&backend, id).await?;
            if backend.declared {
                only_the_state(&backend, &row, &patch)?;
            }
            let seen = seen_worker(&row);
            let put = self.registry.changed_worker(&backend, row, &patch)?;
            let arrangement = BackendChange {
                workers: vec![put],
                seen: vec![seen],
                ..BackendChange::default()
            };
            let act = self
                .context
                .act(by, "worker.change", id, patch.spec.names());
            if self.registry.apply_backend_change(arrangement, act).await? {
                return self.registry.show_worker(id).await;
            }
        }
        Err(crossed())
    }

    /// Removes a back end of the operator's with its worker accounts.
    pub async fn remove(&self, by: &str, id: &str) -> Result<(), Refusal> {
        undeclared(&self.registry.own_backend(id).await?)?;
        let act = self.context.act(by, "backend.remove", id, "");
        let removed = self
            .context
            .store()
            .workers()
            .remove_backend(None, id, Some(act))
            .await;
        gone(removed.map_err(unavailable)?, "no such back end")?;
        crash::point("admin.acted");
        self.registry.pool_changed().await
    }

    /// Removes a worker account of the operator's.
    pub async fn remove_worker(&self, by: &str, backend_id: &str, id: &str) -> Result<(), Refusal> {
        let backend = self.registry.own_backend(backend_id).await?;
        undeclared(&backend)?;
        self.registry.worker_at(&backend, id).await?;
        let act = self.context.act(by, "worker.remove", id, "");
        let removed = self
            .context
            .store()
            .workers()
            .remove(None, id, Some(act))
            .await;
        gone(removed.map_err(unavailable)?, "no such account")?;
        crash::point("admin.acted");
        self.registry.pool_changed().await
    }

    /// One worker account of a back end of the operator's.
    pub async fn worker(&self, backend_id: &str, id: &str) -> Result<WorkerView, Refusal> {
        let backend = self.registry.show_backend(backend_id).await?;
        backend
            .accounts
            .into_iter()
            .find(|one| one.id == id)
            .ok_or_else(no_account)
    }
}

/// Refuses to change more of a worker account of the configuration than its state.
fn only_the_state(
    backend: &BackendRow,
    row: &WorkerRow,
    patch: &WorkerPatch,
) -> Result<(), Refusal> {
    let same = WorkerSpec {
        state: row.spec.state,
        ..patch.spec.over(&row.spec)?
    };
    if same == row.spec {
        return Ok(());
    }
    undeclared(backend)
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
