//! Back ends that the configuration declares: the same at every start, and described only there. What an operator
//! switched stays switched.

use atelier_contract::pages::backends::DeclaredBackend;
use atelier_contract::pages::name::Name;
use atelier_contract::pages::workers::WorkerSpec;
use atelier_contract::{Code, Refusal};
use atelier_store::{BackendChange, BackendRow, WorkerRow, WorkerUpsert};

use crate::admin::registry::{Registry, goes_elsewhere, refused};
use crate::context::{Context, unavailable};
use crate::names::WorkerName;
use crate::runner::Runner;

/// Who declares, in the audit record.
const BY: &str = "configuration";

/// Takes over what the configuration declares, in one commit; what it no longer declares is removed, or drained
/// first. Nothing is written when nothing is different.
pub(super) async fn declare(
    context: &Context,
    runner: &Runner,
    registry: &Registry,
    declared: Vec<DeclaredBackend>,
) -> Result<(), Refusal> {
    let declaration = Declaration { runner, registry };
    let backends = context
        .store()
        .workers()
        .backends()
        .await
        .map_err(unavailable)?;
    let workers = context
        .store()
        .workers()
        .list()
        .await
        .map_err(unavailable)?;
    let mut wanted = BackendChange {
        keeps_switches: true,
        ..BackendChange::default()
    };
    let (mut kept, mut names) = (Vec::new(), Vec::new());
    for one in declared {
        let id = identifier(&one.spec.name)?;
        names.push(id.clone());
        let (row, known) = declaration.row(&backends, &id, &one)?;
        for account in one.accounts {
            let put = declaration.worker(&workers, &row, account)?;
            if kept.contains(&put.row.id) {
                let message = format!("{} is there twice at {id}", &*put.row.spec.name);
                return Err(Refusal::invalid("backends.accounts.name", message));
            }
            kept.push(put.row.id.clone());
            if !workers.contains(&put.row) {
                wanted.workers.push(put);
            }
        }
        if known != Some(&row) {
            wanted.backends.push(row);
        }
    }
    let leaves = |row: &&BackendRow| row.declared && !names.contains(&row.id);
    let leaving = backends.iter().filter(leaves).map(|row| row.id.clone());
    wanted.leaving_backends = leaving.collect();
    let leaves = |row: &&WorkerRow| names.contains(&row.backend_id) && !kept.contains(&row.id);
    let leaving = workers.iter().filter(leaves).map(|row| row.id.clone());
    wanted.leaving_workers = leaving.collect();
    let same = wanted.backends.is_empty()
        && wanted.workers.is_empty()
        && wanted.leaving_backends.is_empty()
        && wanted.leaving_workers.is_empty();
    if same {
        return registry.pool_changed().await;
    }
    let act = context.act(BY, "backends.declare", "backends", names.join(" "));
    let moved: Vec<WorkerRow> = workers
        .into_iter()
        .filter(|row| leads_elsewhere(&wanted.backends, &backends, &row.backend_id))
        .collect();
    // Nothing of it was read to be kept, so nothing can be crossed.
    registry.apply_backend_change(wanted, act).await?;
    runner.workers().doubt(&moved);
    Ok(())
}

/// Whether a back end is declared anew with another address or other settings.
fn leads_elsewhere(wanted: &[BackendRow], stored: &[BackendRow], id: &str) -> bool {
    let find = |rows: &[BackendRow]| rows.iter().find(|row| row.id == id).cloned();
    match (find(wanted), find(stored)) {
        (Some(new), Some(old)) => goes_elsewhere(&old.spec, &new.spec),
        _ => false,
    }
}

/// What a declaration goes by.
struct Declaration<'a> {
    runner: &'a Runner,
    registry: &'a Registry,
}

impl Declaration<'_> {
    /// The row of a declared back end, and the one that is stored.
    fn row<'a>(
        &self,
        backends: &'a [BackendRow],
        id: &str,
        one: &DeclaredBackend,
    ) -> Result<(BackendRow, Option<&'a BackendRow>), Refusal> {
        let known = backends
            .iter()
            .find(|row| row.id == id && row.owner.is_none());
        let fresh = || BackendRow {
            id: id.to_owned(),
            ..self.registry.new_backend(None, one.spec.clone())
        };
        let row = BackendRow {
            spec: one.spec.clone(),
            declared: true,
            ..known.cloned().unwrap_or_else(fresh)
        };
        self.registry.check_backend(&row)?;
        Ok((row, known))
    }

    /// A declared worker account: its state is the operator's once it is there, the rest is the configuration's.
    fn worker(
        &self,
        workers: &[WorkerRow],
        backend: &BackendRow,
        mut spec: WorkerSpec,
    ) -> Result<WorkerUpsert, Refusal> {
        if spec.name.is_empty() {
            spec.name = Name::kept("default");
        }
        // No credential in the configuration means none, not the old one.
        spec.credential = Some(spec.credential.unwrap_or_default());
        let id = worker_id(&backend.id, &identifier(&spec.name)?);
        let same = |row: &&WorkerRow| row.backend_id == backend.id && row.spec.name == spec.name;
        let known = workers.iter().find(same).cloned();
        let fresh = || WorkerRow {
            id,
            ..self.registry.new_worker(backend)
        };
        let is_known = known.is_some();
        let mut row = known.unwrap_or_else(fresh);
        if is_known {
            spec.state = row.spec.state;
        }
        row.retired = false;
        let (row, another) = self.registry.described(row, spec);
        self.runner
            .workers()
            .build(backend, &row)
            .map_err(refused)?;
        Ok(WorkerUpsert {
            health: another.then(|| {
                let workers = self.runner.workers();
                workers.reset_health(&WorkerName::from(&row), true)
            }),
            clear_spent: false,
            row,
        })
    }
}

/// The identifier of a declared worker account: the same at every start, and of no other back end and name.
fn worker_id(backend_id: &str, name: &str) -> String {
    // With more hyphens nobody could say which one stands between the two.
    let between = if backend_id.contains('-') || name.contains('-') {
        ':'
    } else {
        '-'
    };
    format!("{backend_id}{between}{name}")
}

/// A declared thing is known by its name, so that every start means the same one.
fn identifier(name: &str) -> Result<String, Refusal> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.len() > 60 || !name.chars().all(plain) {
        return Err(Refusal::field(
            Code::InvalidParameter,
            "backends.name",
            "must be 1 to 60 letters, digits, dots, hyphens or underscores",
        ));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_declared_worker_accounts_share_an_identifier() {
        assert_eq!(worker_id("up", "a"), "up-a");
        let parts = ["a", "b", "a-b", "b-a", "-", "a-", "-a", "a.b", "a_b"];
        let mut ids: Vec<String> = Vec::new();
        for backend in parts {
            ids.extend(parts.iter().map(|name| worker_id(backend, name)));
        }
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), parts.len() * parts.len());
    }
}
