//! Custody: callers' own worker accounts. Each stands at a back end of its own, whose address obeys the rules for
//! strangers' addresses; nobody else sees it, and nobody else's jobs run there.

use std::sync::Arc;

use atelier_backends::guard::Purpose;
use atelier_contract::body::Fields;
use atelier_contract::pages::backends::BackendSpec;
use atelier_contract::pages::patch::Patch;
use atelier_contract::pages::workers::{OwnWorkerView, WorkerPatch, WorkerView};
use atelier_contract::{AccountId, Code, Refusal};
use atelier_store::{BackendChange, BackendRow, ExpectedRevision, WorkerRow, WorkerUpsert};

use super::backend_views;
use super::backends::ask_vendors;
use super::callers::Caller;
use super::registry::{
    CROSSED_MOST, Registry, changed, crossed, gone, no_account, seen_backend, seen_worker,
};
use crate::context::{Context, unavailable};
use crate::crash;
use crate::runner::Runner;

/// Worker accounts one caller may register.
const MOST: usize = 50;
/// Questions about running jobs a minute; a caller's vendor is asked from this service's address.
const POLLS_PER_MINUTE: i64 = 120;

/// A body of a caller's: the back end and the worker account there.
#[derive(Clone, Debug)]
pub struct CustodyRequest {
    /// What it says of the back end.
    pub backend: Patch<BackendSpec>,
    /// What it says of the worker account.
    pub worker: WorkerPatch,
}

impl CustodyRequest {
    /// Both read the fields that are theirs.
    pub fn read(fields: Fields) -> Result<Self, Refusal> {
        Ok(Self {
            backend: Patch::new(fields.clone()),
            worker: WorkerPatch::read(fields)?,
        })
    }
}

/// Worker accounts of callers.
pub struct Custody {
    context: Arc<Context>,
    runner: Arc<Runner>,
    registry: Arc<Registry>,
}

impl Custody {
    pub(super) fn new(context: Arc<Context>, runner: Arc<Runner>, registry: Arc<Registry>) -> Self {
        Self {
            context,
            runner,
            registry,
        }
    }

    /// Refuses a back end that a caller's calls could not reach from where it is.
    pub fn admit(&self, caller: &Caller, request: &CustodyRequest) -> Result<(), Refusal> {
        let base_url = request.backend.text("base_url");
        let Some(base_url) = base_url.filter(|_| caller.outside) else {
            return Ok(());
        };
        let policy = self.context.outbound().policy_for(true);
        let judged = policy.check_url(base_url, Purpose::Image);
        let refused = |why| Refusal::field(Code::AddressNotAllowed, "base_url", why);
        judged.map(|_| ()).map_err(refused)
    }

    /// Registers a worker account of a caller's. Whether it may is asked when nothing else speaks against it.
    pub async fn register<E: From<Refusal>>(
        &self,
        account_id: &AccountId,
        request: CustodyRequest,
        may: impl FnOnce() -> Result<(), E>,
    ) -> Result<OwnWorkerView, E> {
        if self.own_rows(account_id).await?.len() >= MOST {
            let message = format!("an account can register {MOST} accounts at most");
            return Err(Refusal::new(Code::Conflict, message).into());
        }
        let CustodyRequest { backend, worker } = request;
        let vendor = backend.text("vendor").map(str::to_owned);
        let vendor = vendor.ok_or_else(|| Refusal::missing("vendor"))?;
        let spec = backend.or("name", vendor.as_str()).or("rank", 0).made()?;
        let backend = self.registry.new_backend(Some(account_id.as_str()), spec);
        self.registry.check_backend(&backend)?;
        let row = WorkerRow {
            id: backend.id.clone(),
            ..self.registry.new_worker(&backend)
        };
        let patch = WorkerPatch {
            spec: worker
                .spec
                .or("name", &*backend.spec.name)
                .or("polls_per_minute", POLLS_PER_MINUTE),
            ..worker
        };
        let put = self.registry.changed_worker(&backend, row, &patch)?;
        may()?;
        let kept = self.put(backend, put, Vec::new(), "custody.create", &vendor);
        kept.await?.ok_or_else(|| crossed().into())
    }

    /// The worker accounts of a caller.
    pub async fn list(&self, account_id: &AccountId) -> Result<Vec<OwnWorkerView>, Refusal> {
        let backends = self.own_backends(account_id).await?;
        let reports = self.runner.workers().reports();
        let shown = |row: &WorkerRow| {
            let backend = backends.iter().find(|one| one.id == row.backend_id)?;
            Some(own_view(backend_views::worker(row, &reports), backend))
        };
        let rows = self.own_rows(account_id).await?;
        Ok(rows.iter().filter_map(shown).collect())
    }

