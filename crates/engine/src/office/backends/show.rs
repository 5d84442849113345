//! Back ends and worker accounts as their owners see them, with their health, and never with a credential.

use atelier_contract::family::timestamp;
use atelier_contract::{Code, Refusal};
use atelier_store::{BackendRow, WorkerRow};
use serde_json::{Value, json};

use crate::engine::{Engine, unavailable};
use crate::pool::load::worker_name;
use crate::pool::view::Picture;

impl Engine {
    /// Every back end of the operator's with its worker accounts, in the order of fall-back; the embedded one too.
    pub async fn backends(&self) -> Result<Vec<Value>, Refusal> {
        let rows = self.store.backends().await.map_err(unavailable)?;
        let workers = self.store.workers().await.map_err(unavailable)?;
        let pictures = self.pool.pictures(self.now_ms());
        let mut shown: Vec<(i64, Value)> = Vec::new();
        for station in self
            .pool
            .stations()
            .iter()
            .filter(|one| one.worker_id.is_none())
        {
            let picture = pictures.iter().find(|one| one.name == station.desk.name);
            shown.push((
                station.desk.rank,
                json!({
                    "id": station.desk.backend,
                    "name": station.desk.name,
                    "vendor": station.desk.name,
                    "base_url": null,
                    "settings": {},
                    "operations": [],
                    "rank": station.desk.rank,
                    "enabled": true,
                    "declared": true,
                    "created_at": null,
                    "accounts": [],
                    "busy": picture.map(|one| one.busy),
                    "slots": picture.map(|one| one.slots),
                    "health": picture.map(|one| one.health.clone()),
                }),
            ));
        }
        for row in rows.iter().filter(|row| row.owner.is_none()) {
            shown.push((row.rank, backend(row, &workers, &pictures)));
        }
        shown.sort_by_key(|(rank, _)| *rank);
        Ok(shown.into_iter().map(|(_, value)| value).collect())
    }

    /// One back end of the operator's with its worker accounts.
    pub async fn show_backend(&self, id: &str) -> Result<Value, Refusal> {
        let all = self.backends().await?;
        all.into_iter()
            .find(|one| one["id"] == id)
            .ok_or_else(|| Refusal::new(Code::NotFound, "no such back end"))
    }

    /// The worker accounts of a back end of the operator's.
    pub async fn backend_workers(&self, id: &str) -> Result<Value, Refusal> {
        Ok(self.show_backend(id).await?["accounts"].take())
    }

    /// One worker account, whoever owns it.
    pub(crate) async fn show_worker(&self, id: &str) -> Result<Value, Refusal> {
        let rows = self.store.workers().await.map_err(unavailable)?;
        let pictures = self.pool.pictures(self.now_ms());
        rows.iter()
            .find(|row| row.id == id)
            .map(|row| worker(row, &pictures))
            .ok_or_else(|| Refusal::new(Code::NotFound, "no such account"))
    }
}

fn backend(row: &BackendRow, workers: &[WorkerRow], pictures: &[Picture]) -> Value {
    let own: Vec<&WorkerRow> = workers
        .iter()
        .filter(|one| one.backend_id == row.id)
        .collect();
    let sum = |of: fn(&Picture) -> usize| -> usize {
        pictures
            .iter()
            .filter(|one| one.backend == row.id)
            .map(of)
            .sum()
    };
    json!({
        "id": row.id,
        "name": row.name,
        "vendor": row.vendor,
        "base_url": row.base_url,
        "settings": parsed(&row.settings),
        "operations": parsed(&row.operations),
        "rank": row.rank,
        "enabled": row.enabled,
        "declared": row.declared,
        "created_at": timestamp(row.created_ms),
        "accounts": own.iter().map(|one| worker(one, pictures)).collect::<Vec<_>>(),
        "busy": sum(|one| one.busy),
        "slots": sum(|one| one.slots),
    })
}

/// A worker account; whether it has a credential shows, the credential never does.
pub(crate) fn worker(row: &WorkerRow, pictures: &[Picture]) -> Value {
    let name = worker_name(row);
    let picture = pictures.iter().find(|one| one.name == name);
    let unusable = || json!({ "condition": "misconfigured", "last_errors": [], "recent": [] });
    json!({
        "id": row.id,
        "backend_id": row.backend_id,
        "name": row.name,
        "has_credential": !row.credential.is_empty(),
        "concurrency": row.concurrency,
        "per_minute": row.per_minute,
        "per_hour": row.per_hour,
        "polls_per_minute": row.polls_per_minute,
        "weight": row.weight,
        "models": parsed(&row.models),
        "modes": parsed(&row.modes),
        "hours": row.hours,
        "spend_cap": row.spend_cap,
        "spent": row.spent,
        "state": row.state,
        "created_at": timestamp(row.created_ms),
        "busy": picture.map_or(0, |one| one.busy),
        "usable": picture.is_some_and(|one| one.usable),
        "average_execute": picture.and_then(|one| one.average_s),
        "health": picture.map_or_else(unusable, |one| one.health.clone()),
    })
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::Null)
}
