//! What the house is doing, for operators, metrics and whoever asks whether it is ready.

use atelier_contract::Refusal;
use atelier_contract::pages::ready::{Ready, WorkerState};
use atelier_contract::pages::stats::{NodeRow, Stats, WorkerStats};

use crate::engine::{Engine, unavailable};
use crate::floor::pool::view::WorkerReport;

impl Engine {
    /// What the house is doing right now.
    pub async fn stats(&self) -> Result<Stats, Refusal> {
        let counts = self.store.counts().await.map_err(unavailable)?;
        let lanes = self.store.waiting_by_lane().await.map_err(unavailable)?;
        let name = |lane: String| {
            if lane.is_empty() { "any".into() } else { lane }
        };
        let reports = self.pool.reports(self.now_ms());
        Ok(Stats {
            waiting: counts.waiting,
            running: counts.running,
            callbacks_due: counts.deliveries_due,
            in_hand: self.bench.ids().len(),
            at_vendors: self.polling.len(),
            waiting_by_lane: lanes
                .into_iter()
                .map(|(lane, jobs)| (name(lane), jobs))
                .collect(),
            backends: reports.into_iter().map(worker_stats).collect(),
            up_ms: self.now_ms() - self.started_ms,
        })
    }

    /// What every back end of the operator's does, in a few words that anybody may read.
    pub fn pool_state(&self) -> Ready {
        let reports = self.pool.reports(self.now_ms());
        let shown = |one: WorkerReport| WorkerState {
            name: one.name.to_string(),
            busy: one.busy,
            slots: one.slots,
            condition: one.health.condition.word().to_owned(),
        };
        let own = reports.into_iter().filter(|one| one.owner.is_none());
        Ready {
            state: "ready",
            at_vendors: self.polling.len(),
            backends: own.map(shown).collect(),
        }
    }

    /// The nodes that share the store.
    pub async fn nodes(&self) -> Result<Vec<NodeRow>, Refusal> {
        let nodes = self.alive_nodes().await.map_err(unavailable)?;
        let one = |node: atelier_store::Node| NodeRow {
            is_self: node.id == self.node,
            id: node.id,
            started_ms: node.started_ms,
            seen_ms: node.seen_ms,
        };
        Ok(nodes.into_iter().map(one).collect())
    }
}

fn worker_stats(one: WorkerReport) -> WorkerStats {
    WorkerStats {
        name: one.name.to_string(),
        backend: one.backend,
        custody: one.owner.is_some(),
        busy: one.busy,
        slots: one.slots,
        condition: one.health.condition.word().to_owned(),
        usable: one.usable,
        average_execute: one.average_s,
        last_errors: one.health.last_errors,
    }
}
