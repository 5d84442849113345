//! Asking vendors whether they are well and take the credentials; what they say counts.

use std::sync::Arc;

use atelier_backends::Backend;
use atelier_contract::pages::backends::BackendView;
use atelier_contract::{Code, Refusal};
use atelier_store::WorkerRow;

use crate::engine::{Engine, unavailable};
use crate::floor::pool::load::worker_name;
use crate::names::WorkerName;

impl Engine {
    /// Asks the vendors of a back end's worker accounts, or of one. A vendor that is not well is a refusal with the
    /// class of the fault and the vendor's words.
    pub async fn probe_backend(
        &self,
        by: &str,
        id: &str,
        worker_id: Option<&str>,
    ) -> Result<BackendView, Refusal> {
        let backend = self.own_backend(id).await?;
        let asked: Vec<WorkerRow> = if let Some(worker_id) = worker_id {
            vec![self.worker_at(&backend, worker_id).await?]
        } else {
            let rows = self.store.workers().await.map_err(unavailable)?;
            let here = |row: &WorkerRow| row.backend_id == backend.id;
            rows.into_iter().filter(here).collect()
        };
        let mut faults = Vec::new();
        for row in &asked {
            let name = worker_name(row);
            let outcome = match self.in_pool(&name) {
                Some(vendor) => match self.probe_worker(&name, vendor.as_ref()).await {
                    Ok(()) => continue,
                    Err(fault) => format!("{}: {}", fault.class.word(), fault.detail),
                },
                None => match self.build_worker(&backend, row) {
                    Ok(_) => "misconfigured".to_owned(),
                    Err(why) => format!("misconfigured: {why}"),
                },
            };
            let called = if row.spec.name.is_empty() {
                &row.id
            } else {
                &*row.spec.name
            };
            faults.push(format!("{called}: {outcome}"));
        }
        let target = worker_id.unwrap_or_default();
        let act = self.act(by, "backend.probe", id, target);
        self.write_notes(Some(act)).await.map_err(unavailable)?;
        if faults.is_empty() {
            return self.show_backend(id).await;
        }
        Err(Refusal::new(Code::BackendFailed, faults.join("; ")))
    }

    /// What talks to the vendor of a worker account.
    fn in_pool(&self, name: &WorkerName) -> Option<Arc<dyn Backend>> {
        let members = self.pool.members();
        let found = members.iter().find(|member| member.candidate.name == *name);
        found.map(|member| Arc::clone(&member.backend))
    }
}
