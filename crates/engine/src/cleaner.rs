//! The slow round of the sweeper: files that no row knows, and rows that have been kept for long enough. Jobs and the
//! ledger are kept for ever.

use std::sync::Arc;

use crate::assets::Assets;
use crate::context::Context;

/// Rows deleted in one commit.
const AT_ONCE: i64 = 500;
/// A node that was silent for this long will not come back under its name.
const NODE_GONE_MS: i64 = 24 * 3_600_000;

const HOUR_MS: i64 = 3_600_000;
/// What callers paid and vendors took is shown for 30 days.
const TAKINGS_KEEP_MS: i64 = 32 * 24 * HOUR_MS;

/// Rows that are kept for a while only.
#[derive(Clone, Copy)]
enum RowKind {
    Calls,
    Tries,
    Attempts,
    Acts,
    OwnActs,
    FailedWords,
    Keys,
    KeyWindows,
    Sessions,
    Bulks,
    Takings,
    Notices,
}

/// Forgets and gives up what has been kept for long enough.
pub struct Cleaner {
    context: Arc<Context>,
    assets: Arc<Assets>,
}

impl Cleaner {
    pub(crate) fn new(context: Arc<Context>, assets: Arc<Assets>) -> Self {
        Self { context, assets }
    }

    /// Forgets what has been kept for long enough and gives up orphaned files; says how many rows and files.
    pub async fn step(&self) -> Result<u64, atelier_store::Error> {
        let (store, settings, now_ms) = (
            self.context.store(),
            self.context.settings(),
            self.context.now_ms(),
        );
        let mut gone = store
            .retention()
            .forget_nodes(self.context.steady_ms() - NODE_GONE_MS)
            .await?;
        for old in [
            RowKind::Calls,
            RowKind::Tries,
            RowKind::Attempts,
            RowKind::Acts,
            RowKind::OwnActs,
            RowKind::FailedWords,
            RowKind::Keys,
            RowKind::KeyWindows,
            RowKind::Sessions,
            RowKind::Bulks,
            RowKind::Takings,
            RowKind::Notices,
        ] {
            gone += self.forget_all(old, now_ms).await?;
        }
        Ok(gone
            + self
                .assets
                .give_up_orphans(now_ms - settings.retention.orphan_minutes.ms())
                .await?)
    }

    /// Forgets old rows of a kind, one commit after the other until there are no more.
    async fn forget_all(&self, old: RowKind, now_ms: i64) -> Result<u64, atelier_store::Error> {
        let retention = &self.context.settings().retention;
        let before_ms = now_ms
            - match old {
                RowKind::Calls => retention.idempotency_hours.ms(),
                RowKind::Tries | RowKind::Attempts | RowKind::Bulks | RowKind::OwnActs => {
                    retention.log_days.ms()
                }
                RowKind::FailedWords => retention.failed_days.ms(),
                RowKind::Acts | RowKind::Notices => retention.audit_days.ms(),
                RowKind::Keys | RowKind::KeyWindows => retention.key_days.ms(),
                RowKind::Sessions => crate::admin::SESSION_KEEP_MS,
                RowKind::Takings => TAKINGS_KEEP_MS,
            };
        let retention = self.context.store().retention();
        let mut gone = 0;
        loop {
            let some = match old {
                RowKind::Calls => retention.forget_idempotency(before_ms, AT_ONCE).await?,
                RowKind::Tries => retention.forget_tries(before_ms, AT_ONCE).await?,
                RowKind::Attempts => retention.forget_attempts(before_ms, AT_ONCE).await?,
                RowKind::Acts => retention.forget_audit(before_ms, AT_ONCE).await?,
                RowKind::OwnActs => retention.forget_account_acts(before_ms, AT_ONCE).await?,
                RowKind::FailedWords => retention.forget_failed_words(before_ms, AT_ONCE).await?,
                RowKind::Keys => retention.forget_keys(before_ms, AT_ONCE).await?,
                RowKind::KeyWindows => retention.forget_key_windows(before_ms, AT_ONCE).await?,
                RowKind::Sessions => retention.forget_sessions(before_ms, AT_ONCE).await?,
                RowKind::Bulks => retention.forget_bulks(before_ms, AT_ONCE).await?,
                RowKind::Notices => retention.forget_notices(before_ms, AT_ONCE).await?,
                RowKind::Takings => {
                    let hour = before_ms.div_euclid(HOUR_MS);
                    retention.forget_takings(hour, AT_ONCE).await?
                }
            };
            gone += some;
            if some < AT_ONCE as u64 {
                return Ok(gone);
            }
        }
    }
}
