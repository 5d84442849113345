//! What only the operator sees: prices, the record of actions, the state of the house.

use std::sync::Arc;

use atelier_contract::{Quota, Refusal, Speed, Tariff};
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
        let row = AuditRow {
            id: self.ids.uuid(),
            time_ms: self.now_ms(),
            actor: actor.into(),
            action: action.into(),
            target: target.into(),
            detail: detail.into(),
        };
        self.store.add_audit(row).await.map_err(unavailable)
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
        let backends: Vec<Value> = self
            .slots
            .picture()
            .into_iter()
            .map(|(name, busy, slots)| json!({ "name": name, "busy": busy, "slots": slots }))
            .collect();
        Ok(json!({
            "waiting": counts.waiting,
            "running": counts.running,
            "callbacksDue": counts.deliveries_due,
            "inHand": self.bench.ids().len(),
            "backends": backends,
            "upMs": self.now_ms() - self.started_ms,
        }))
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

    /// How the artgen image endpoints are, by speed and by path, from measurements.
    pub async fn artgen_status(&self) -> Result<Value, Refusal> {
        let family = &atelier_contract::families::artgen::FAMILY;
        let operations: Vec<String> = family
            .submits
            .iter()
            .map(|submit| submit.name.to_owned())
            .collect();
        let up = |serves: bool| {
            if serves {
                (200, "running")
            } else {
                (503, "no back end serves it")
            }
        };
        let any = operations
            .iter()
            .any(|operation| self.slots.serves(operation));
        let (status, message) = up(any);
        let mut data = serde_json::Map::new();
        for speed in [Speed::Relax, Speed::Fast, Speed::Turbo] {
            let durations = self.recent_durations(&operations, speed).await;
            let count = durations.len().max(1) as f64;
            let average_s = durations.iter().sum::<i64>() as f64 / count / 1000.0;
            let average_s = (average_s * 10.0).round() / 10.0;
            data.insert(
                speed.word().into(),
                json!({ "status": status, "runningMessage": message, "averageExecute": average_s }),
            );
        }
        let endpoint = |submit: &atelier_contract::family::Submit| {
            let (status, message) = up(self.slots.serves(submit.name));
            json!({ "name": submit.name, "path": submit.path, "status": status, "runningMessage": message })
        };
        data.insert(
            "endpoints".into(),
            family.submits.iter().map(endpoint).collect(),
        );
        Ok(Value::Object(data))
    }
}
