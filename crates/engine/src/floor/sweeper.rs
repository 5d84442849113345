//! The sweeper: overdue jobs and silent workers. It finds by looking, so it works after any crash.

use std::sync::Arc;

use atelier_store::Guard;
use futures_util::future::join_all;

use crate::engine::Engine;
use crate::floor::settle::{Ending, TIMED_OUT};

/// Rows looked at in one step, per kind.
const AT_ONCE: i64 = 200;
/// A node that was silent for this long is no longer listed.
const NODE_SILENT_MS: i64 = 60_000;

impl Engine {
    /// Ends overdue jobs and takes up jobs of silent workers; says whether more may be waiting.
    pub async fn sweep_step(self: &Arc<Self>) -> Result<bool, atelier_store::Error> {
        let now_ms = self.now_ms();
        // Time-outs first: a job past its deadline is not worth taking up. All at once, so that they share commits.
        let overdue = self.store.overdue(now_ms, AT_ONCE).await?;
        let ended = join_all(overdue.iter().map(|id| self.time_out(id))).await;
        let ended: usize = ended.into_iter().sum::<Result<usize, _>>()?;
        let mut adopted = 0;
        for row in self.store.expired_leases(now_ms, AT_ONCE).await? {
            // A lease of our own ran out while we were busy, not dead: renewing it is the renewer's business.
            if row.lease_owner.as_deref() == Some(&self.node) && self.bench.holds(&row.id) {
                continue;
            }
            adopted += usize::from(self.adopt(row).await?);
        }
        Ok(ended.max(adopted) >= AT_ONCE as usize)
    }

    /// Ends an overdue job; how many were ended.
    async fn time_out(&self, id: &str) -> Result<usize, atelier_store::Error> {
        let ending = Ending::Failure(TIMED_OUT.into());
        let settled = self.settle(id, Guard::Unfinished, ending).await?;
        if settled.is_some() {
            self.stop_work(id);
        }
        Ok(usize::from(settled.is_some()))
    }

    /// Says that this node is alive and still works on what it has in hand; stops what it has lost.
    pub async fn renew_step(&self) -> Result<(), atelier_store::Error> {
        let now_ms = self.now_ms();
        let held = self.bench.held();
        if !held.is_empty() {
            let ours = self
                .store
                .renew_leases(&self.node, &held, now_ms + self.settings.lease_ms)
                .await?;
            let ours: std::collections::HashSet<_> = ours.into_iter().collect();
            for (lost, fence) in held.iter().filter(|(id, _)| !ours.contains(id)) {
                // Ended elsewhere, by a cancel or a time-out: its vendor may stop. Taken up elsewhere: it must not.
                let row = self.store.job_of_anyone(lost).await?;
                if row.is_none_or(|row| row.state.is_final()) {
                    self.stop_work(lost);
                } else {
                    self.lose_work(lost, *fence);
                }
            }
        }
        self.load_address_keys().await?;
        self.store
            .beat(&self.node, self.started_ms, now_ms, "")
            .await
    }

    /// Writes down progress that changed.
    pub async fn progress_step(&self) -> Result<(), atelier_store::Error> {
        let notes = self.bench.unwritten();
        if notes.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> = notes.iter().map(|note| note.job_id.clone()).collect();
        self.store.write_progress(notes, self.now_ms()).await?;
        for id in &ids {
            self.wake_job(id);
        }
        Ok(())
    }

    /// The nodes that share the store and were heard of lately.
    pub(crate) async fn alive_nodes(
        &self,
    ) -> Result<Vec<atelier_store::Node>, atelier_store::Error> {
        self.store.nodes(self.now_ms() - NODE_SILENT_MS).await
    }
}
