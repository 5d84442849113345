//! The slow round of the sweeper: files that no row knows, and rows that have been kept for long enough. Jobs and the
//! ledger are kept for ever.

use std::sync::Arc;

use crate::house::House;
use crate::vault::Vault;

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
    OwnActs,
    FailedWords,
    Keys,
    Sessions,
    Bulks,
}

/// Forgets and gives up what has been kept for long enough.
pub struct Tidy {
    house: Arc<House>,
    vault: Arc<Vault>,
}

impl Tidy {
    pub(crate) fn new(house: Arc<House>, vault: Arc<Vault>) -> Self {
        Self { house, vault }
    }

    /// Forgets what has been kept for long enough and gives up orphaned files; says how many rows and files.
    pub async fn step(&self) -> Result<u64, atelier_store::Error> {
        let (store, settings, now_ms) =
            (&self.house.store, &self.house.settings, self.house.now_ms());
        let mut gone = store
            .forget_nodes(self.house.steady_ms() - NODE_GONE_MS)
            .await?;
        for old in [
            Old::Calls,
            Old::Tries,
            Old::Attempts,
            Old::Acts,
            Old::OwnActs,
            Old::FailedWords,
            Old::Keys,
            Old::Sessions,
            Old::Bulks,
        ] {
            gone += self.forget_all(old, now_ms).await?;
        }
        Ok(gone
            + self
                .vault
                .give_up_orphans(now_ms - settings.orphan_ms)
                .await?)
    }

    /// Forgets old rows of a kind, one commit after the other until there are no more.
    async fn forget_all(&self, old: Old, now_ms: i64) -> Result<u64, atelier_store::Error> {
        let before_ms = now_ms
            - match old {
                Old::Calls => self.house.settings.idempotency_ms,
                Old::Tries | Old::Attempts | Old::Bulks | Old::OwnActs => {
                    self.house.settings.log_keep_ms
                }
                Old::FailedWords => self.house.settings.failed_keep_ms,
                Old::Acts => self.house.settings.audit_keep_ms,
                Old::Keys => self.house.settings.key_keep_ms,
                Old::Sessions => crate::office::SESSION_KEEP_MS,
            };
        let mut gone = 0;
        loop {
            let some = match old {
                Old::Calls => {
                    self.house
                        .store
                        .forget_idempotency(before_ms, AT_ONCE)
                        .await?
                }
                Old::Tries => self.house.store.forget_tries(before_ms, AT_ONCE).await?,
                Old::Attempts => self.house.store.forget_attempts(before_ms, AT_ONCE).await?,
                Old::Acts => self.house.store.forget_audit(before_ms, AT_ONCE).await?,
                Old::OwnActs => {
                    let store = &self.house.store;
                    store.forget_account_acts(before_ms, AT_ONCE).await?
                }
                Old::FailedWords => {
                    let store = &self.house.store;
                    store.forget_failed_words(before_ms, AT_ONCE).await?
                }
                Old::Keys => self.house.store.forget_keys(before_ms, AT_ONCE).await?,
                Old::Sessions => self.house.store.forget_sessions(before_ms, AT_ONCE).await?,
                Old::Bulks => self.house.store.forget_bulks(before_ms, AT_ONCE).await?,
            };
            gone += some;
            if some < AT_ONCE as u64 {
                return Ok(gone);
            }
        }
    }
}
