//! Custody: callers' own worker accounts. Each stands at a back end of its own, whose address obeys the rules for
//! strangers' addresses; nobody else sees it, and nobody else's jobs run there.

use atelier_contract::{Code, Refusal};
use atelier_store::{BackendRow, WorkerRow};
use serde_json::Value;

use super::backends::{BackendChange, WorkerChange, gone};
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
        vendor: &str,
        (place, change): (BackendChange, WorkerChange),
    ) -> Result<Value, Refusal> {
        if self.own_rows(account_id).await?.len() >= MOST {
            return Err(Refusal::new(
                Code::Conflict,
                format!("an account can register {MOST} accounts at most"),
            ));
        }
        let backend = BackendRow {
            id: self.ids.uuid(),
            owner: Some(account_id.to_owned()),
            name: change.name.clone().unwrap_or_else(|| vendor.to_owned()),
            vendor: vendor.to_owned(),
            base_url: String::new(),
            settings: "{}".into(),
            operations: "[]".into(),
            rank: 0,
            enabled: true,
            declared: false,
            created_ms: self.now_ms(),
            revision: 1,
        };
        let backend = self.changed_backend(backend, place)?;
        let mut row = self.new_worker(&backend);
        row.id.clone_from(&backend.id);
        row.name.clone_from(&backend.name);
        row.polls_per_minute = POLLS_PER_MINUTE;
        self.try_out(&backend, &row, &change)?;
        let kept = self.store.put_backend(backend.clone()).await;
        kept.map_err(unavailable)?;
        self.put_own(&backend, row, change).await
    }

    /// The worker accounts of a caller.
    pub async fn own_workers(&self, account_id: &str) -> Result<Vec<Value>, Refusal> {
        let backends = self.store.backends().await.map_err(unavailable)?;
        let pictures = self.pool.pictures(self.now_ms());
        let shown = |row: &WorkerRow| {
            let backend = backends.iter().find(|one| one.id == row.backend_id);
            own_view(super::backends::show_row(row, &pictures), backend)
        };
        Ok(self.own_rows(account_id).await?.iter().map(shown).collect())
    }

    /// Changes a worker account of a caller's.
    pub async fn change_own(
        &self,
        account_id: &str,
        id: &str,
        (place, change): (BackendChange, WorkerChange),
    ) -> Result<Value, Refusal> {
        let (backend, row) = self.own_row(account_id, id).await?;
        let backend = self.changed_backend(backend, place)?;
        self.try_out(&backend, &row, &change)?;
        let kept = self.store.put_backend(backend.clone()).await;
        kept.map_err(unavailable)?;
        self.put_own(&backend, row, change).await
    }

    /// Removes a worker account of a caller's; one with jobs in hand stays.
    pub async fn remove_own(&self, account_id: &str, id: &str) -> Result<(), Refusal> {
        self.own_row(account_id, id).await?;
        let removed = self.store.remove_backend(Some(account_id), id).await;
        gone(removed.map_err(unavailable)?, "no such account")?;
        self.pool_changed().await
    }

    /// Nothing is kept of an account that cannot be set up.
    fn try_out(
        &self,
        backend: &BackendRow,
        row: &WorkerRow,
        change: &WorkerChange,
    ) -> Result<(), Refusal> {
        let row = self.changed_worker(row.clone(), change.clone())?;
        self.build_worker(backend, &row)
            .map(|_| ())
            .map_err(|why| super::backends::refused("account", &why))
    }

    async fn put_own(
        &self,
        backend: &BackendRow,
        row: WorkerRow,
        change: WorkerChange,
    ) -> Result<Value, Refusal> {
        let shown = self.put_worker(backend, row, change).await?;
        Ok(own_view(shown, Some(backend)))
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
fn own_view(mut shown: Value, backend: Option<&BackendRow>) -> Value {
    if let (Some(view), Some(backend)) = (shown.as_object_mut(), backend) {
        view.remove("backend_id");
        view.insert("vendor".into(), backend.vendor.clone().into());
        view.insert("base_url".into(), backend.base_url.clone().into());
        let settings = serde_json::from_str(&backend.settings).unwrap_or(Value::Null);
        view.insert("settings".into(), settings);
    }
    shown
}
