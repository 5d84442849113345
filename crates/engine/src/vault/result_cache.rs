//! Rendered bodies of final jobs. A final job never changes, so its bytes are made once; memory is bounded by size.

use atelier_contract::AccountId;
use bytes::Bytes;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// What is remembered of a final job.
#[derive(Clone)]
pub(crate) struct Rendered {
    /// Its family; other families' endpoints must not answer for it.
    pub(crate) family: &'static str,
    /// The whole body.
    pub(crate) body: Bytes,
}

#[derive(Clone)]
struct BySize;

impl Weighter<String, Rendered> for BySize {
    fn weight(&self, key: &String, value: &Rendered) -> u64 {
        (key.len() + value.body.len() + 96) as u64
    }
}

/// Bodies by account and job.
pub(crate) struct ResultCache(Cache<String, Rendered, BySize>);

impl ResultCache {
    pub(crate) fn new(bytes: u64) -> Self {
        const USUAL_BODY: u64 = 1_024;
        Self(Cache::with_weighter(
            (bytes / USUAL_BODY) as usize,
            bytes,
            BySize,
        ))
    }

    pub(crate) fn get(&self, account_id: &AccountId, job_id: &str) -> Option<Rendered> {
        self.0.get(&key(account_id, job_id))
    }

    pub(crate) fn remove(&self, account_id: &AccountId, job_id: &str) {
        self.0.remove(&key(account_id, job_id));
    }

    pub(crate) fn put(&self, account_id: &AccountId, job_id: &str, rendered: Rendered) {
        self.0.insert(key(account_id, job_id), rendered);
    }
}

fn key(account_id: &AccountId, job_id: &str) -> String {
    format!("{account_id}/{job_id}")
}
