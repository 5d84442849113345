//! Keys in the spellings of other programs. They are looked up only where something was taken over from one, and one that is nobody's
//! is not asked about again for a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quick_cache::sync::Cache;

use crate::context::Context;

/// How long a key that was nobody's is taken for nobody's.
const NOBODYS_MS: i64 = 10_000;
/// How many of them are remembered.
const REMEMBERED: usize = 10_000;

/// What is known of keys of other programs.
pub(super) struct ForeignKeys {
    context: Arc<Context>,
    /// Whether anything was taken over; it stays so.
    any: AtomicBool,
    /// Keys that are nobody's by the hash of the whole key, and until when.
    nobodys: Cache<String, i64>,
}

impl ForeignKeys {
    pub(super) fn new(context: Arc<Context>) -> Self {
        Self {
            context,
            any: AtomicBool::new(false),
            nobodys: Cache::new(REMEMBERED),
        }
    }

    /// Looks whether anything was taken over by now.
    pub(super) async fn look(&self) -> Result<(), atelier_store::Error> {
        if !self.may_be() {
            let any = self.context.store().imports().any().await?;
            self.any.store(any, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Whether there may be keys of other programs.
    pub(super) fn may_be(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Whether a key turned out to be nobody's a moment ago.
    pub(super) fn is_nobodys(&self, whole: &str) -> bool {
        let now_ms = self.context.steady_ms();
        let until_ms = self.nobodys.get(whole);
        until_ms.is_some_and(|until_ms| until_ms > now_ms)
    }

    /// A key turned out to be nobody's.
    pub(super) fn note_nobodys(&self, whole: String) {
        let until_ms = self.context.steady_ms() + NOBODYS_MS;
        self.nobodys.insert(whole, until_ms);
    }
}
