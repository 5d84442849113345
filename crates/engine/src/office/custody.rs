//! Custody: callers' own worker accounts. Each stands at a back end of its own, whose address obeys the rules for
//! strangers' addresses; nobody else sees it, and nobody else's jobs run there.

use atelier_contract::pages::backends::BackendSpec;
use atelier_contract::pages::patch::Patch;
use atelier_contract::pages::workers::{OwnWorkerView, WorkerPatch, WorkerView};
use atelier_contract::{Code, Refusal};
use atelier_store::{Arrangement, BackendRow, WorkerPut, WorkerRow};

use super::backends::{changed, gone, show_worker};
use crate::crash;
use crate::engine::{Engine, unavailable};

/// Worker accounts one caller may register.
const MOST: usize = 50;
/// Questions about running jobs a minute; a caller's vendor is asked from this house's address.
const POLLS_PER_MINUTE: i64 = 120;

impl Engine {
    /// Registers a worker account of a caller's.
    pub async fn register_own(
        &self,
        account_id: &str,
        (place, worker): (Patch<BackendSpec>, WorkerPatch),
    ) -> Result<OwnWorkerView, Refusal> {
        if self.own_rows(account_id).await?.len() >= MOST {
            return Err(Refusal::new(
                Code::Conflict,
                format!("an account can register {MOST} accounts at most"),
            ));
        }
        let vendor = place.text("vendor").map(str::to_owned);
        let vendor = vendor.ok_or_else(|| Refusal::missing("vendor"))?;
        let spec = place.or("name", vendor.as_str()).or("rank", 0).made()?;
        let backend = self.new_backend(Some(account_id), spec);
        self.check_backend(&backend)?;
        let row = WorkerRow {
            id: backend.id.clone(),
            ..self.new_worker(&backend)
        };
        let patch = WorkerPatch {
            spec: worker
                .spec
                .or("name", &*backend.spec.name)
                .or("polls_per_minute", POLLS_PER_MINUTE),
            ..worker
        };
        let put = self.changed_worker(&backend, row, &patch)?;
        self.put_own((backend, put), ("custody.create", &vendor))
            .await
    }

    /// The worker accounts of a caller.
    pub async fn own_workers(&self, account_id: &str) -> Result<Vec<OwnWorkerView>, Refusal> {
        let backends = self.store.backends().await.map_err(unavailable)?;
        let reports = self.pool.reports(self.now_ms());
        let shown = |row: &WorkerRow| {
            let backend = backends.iter().find(|one| one.id == row.backend_id)?;
            Some(own_view(show_worker(row, &reports), backend))
        };
        let rows = self.own_rows(account_id).await?;
        Ok(rows.iter().filter_map(shown).collect())
    }

    /// Changes a worker account of a caller's.
    pub async fn change_own(
        &self,
        account_id: &str,
        id: &str,
        (place, worker): (Patch<BackendSpec>, WorkerPatch),
    ) -> Result<OwnWorkerView, Refusal> {
        let (mut backend, row) = self.own_row(account_id, id).await?;
        backend.spec = changed(&backend.spec, &place)?;
        self.check_backend(&backend)?;
        let put = self.changed_worker(&backend, row, &worker)?;
        self.put_own((backend, put), ("custody.change", &place.names()))
            .await
    }

    /// Removes a worker account of a caller's; one with jobs in hand stays.
    pub async fn remove_own(&self, account_id: &str, id: &str) -> Result<(), Refusal> {
        self.own_row(account_id, id).await?;
        let act = self.act(account_id, "custody.remove", id, "");
        let removed = self.store.remove_backend(Some(account_id), id, Some(act));
        gone(removed.await.map_err(unavailable)?, "no such account")?;
        crash::point("office.acted");
        self.pool_changed().await
    }

    /// Keeps the account and its place in one commit.
    async fn put_own(
        &self,
        (backend, put): (BackendRow, WorkerPut),
        (action, detail): (&str, &str),
    ) -> Result<OwnWorkerView, Refusal> {
        let by = backend.owner.clone().unwrap_or_default();
        let act = self.act(&by, action, &put.row.id, detail);
        let id = put.row.id.clone();
        let arrangement = Arrangement {
            backends: vec![backend.clone()],
            workers: vec![put],
            ..Arrangement::default()
        };
        self.arrange(arrangement, act).await?;
        Ok(own_view(self.show_worker(&id).await?, &backend))
    }

    async fn own_rows(&self, account_id: &str) -> Result<Vec<WorkerRow>, Refusal> {
        let rows = self.store.workers().await.map_err(unavailable)?;
        let mine = |row: &WorkerRow| row.owner.as_deref() == Some(account_id);
        Ok(rows.into_iter().filter(mine).collect())
    }

    async fn own_row(
        &self,
        account_id: &str,
        id: &str,
    ) -> Result<(BackendRow, WorkerRow), Refusal> {
        let absent = || Refusal::new(Code::NotFound, "no such account");
        let backend = self.backend_row(Some(account_id), id).await?;
        let backend = backend.ok_or_else(absent)?;
        let row = self.worker_at(&backend, id).await?;
        Ok((backend, row))
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
