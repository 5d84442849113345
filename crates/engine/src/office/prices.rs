//! What only the operator sees: prices, the record of actions, the state of the house.

use std::sync::Arc;

use atelier_contract::{Quota, Refusal, Tariff};
use atelier_store::AuditRow;
use serde_json::{Value, json};

use crate::engine::{Engine, unavailable};
use crate::views::AuditView;

/// Changed prices are settings under this name.
const PRICE: &str = "price:";

impl Engine {
    /// Takes over prices that were changed at run time.
    pub async fn load_prices(&self) -> Result<(), atelier_store::Error> {
        let mut tariff = Tariff::clone(&self.tariff());
        for (name, amount) in self.store.settings(PRICE).await? {
            let key = name.strip_prefix(PRICE).unwrap_or(&name);
            let taken = Quota::parse(&amount).map(|amount| tariff.set(key, amount));
            if !matches!(taken, Some(Ok(()))) {
                tracing::warn!(key, amount, "a stored price fits no operation any more");
            }
        }
        self.replace_tariff(tariff);
        Ok(())
    }

    /// Changes prices, for requests from now on.
    pub async fn set_prices(&self, prices: Vec<(String, Quota)>) -> Result<(), Refusal> {
        let mut tariff = Tariff::clone(&self.tariff());
        for (key, amount) in &prices {
            tariff
                .set(key, *amount)
                .map_err(|error| Refusal::invalid("prices", error))?;
        }
        for (key, amount) in &prices {
            let name = format!("{PRICE}{key}");
            self.store
                .put_setting(&name, &amount.to_string())
                .await
                .map_err(unavailable)?;
        }
        self.replace_tariff(tariff);
        Ok(())
    }

    fn replace_tariff(&self, tariff: Tariff) {
        if let Ok(mut place) = self.tariff.write() {
            *place = Arc::new(tariff);
        }
    }

    /// Writes an action down.
    pub async fn note(
        &self,
        actor: &str,
        action: &str,
        target: &str,
        detail: &str,
    ) -> Result<(), Refusal> {
        let row = self.act(actor, action, target, detail);
        self.store.add_audit(row).await.map_err(unavailable)
    }

    /// An action in words, to be written by the commit that does it.
    pub(crate) fn act(&self, actor: &str, action: &str, target: &str, detail: &str) -> AuditRow {
        AuditRow {
            id: self.ids.uuid(),
            time_ms: self.now_ms(),
            actor: actor.into(),
            action: action.into(),
            target: target.into(),
            detail: detail.into(),
        }
    }

    /// The record of actions in pages, newest first.
    pub async fn audit(&self, page: i64, limit: i64) -> Result<(Vec<AuditView>, i64), Refusal> {
        let offset = (page - 1).max(0).saturating_mul(limit);
        let (rows, total) = self.store.audit(offset, limit).await.map_err(unavailable)?;
        let view = |row: AuditRow| AuditView {
            id: row.id,
            time_ms: row.time_ms,
            actor: row.actor,
            action: row.action,
            target: row.target,
            detail: row.detail,
        };
        Ok((rows.into_iter().map(view).collect(), total))
    }

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