    /// Asks the vendor of a caller's own worker account; one that is not well is a refusal with the vendor's words. Whether it
    /// may is asked when the account is known.
    pub async fn probe<E: From<Refusal>>(
        &self,
        account_id: &AccountId,
        id: &str,
        may: impl FnOnce() -> Result<(), E>,
    ) -> Result<OwnWorkerView, E> {
        let (backend, row) = self.own_row(account_id, id).await?;
        may()?;
        let faults = ask_vendors(&self.runner, &backend, std::slice::from_ref(&row), &[]).await;
        let act = self
            .context
            .own_act(account_id, "", "custody.probe", id, "");
        let noted = self.runner.workers().write_notes(Some(act)).await;
        noted.map_err(unavailable)?;
        if !faults.is_empty() {
            return Err(Refusal::new(Code::BackendFailed, faults.join("; ")).into());
        }
        Ok(self.show(account_id, id, &backend).await?)
    }

    /// Changes a worker account of a caller's. Whether it may is asked once, when nothing else speaks against it.
    pub async fn change<E: From<Refusal>>(
        &self,
        account_id: &AccountId,
        id: &str,
        request: &CustodyRequest,
        may: impl FnOnce() -> Result<(), E>,
    ) -> Result<OwnWorkerView, E> {
        let mut may = Some(may);
        for _ in 0..CROSSED_MOST {
            let (mut backend, row) = self.own_row(account_id, id).await?;
            let seen = vec![seen_backend(&backend), seen_worker(&row)];
            backend.spec = changed(&backend.spec, &request.backend)?;
            self.registry.check_backend(&backend)?;
            let put = self
                .registry
                .changed_worker(&backend, row, &request.worker)?;
            if let Some(may) = may.take() {
                may()?;
            }
            let names = request.backend.names();
            let kept = self.put(backend, put, seen, "custody.change", &names);
            if let Some(view) = kept.await? {
                return Ok(view);
            }
        }
        Err(crossed().into())
    }

    /// Removes a worker account of a caller's; one with jobs in hand stays.
    pub async fn remove(&self, account_id: &AccountId, id: &str) -> Result<(), Refusal> {
        self.own_row(account_id, id).await?;
        let act = self
            .context
            .own_act(account_id, "", "custody.remove", id, "");
        let removed =
            self.context
                .store()
                .workers()
                .remove_backend(Some(account_id.as_str()), id, Some(act));
        gone(removed.await.map_err(unavailable)?, "no such account")?;
        crash::point("admin.acted");
        self.registry.pool_changed().await
    }

    /// Keeps the account and its back end in one commit; `None` when they were changed since they were seen.
    async fn put(
        &self,
        backend: BackendRow,
        put: WorkerUpsert,
        seen: Vec<ExpectedRevision>,
        action: &str,
        detail: &str,
    ) -> Result<Option<OwnWorkerView>, Refusal> {
        let owner: AccountId = backend.owner.as_deref().unwrap_or_default().into();
        let act = self
            .context
            .own_act(&owner, "", action, &put.row.id, detail);
        let id = put.row.id.clone();
        let arrangement = BackendChange {
            backends: vec![backend.clone()],
            workers: vec![put],
            seen,
            ..BackendChange::default()
        };
        if !self.registry.apply_backend_change(arrangement, act).await? {
            return Ok(None);
        }
        self.show(&owner, &id, &backend).await.map(Some)
    }

    async fn own_rows(&self, account_id: &AccountId) -> Result<Vec<WorkerRow>, Refusal> {
        let rows = self.context.store().workers().of_owner(account_id).await;
        rows.map_err(unavailable)
    }

    async fn own_backends(&self, account_id: &AccountId) -> Result<Vec<BackendRow>, Refusal> {
        let workers = self.context.store().workers();
        let rows = workers.backends_of_owner(account_id).await;
        rows.map_err(unavailable)
    }

    async fn own_row(
        &self,
        account_id: &AccountId,
        id: &str,
    ) -> Result<(BackendRow, WorkerRow), Refusal> {
        let backends = self.own_backends(account_id).await?;
        let backend = backends.into_iter().find(|one| one.id == id);
        let backend = backend.ok_or_else(no_account)?;
        let row = self.own_worker(account_id, id).await?;
        if row.backend_id != backend.id {
            return Err(no_account());
        }
        Ok((backend, row))
    }

    async fn own_worker(&self, account_id: &AccountId, id: &str) -> Result<WorkerRow, Refusal> {
        let rows = self.own_rows(account_id).await?;
        let row = rows.into_iter().find(|row| row.id == id);
        row.ok_or_else(no_account)
    }

    /// A worker account as it is kept now.
    async fn show(
        &self,
        account_id: &AccountId,
        id: &str,
        backend: &BackendRow,
    ) -> Result<OwnWorkerView, Refusal> {
        let row = self.own_worker(account_id, id).await?;
        let reports = self.runner.workers().reports();
        Ok(own_view(backend_views::worker(&row, &reports), backend))
    }
}

/// What a caller sees of its own account: also where it is.
fn own_view(shown: WorkerView, backend: &BackendRow) -> OwnWorkerView {
    OwnWorkerView {
        worker: WorkerView {
            backend_id: None,
            ..shown
        },
        vendor: backend.spec.vendor.to_string(),
        base_url: backend.spec.base_url.to_string(),
        settings: backend.spec.settings.clone(),
    }
}
