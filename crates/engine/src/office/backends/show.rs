//! Back ends and worker accounts as their owners see them, with their health, and never with a credential.

use atelier_contract::family::timestamp;
use atelier_contract::pages::backends::BackendView;
use atelier_contract::pages::workers::{Condition, Health, WorkerView};
use atelier_contract::{Code, Refusal};
use atelier_store::{BackendRow, WorkerRow};

use crate::engine::{Engine, unavailable};
use crate::floor::pool::load::worker_name;
use crate::floor::pool::member::Member;
use crate::floor::pool::view::WorkerReport;

impl Engine {
    /// Every back end of the operator's with its worker accounts, in the order of fall-back; the embedded one too.
    pub async fn backends(&self) -> Result<Vec<BackendView>, Refusal> {
        let rows = self.store.backends().await.map_err(unavailable)?;
        let workers = self.store.workers().await.map_err(unavailable)?;
        let reports = self.pool.reports(self.now_ms());
        let mut shown: Vec<BackendView> = {
            let members = self.pool.members();
            let inside = members.iter().filter(|one| one.worker_id.is_none());
            inside.map(|member| embedded(member, &reports)).collect()
        };
        let own = rows.iter().filter(|row| row.owner.is_none());
        shown.extend(own.map(|row| backend(row, &workers, &reports)));
        shown.sort_by_key(|one| one.rank);
        Ok(shown)
    }

    /// One back end of the operator's with its worker accounts.
    pub async fn show_backend(&self, id: &str) -> Result<BackendView, Refusal> {
        let all = self.backends().await?;
        all.into_iter()
            .find(|one| one.id == id)
            .ok_or_else(|| Refusal::new(Code::NotFound, "no such back end"))
    }

    /// One worker account of a back end of the operator's.
    pub async fn backend_worker(&self, backend_id: &str, id: &str) -> Result<WorkerView, Refusal> {
        let backend = self.show_backend(backend_id).await?;
        backend
            .accounts
            .into_iter()
            .find(|one| one.id == id)
            .ok_or_else(no_account)
    }

    /// One worker account, whoever owns it.
    pub(in crate::office) async fn show_worker(&self, id: &str) -> Result<WorkerView, Refusal> {
        let rows = self.store.workers().await.map_err(unavailable)?;
        let reports = self.pool.reports(self.now_ms());
        rows.iter()
            .find(|row| row.id == id)
            .map(|row| worker(row, &reports))
            .ok_or_else(no_account)
    }
}

fn no_account() -> Refusal {
    Refusal::new(Code::NotFound, "no such account")
}

/// What runs inside this process.
fn embedded(member: &Member, reports: &[WorkerReport]) -> BackendView {
    let candidate = &member.candidate;
    let report = reports.iter().find(|one| one.name == candidate.name);
    BackendView {
        id: candidate.backend.clone(),
        name: candidate.name.to_string(),
        vendor: candidate.name.to_string(),
        base_url: None,
        settings: serde_json::Map::new(),
        operations: Vec::new(),
        rank: candidate.rank,
        enabled: true,
        declared: true,
        created_at: None,
        accounts: Vec::new(),
        busy: candidate.busy,
        slots: candidate.concurrency,
        health: report.map(|one| one.health.clone()),
    }
}

fn backend(row: &BackendRow, workers: &[WorkerRow], reports: &[WorkerReport]) -> BackendView {
    let own = workers.iter().filter(|one| one.backend_id == row.id);
    let sum = |of: fn(&WorkerReport) -> usize| -> usize {
        reports
            .iter()
            .filter(|one| one.backend == row.id)
            .map(of)
            .sum()
    };
    BackendView {
        id: row.id.clone(),
        name: row.spec.name.to_string(),
        vendor: row.spec.vendor.to_string(),
        base_url: Some(row.spec.base_url.to_string()),
        settings: row.spec.settings.clone(),
        operations: row.spec.operations.clone(),
        rank: row.spec.rank.get(),
        enabled: row.in_use(),
        declared: row.declared,
        created_at: Some(timestamp(row.created_ms)),
        accounts: own.map(|one| worker(one, reports)).collect(),
        busy: sum(|one| one.busy),
        slots: sum(|one| one.slots),
        health: None,
    }
}

/// A worker account; one that cannot be set up is not in the pool.
pub(in crate::office) fn worker(row: &WorkerRow, reports: &[WorkerReport]) -> WorkerView {
    let name = worker_name(row);
    let report = reports.iter().find(|one| one.name == name);
    let unusable = || Health {
        condition: Condition::Misconfigured,
        ..Health::default()
    };
    WorkerView {
        id: row.id.clone(),
        backend_id: Some(row.backend_id.clone()),
        spec: row.spec.clone(),
        has_credential: !row.credential.is_empty(),
        spent: row.spent,
        created_at: timestamp(row.created_ms),
        busy: report.map_or(0, |one| one.busy),
        usable: report.is_some_and(|one| one.usable),
        average_execute: report.and_then(|one| one.average_s),
        health: report.map_or_else(unusable, |one| one.health.clone()),
    }
}
