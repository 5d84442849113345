//! The slow round of the pool: takes over what changed in the store, writes down what was learned, tries worker
//! accounts without credit again, and ends jobs that nobody can ever take.

use std::sync::Arc;

use atelier_backends::Backend;
use atelier_store::Guard;

use crate::engine::Engine;
use crate::floor::pool::choice::Lane;
use crate::floor::pool::health::{Condition, Fitness};
use crate::floor::settle::Ending;

/// Jobs of one hopeless lane that are ended in one round.
const AT_ONCE: i64 = 200;
const HOPELESS: &str =
    "[Internal error] the back-end account that made the earlier job is no longer there";

impl Engine {
    /// Brings the pool and the store together.
    pub async fn pool_step(self: &Arc<Self>) -> Result<(), atelier_store::Error> {
        self.write_notes().await?;
        self.load_pool().await?;
        self.probe_credit();
        for (lane, _) in self.store.waiting_by_lane().await? {
            if !lane.is_empty() && self.pool.is_hopeless(Lane::parse(&lane)) {
                for id in self.store.waiting_in_lane(&lane, AT_ONCE).await? {
                    let ending = Ending::Failure(HOPELESS.to_owned());
                    self.settle(&id, Guard::Unfinished, ending).await?;
                }
            }
        }
        self.wakes.work.notify_one();
        Ok(())
    }

    /// Writes down what worker accounts spent and how well they are.
    pub(crate) async fn write_notes(&self) -> Result<(), atelier_store::Error> {
        let notes = self.pool.notes();
        if notes.is_empty() {
            return Ok(());
        }
        let written = self.store.note_workers(notes.clone()).await;
        if written.is_err() {
            self.pool.renote(&notes);
        }
        written
    }

    /// Asks the vendors of worker accounts without credit whether that has changed, once an hour each.
    fn probe_credit(self: &Arc<Self>) {
        let now_ms = self.now_ms();
        let due: Vec<(String, Arc<dyn Backend>)> = {
            let mut stations = self.pool.stations();
            let due = stations.iter_mut().filter(|station| {
                station.desk.health.condition == Condition::OutOfCredit
                    && station.desk.health.fitness(now_ms) == Fitness::Probe
            });
            due.map(|station| {
                station.desk.health.probing = true;
                (station.desk.name.clone(), Arc::clone(&station.backend))
            })
            .collect()
        };
        for (name, backend) in due {
            let engine = self.clone();
            self.tasks.spawn(async move {
                let _ = engine.probe_worker(&name, backend.as_ref()).await;
            });
        }
    }

    /// Asks a vendor whether it is well and takes the credentials; what it says counts.
    pub(crate) async fn probe_worker(
        &self,
        name: &str,
        backend: &dyn Backend,
    ) -> Result<(), atelier_backends::Fault> {
        let answer = backend.probe().await;
        let now_ms = self.now_ms();
        match &answer {
            Ok(()) => self.pool.set_health(name, |health| {
                health.probing = false;
                health.become_well(now_ms);
            }),
            Err(fault) => self.pool.fault(name, fault, now_ms),
        }
        self.wakes.work.notify_one();
        answer
    }
}
