//! Which inputs are kept for calls that are neither accepted nor refused yet. The same picture may be sent by several calls
//! at once: it goes when the last of them has ended, none was accepted, and nobody had sent it before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use atelier_store::NewAsset;

/// The inputs of all calls that are under way here.
#[derive(Default)]
pub(super) struct PendingInputs(Mutex<HashMap<String, Claims>>);

#[derive(Default)]
struct Claims {
    calls: usize,
    /// Whether one of the calls was the first ever to record it.
    first: bool,
    /// Whether one of them was accepted, or may have been.
    used: bool,
    /// As it was recorded last.
    row: Option<NewAsset>,
}

/// The inputs of one call. Unless it is let go of, they stay.
pub(crate) struct InputGuard {
    pending: Arc<PendingInputs>,
    keys: Vec<String>,
}

impl PendingInputs {
    /// A call is about to record these.
    pub(super) fn begin(self: &Arc<Self>, rows: &[NewAsset]) -> InputGuard {
        let mut keys: Vec<String> = rows.iter().map(|row| row.key.clone()).collect();
        keys.sort();
        keys.dedup();
        let mut all = self.all();
        for key in &keys {
            all.entry(key.clone()).or_default().calls += 1;
        }
        drop(all);
        InputGuard {
            pending: Arc::clone(self),
            keys,
        }
    }

    /// Ends a call; the inputs that nobody needs.
    fn end(&self, keys: &[String], used: bool) -> Vec<NewAsset> {
        let (mut all, mut unused) = (self.all(), Vec::new());
        for key in keys {
            let Some(claims) = all.get_mut(key) else {
                continue;
            };
            claims.calls -= 1;
            claims.used |= used;
            if claims.calls == 0
                && let Some(claims) = all.remove(key)
                && claims.first
                && !claims.used
            {
                unused.extend(claims.row);
            }
        }
        unused
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Claims>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InputGuard {
    /// What the call wished to record has been recorded, and is now so. Whoever records what is known makes it live
    /// longer by a moment, so that a row that is as it was wished for was not known.
    pub(super) fn recorded(&self, wished: &[NewAsset], now: Vec<NewAsset>) {
        let mut all = self.pending.all();
        for row in now {
            let Some(claims) = all.get_mut(&row.key) else {
                continue;
            };
            claims.first |= wished.contains(&row);
            if claims
                .row
                .as_ref()
                .is_none_or(|last| last.expires_ms < row.expires_ms)
            {
                claims.row = Some(row);
            }
        }
    }

    /// The call was not accepted; the inputs that nobody needs.
    pub(super) fn release(mut self) -> Vec<NewAsset> {
        let keys = std::mem::take(&mut self.keys);
        self.pending.end(&keys, false)
    }
}

impl Drop for InputGuard {
    fn drop(&mut self) {
        self.pending.end(&self.keys, true);
    }
}
