//! Key to account: one hash, one look into a small cache whose entries live a second, else one indexed read.

use std::sync::atomic::{AtomicI64, Ordering};

use atelier_contract::{Code, Refusal};
use quick_cache::sync::Cache;

use crate::engine::{Engine, unavailable};
use crate::key;
use crate::views::Caller;

/// How long a key is believed without asking the store again.
const BELIEVED_MS: i64 = 1_000;
/// How many keys are remembered.
const REMEMBERED: usize = 10_000;
/// A key's last use is written down at most this often.
const TOUCH_MS: i64 = 60_000;

/// Keys seen lately.
pub(crate) struct CallerCache {
    known: Cache<String, (Caller, i64)>,
    touched: Cache<String, i64>,
    voided_ms: AtomicI64,
}

impl Default for CallerCache {
    fn default() -> Self {
        Self {
            known: Cache::new(REMEMBERED),
            touched: Cache::new(REMEMBERED),
            voided_ms: AtomicI64::new(i64::MIN),
        }
    }
}

impl CallerCache {
    /// Forgets every key seen so far: one of them was revoked.
    pub(crate) fn void(&self, now_ms: i64) {
        self.voided_ms.store(now_ms, Ordering::SeqCst);
        self.known.clear();
    }
}

impl Engine {
    /// The caller behind a key.
    pub async fn authenticate(&self, key: &str) -> Result<Caller, Refusal> {
        if !key::well_formed(key) {
            return Err(wrong_key());
        }
        let hash = key::hash(key);
        let now_ms = self.now_ms();
        if let Some((caller, until_ms)) = self.callers.known.get(&hash)
            && until_ms > now_ms
        {
            return Ok(caller);
        }
        let found = self
            .store
            .account_for_key(&hash, now_ms)
            .await
            .map_err(unavailable)?;
        let Some((account, key)) = found.filter(|(account, _)| account.email_verified_ms.is_some())
        else {
            return Err(wrong_key());
        };
        let caller = Caller {
            account_id: account.id,
            key_id: key.id,
        };
        // A key revoked while we were asking must not enter the cache.
        if self.callers.voided_ms.load(Ordering::SeqCst) < now_ms {
            self.callers
                .known
                .insert(hash, (caller.clone(), now_ms + BELIEVED_MS));
        }
        self.touch(&caller.key_id, now_ms);
        Ok(caller)
    }

    fn touch(&self, key_id: &str, now_ms: i64) {
        if self
            .callers
            .touched
            .get(key_id)
            .is_some_and(|last| now_ms - last < TOUCH_MS)
        {
            return;
        }
        self.callers.touched.insert(key_id.to_owned(), now_ms);
        let (store, key_id) = (self.store.clone(), key_id.to_owned());
        self.tasks.spawn(async move {
            if let Err(error) = store.touch_key(&key_id, now_ms).await {
                tracing::debug!(%error, "last use of a key was not written down");
            }
        });
    }
}

fn wrong_key() -> Refusal {
    Refusal::new(
        Code::Unauthorized,
        "Wrong SVC-API-KEY or email is not activated.",
    )
}
