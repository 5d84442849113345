//! Asking vendors whether they are well and take the credentials; what they say counts.

use atelier_store::{BackendRow, WorkerRow};

use crate::names::WorkerName;
use crate::runner::Runner;

/// Asks the vendors of worker accounts, also for the models that they are asked for by name; what is wrong with each that is
/// not well.
pub(in crate::admin) async fn probe(
    runner: &Runner,
    backend: &BackendRow,
    asked: &[WorkerRow],
    models: &[String],
) -> Vec<String> {
    let mut faults = Vec::new();
    for row in asked {
        let outcome = match runner.workers().probe(&WorkerName::from(row), models).await {
            Some(Ok(())) => continue,
            Some(Err(fault)) => format!("{}: {}", fault.class.word(), fault.detail),
            None => match runner.workers().build(backend, row) {
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
    faults
}
