//! Removing back ends and worker accounts: one with jobs in hand stays.

use atelier_contract::{Code, Refusal};
use atelier_store::Removed;

use super::check::undeclared;
use crate::crash;
use crate::engine::{Engine, unavailable};

impl Engine {
    /// Removes a back end of the operator's with its worker accounts.
    pub async fn remove_backend(&self, by: &str, id: &str) -> Result<(), Refusal> {
        undeclared(&self.own_backend(id).await?)?;
        let act = self.act(by, "backend.remove", id, "");
        let removed = self.store.remove_backend(None, id, Some(act)).await;
        gone(removed.map_err(unavailable)?, "no such back end")?;
        crash::point("office.acted");
        self.pool_changed().await
    }

    /// Removes a worker account of the operator's.
    pub async fn remove_worker(&self, by: &str, backend_id: &str, id: &str) -> Result<(), Refusal> {
        let backend = self.own_backend(backend_id).await?;
        undeclared(&backend)?;
        self.worker_at(&backend, id).await?;
        let act = self.act(by, "worker.remove", id, "");
        let removed = self.store.remove_worker(None, id, Some(act)).await;
        gone(removed.map_err(unavailable)?, "no such account")?;
        crash::point("office.acted");
        self.pool_changed().await
    }
}

/// What became of a removal, in words.
pub(in crate::office) fn gone(removed: Removed, absent: &str) -> Result<(), Refusal> {
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
