//! Back ends and worker accounts as their owners see them, with their health, and never with a credential.

use atelier_contract::family::timestamp;
use atelier_contract::pages::backends::BackendView;
use atelier_contract::pages::cost::{Amount, CostSum};
use atelier_contract::pages::workers::{Condition, Health, WorkerView};
use atelier_store::{BackendRow, WorkerRow};

use crate::names::WorkerName;
use crate::runner::WorkerReport;

/// What runs inside this process.
pub(super) fn embedded(report: &WorkerReport) -> BackendView {
    BackendView {
        id: report.backend.to_string(),
        name: report.name.to_string(),
        vendor: report.name.to_string(),
        base_url: None,
        settings: serde_json::Map::new(),
        operations: Vec::new(),
        rank: report.rank,
        enabled: true,
        shadow: None,
        declared: true,
        created_at: None,
        accounts: Vec::new(),
        busy: report.busy,
        slots: report.slots,
        health: Some(report.health.clone()),
    }
}

/// A back end with its worker accounts.
pub(super) fn backend(
    row: &BackendRow,
    workers: &[WorkerRow],
    reports: &[WorkerReport],
) -> BackendView {
    let own = workers.iter().filter(|one| one.backend_id == row.id);
    let has_account = own.clone().next().is_some();
    let no_account = || Health {
        condition: Condition::NoAccount,
        ..Health::default()
    };
    let sum = |of: fn(&WorkerReport) -> usize| -> usize {
        reports
            .iter()
            .filter(|one| one.backend == *row.id)
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
        shadow: row.spec.shadow.clone(),
        declared: row.declared,
        created_at: Some(timestamp(row.created_ms)),
        accounts: own.map(|one| worker(one, reports)).collect(),
        busy: sum(|one| one.busy),
        slots: sum(|one| one.slots),
        health: (!has_account).then(no_account),
    }
}

fn cost(currency: &str, micros: i64) -> CostSum {
    CostSum {
        currency: currency.to_owned(),
        amount: Amount::from_micros(micros),
    }
}

/// A worker account; one that cannot be set up is not in the pool.
pub(super) fn worker(row: &WorkerRow, reports: &[WorkerReport]) -> WorkerView {
    let name = WorkerName::from(row);
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
        costs: row
            .costs
            .iter()
            .map(|(currency, micros)| cost(currency, *micros))
            .collect(),
        created_at: timestamp(row.created_ms),
        busy: report.map_or(0, |one| one.busy),
        usable: report.is_some_and(|one| one.usable),
        average_execute: report.and_then(|one| one.average_s),
        health: report.map_or_else(unusable, |one| one.health.clone()),
    }
}
