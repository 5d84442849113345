//! The sweeper: overdue jobs, silent workers, expired files. It finds by looking, so it works after any crash.

use std::sync::Arc;

use atelier_store::Guard;

use crate::crash;
use crate::engine::Engine;
use crate::settle::{Ending, TIMED_OUT};

/// Rows looked at in one step, per kind.
const AT_ONCE: i64 = 200;
/// A node that was silent for this long is no longer listed.
const NODE_SILENT_MS: i64 = 60_000;

impl Engine {
    /// Ends overdue jobs, takes up jobs of silent workers, deletes expired files; says how much it did.
    pub async fn sweep_step(self: &Arc<Self>) -> Result<usize, atelier_store::Error> {
        let now_ms = self.now_ms();
        let mut done = 0;
        // Time-outs first: a job past its deadline is not worth taking up.
        for id in self.store.overdue(now_ms, AT_ONCE).await? {
            let ending = Ending::Failure(TIMED_OUT.into());
            if self.settle(&id, Guard::Unfinished, ending).await?.is_some() {
                self.stop_work(&id);
                done += 1;
            }
        }
        for row in self.store.expired_leases(now_ms, AT_ONCE).await? {
            // A lease of our own ran out while we were busy, not dead: renewing it is the renewer's business.
            if row.lease_owner.as_deref() == Some(&self.node) && self.bench.holds(&row.id) {
                continue;
            }
            self.adopt(row).await?;
            done += 1;
        }
        done += self.delete_expired(now_ms).await?;
        Ok(done)
    }

    async fn delete_expired(&self, now_ms: i64) -> Result<usize, atelier_store::Error> {
        let expired = self.store.expired_assets(now_ms, AT_ONCE).await?;
        let mut gone = Vec::new();
        for asset in expired {
            match self.files.delete(&asset.key).await {
                Ok(()) => gone.push(asset.key),
                Err(error) => {
                    tracing::warn!(%error, key = asset.key, "an expired file was not deleted");
                }
            }
        }
        if !gone.is_empty() {
            crash::point("sweeper.before_forget");
            self.store.forget_assets(&gone).await?;
        }
        Ok(gone.len())
    }

    /// Says that this node is alive and still works on what it has in hand; stops what it has lost.
    pub async fn renew_step(&self) -> Result<(), atelier_store::Error> {
        let now_ms = self.now_ms();
        let ids = self.bench.ids();
        if !ids.is_empty() {
            let ours = self
                .store
                .renew_leases(&self.node, &ids, now_ms + self.settings.lease_ms)
                .await?;
            let ours: std::collections::HashSet<_> = ours.into_iter().collect();
            for lost in ids.iter().filter(|id| !ours.contains(*id)) {
                // Ended elsewhere, by a cancel or a time-out: its vendor may stop. Taken up elsewhere: it must not.
                let row = self.store.job_of_anyone(lost).await?;
                if row.is_none_or(|row| row.state.is_final()) {
                    self.stop_work(lost);
                } else {
                    self.lose_work(lost);
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
