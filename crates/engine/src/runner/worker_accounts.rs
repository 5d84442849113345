//! The worker accounts that this node knows: loaded from the store, built, probed, and what is held against them.

use std::sync::Arc;

use atelier_backends::{Backend, Cost, Fault, FieldError, Vendor};
use atelier_store::{AuditRow, BackendRow, WorkerRow};

use crate::context::Context;
use crate::names::WorkerName;
use crate::runner::pool::Pool;
use crate::runner::pool::choice::Choice;
use crate::runner::pool::health::Health;
use crate::runner::pool::load::Loader;
use crate::runner::pool::slot::Slot;
use crate::runner::pool::view::WorkerReport;
use crate::runner::upkeep;

/// The worker accounts that this node knows.
#[derive(Clone, Copy)]
pub struct WorkerAccounts<'a> {
    pub(super) context: &'a Context,
    pub(super) pool: &'a Arc<Pool>,
    pub(super) loader: &'a Loader,
}

impl WorkerAccounts<'_> {
    /// Every worker account as it is now.
    pub(crate) fn reports(self) -> Vec<WorkerReport> {
        let context = self.context;
        self.pool
            .reports(context.steady_ms(), context.clock().ahead_ms())
    }

    /// Whether a worker account belongs to a caller.
    pub(crate) fn owns(self, owner: &str, name: &WorkerName) -> bool {
        self.pool.owns(owner, name)
    }

    /// Whoever in this process makes what nobody writes down.
    pub(crate) fn unrecorded(self) -> Option<WorkerName> {
        self.pool.unrecorded()
    }

    /// The vendors that worker accounts can be set up at.
    pub(crate) fn vendors(self) -> &'static [Vendor] {
        self.loader.vendors()
    }

    /// Takes over the back ends and worker accounts as they are stored now.
    pub async fn load(self) -> Result<(), atelier_store::Error> {
        self.loader.load().await
    }

    /// Builds what talks to a vendor, to see whether it can be built.
    pub(crate) fn build(
        self,
        backend: &BackendRow,
        row: &WorkerRow,
    ) -> Result<Arc<dyn Backend>, FieldError> {
        self.loader.build(backend, row)
    }

    /// Whether a back end can be set up as it is described.
    pub(crate) fn check_backend(self, backend: &BackendRow) -> Result<(), FieldError> {
        self.loader.check(backend)
    }

    /// What each answer means that is kept with the settings of a back end.
    pub(crate) fn recorded_meanings(self, backend: &BackendRow) -> Result<Vec<Value>, FieldError> {
        self.loader.recorded_meanings(backend)
    }

    /// Writes down what worker accounts spent and how well they are.
    pub(crate) async fn write_notes(
        self,
        act: Option<AuditRow>,
    ) -> Result<(), atelier_store::Error> {
        upkeep::write_notes(self.context, self.pool, act).await
    }

    /// Asks the vendor of a worker account whether it is well, takes the credentials and has some models; what it says counts.
    /// `None` when the account is not in the pool.
    pub(crate) async fn probe(
        self,
        name: &WorkerName,
        models: &[String],
    ) -> Option<Result<(), Fault>> {
        let backend = self.pool.backend(name)?;
        Some(upkeep::probe(self.context, self.pool, name, backend.as_ref(), models).await)
    }

    /// What talks to the vendor of a worker account; `None` when the account is not in the pool.
    pub(crate) fn backend(self, name: &WorkerName) -> Option<Arc<dyn Backend>> {
        self.pool.backend(name)
    }

    /// A place at a worker account for what is nobody's job, if it takes work now.
    pub(crate) fn take_free(self, name: &WorkerName) -> Result<Slot, Choice> {
        Slot::free(self.pool, name, self.context.steady_ms())
    }

    /// Adds what a vendor took for what was nobody's job: it counts against the account's cap.
    pub(crate) async fn add_cost(
        self,
        row: &WorkerRow,
        cost: &Cost,
    ) -> Result<(), atelier_store::Error> {
        let workers = self.context.store().workers();
        workers
            .add_cost(&row.id, cost.currency, cost.micros)
            .await?;
        self.pool.member(&WorkerName::from(row)).took(cost.micros);
        Ok(())
    }

    /// Health with everything forgotten that is held against a worker account, as it is stored, and its time. With another
    /// credential what speaks for it is forgotten as well.
    pub(crate) fn reset_health(self, name: &WorkerName, fresh: bool) -> (String, i64) {
        let now_ms = self.context.steady_ms();
        let mut health = self.pool.member(name).health().unwrap_or_default();
        health.mark_healthy(now_ms);
        if fresh {
            health.doubt(now_ms);
        }
        (serde_json::to_string(&health).unwrap_or_default(), now_ms)
    }

    /// Takes over what was reset, as it was stored.
    pub(crate) fn take_over_health(self, stored: Vec<(WorkerName, String)>) {
        for (name, text) in stored {
            if let Ok(reset) = serde_json::from_str::<Health>(&text) {
                self.pool.member(&name).set_health(|health| *health = reset);
            }
        }
    }

    /// Worker accounts go another way from now on: nothing has shown yet that it leads to a vendor that takes work.
    pub(crate) fn doubt(self, rows: &[WorkerRow]) {
        let now_ms = self.context.steady_ms();
        for row in rows {
            self.pool
                .member(&WorkerName::from(row))
                .set_health(|health| health.doubt(now_ms));
        }
    }
}
