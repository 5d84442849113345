//! What the house is doing, for operators, metrics and whoever asks whether it is ready.

use atelier_contract::Refusal;
use serde_json::{Value, json};

use crate::engine::{Engine, unavailable};

impl Engine {
    /// What the house is doing right now.
    pub async fn stats(&self) -> Result<Value, Refusal> {
        let counts = self.store.counts().await.map_err(unavailable)?;
        let lanes = self.store.waiting_by_lane().await.map_err(unavailable)?;
        let backends: Vec<Value> = self
            .pool
            .pictures(self.now_ms())
            .into_iter()
            .map(|one| {
                json!({
                    "name": one.name,
                    "backend": one.backend,
                    "custody": one.owner.is_some(),
                    "busy": one.busy,
                    "slots": one.slots,
                    "condition": one.condition,
                    "usable": one.usable,
                    "averageExecute": one.average_s,
                    "lastErrors": one.health["last_errors"],
                })
            })
            .collect();
        let waiting_by_lane: serde_json::Map<String, Value> = lanes
            .into_iter()
            .map(|(lane, jobs)| {
                (
                    if lane.is_empty() { "any".into() } else { lane },
                    jobs.into(),
                )
            })
            .collect();
        Ok(json!({
            "waiting": counts.waiting,
            "running": counts.running,
            "callbacksDue": counts.deliveries_due,
            "inHand": self.bench.ids().len(),
            "atVendors": self.polling.len(),
            "waitingByLane": waiting_by_lane,
            "backends": backends,
            "upMs": self.now_ms() - self.started_ms,
        }))
    }

    /// What every back end of the operator's does, in a few words that anybody may read.
    pub fn pool_state(&self) -> Value {
        let pictures = self.pool.pictures(self.now_ms());
        let shown: Vec<Value> = pictures
            .iter()
            .filter(|one| one.owner.is_none())
            .map(|one| json!({ "name": one.name, "busy": one.busy, "slots": one.slots, "condition": one.condition }))
            .collect();
        json!({ "state": "ready", "atVendors": self.polling.len(), "backends": shown })
    }

    /// The nodes that share the store.
    pub async fn nodes(&self) -> Result<Value, Refusal> {
        let nodes = self.alive_nodes().await.map_err(unavailable)?;
        let one = |node: &atelier_store::Node| {
            json!({
                "id": node.id,
                "self": node.id == self.node,
                "startedMs": node.started_ms,
                "seenMs": node.seen_ms,
            })
        };
        Ok(nodes.iter().map(one).collect())
    }
}
