//! Rendered bodies of jobs that succeeded. Such a job never changes until it is deleted, so its bytes are made once; memory is
//! bounded by size.

use atelier_contract::AccountId;
use bytes::Bytes;
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};

/// What is remembered of a job that succeeded.
#[derive(Clone)]
pub(crate) struct RenderedBody {
    /// Its family; other families' endpoints must not answer for it.
    pub(crate) family: &'static str,
    pub(crate) body: Bytes,
}

/// A job of an account.
pub(super) type JobKey = (AccountId, Box<str>);

/// The same, as it is looked for.
#[derive(Hash)]
pub(super) struct JobKeyRef<'a>(pub(super) &'a AccountId, pub(super) &'a str);

impl Equivalent<JobKey> for JobKeyRef<'_> {
    fn equivalent(&self, key: &JobKey) -> bool {
        *self.0 == key.0 && *self.1 == *key.1
    }
}

#[derive(Clone)]
struct BodyWeighter;

impl Weighter<JobKey, RenderedBody> for BodyWeighter {
    fn weight(&self, (account_id, job_id): &JobKey, value: &RenderedBody) -> u64 {
        (account_id.len() + job_id.len() + value.body.len() + 96) as u64
    }
}

/// Bodies by account and job.
pub(crate) struct ResultCache(Cache<JobKey, RenderedBody, BodyWeighter>);

impl ResultCache {
    pub(crate) fn new(bytes: u64) -> Self {
        const USUAL_BODY: u64 = 1_024;
        Self(Cache::with_weighter(
            (bytes / USUAL_BODY) as usize,
            bytes,
            BodyWeighter,
        ))
    }

    pub(crate) fn get(&self, account_id: &AccountId, job_id: &str) -> Option<RenderedBody> {
        self.0.get(&JobKeyRef(account_id, job_id))
    }

    pub(crate) fn remove(&self, account_id: &AccountId, job_id: &str) {
        self.0.remove(&JobKeyRef(account_id, job_id));
    }

    pub(crate) fn put(&self, account_id: &AccountId, job_id: &str, rendered: RenderedBody) {
        self.0.insert((account_id.clone(), job_id.into()), rendered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_found_by_its_account_and_job_and_by_nothing_else() {
        let cache = ResultCache::new(1 << 20);
        let rendered = RenderedBody {
            family: "artgen",
            body: Bytes::from_static(b"{}"),
        };
        cache.put(&"a".into(), "b/c", rendered);
        assert!(cache.get(&"a".into(), "b/c").is_some());
        assert!(cache.get(&"a/b".into(), "c").is_none());
        assert!(cache.get(&"b".into(), "b/c").is_none());
        cache.remove(&"a".into(), "b/c");
        assert!(cache.get(&"a".into(), "b/c").is_none());
    }
}
