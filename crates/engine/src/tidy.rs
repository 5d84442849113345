//! The slow round of the sweeper: files that no row knows, and rows that have been kept for long enough. Jobs and the
//! ledger are kept for ever.

use crate::engine::Engine;

/// Rows deleted in one commit.
const AT_ONCE: i64 = 500;
/// A node that was silent for this long will not come back under its name.
const NODE_GONE_MS: i64 = 24 * 3_600_000;

/// Rows that are kept for a while only.
#[derive(Clone, Copy)]
enum Old {
    Calls,
    Tries,
    Attempts,
    Acts,
    Keys,
}

impl Engine {
    /// Forgets what has been kept for long enough and gives up orphaned files; says how many rows and files.
    pub async fn tidy_step(&self) -> Result<u64, atelier_store::Error> {
        let (store, settings, now_ms) = (&self.store, &self.settings, self.now_ms());
        let mut gone = store.forget_nodes(now_ms - NODE_GONE_MS).await?;
        for old in [Old::Calls, Old::Tries, Old::Attempts, Old::Acts, Old::Keys] {
            gone += self.forget_all(old, now_ms).await?;
        }
        Ok(gone + self.give_up_orphans(now_ms - settings.orphan_ms).await?)
    }

    /// Forgets old rows of a kind, one commit after the other until there are no more.
    async fn forget_all(&self, old: Old, now_ms: i64) -> Result<u64, atelier_store::Error> {
        let before_ms = now_ms
            - match old {
                Old::Calls => self.settings.idempotency_ms,
                Old::Tries | Old::Attempts => self.settings.log_keep_ms,
                Old::Acts => self.settings.audit_keep_ms,
                Old::Keys => self.settings.key_keep_ms,
            };
        let mut gone = 0;
        loop {
            let some = match old {
                Old::Calls => self.store.forget_idempotency(before_ms, AT_ONCE).await?,
                Old::Tries => self.store.forget_tries(before_ms, AT_ONCE).await?,
                Old::Attempts => self.store.forget_attempts(before_ms, AT_ONCE).await?,
                Old::Acts => self.store.forget_audit(before_ms, AT_ONCE).await?,
                Old::Keys => self.store.forget_keys(before_ms, AT_ONCE).await?,
            };
            gone += some;
            if some < AT_ONCE as u64 {
                return Ok(gone);
            }
        }
    }
}
