//! Finished jobs that others follow. Who likes a picture asks for several things made from it, each of which is ordered twice:
//! they are read once and believed for a moment, as keys are.

use std::sync::Arc;

use atelier_contract::{AccountId, Job};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::assets::result_cache::{JobKey, JobKeyRef};

/// How long what was read is believed. A job that is deleted is forgotten at once, here and by a hint on the other nodes.
const BELIEVED_MS: i64 = 1_000;
/// Memory for all of them.
const MOST_BYTES: u64 = 8 << 20;
/// A job in memory takes more than its text.
const BY_TEXT: usize = 4;

/// A finished job and who made it.
#[derive(Clone)]
pub(crate) struct ParentJob {
    pub(crate) job: Arc<Job>,
    /// The worker account; none made it when it was made inside this process.
    pub(crate) worker: Option<Arc<str>>,
    /// Bytes of its request and result as they are stored.
    pub(crate) text: usize,
}

#[derive(Clone)]
struct ParentWeighter;

impl Weighter<JobKey, (i64, ParentJob)> for ParentWeighter {
    fn weight(&self, _: &JobKey, (_, parent_job): &(i64, ParentJob)) -> u64 {
        (parent_job.text * BY_TEXT + size_of::<Job>()) as u64
    }
}

/// Finished jobs by account and name, with the time at which they were read.
pub(crate) struct ParentJobCache(Cache<JobKey, (i64, ParentJob), ParentWeighter>);

impl ParentJobCache {
    pub(crate) fn new() -> Self {
        const USUAL_BYTES: u64 = 8 << 10;
        let jobs = (MOST_BYTES / USUAL_BYTES) as usize;
        Self(Cache::with_weighter(jobs, MOST_BYTES, ParentWeighter))
    }

    pub(crate) fn get(&self, asked: &JobKeyRef<'_>, now_ms: i64) -> Option<ParentJob> {
        let (read_ms, parent_job) = self.0.get(asked)?;
        (read_ms..read_ms + BELIEVED_MS)
            .contains(&now_ms)
            .then_some(parent_job)
    }

    pub(crate) fn put(&self, account_id: &AccountId, parent_job: ParentJob, now_ms: i64) {
        let key = (account_id.clone(), parent_job.job.id.as_str().into());
        self.0.insert(key, (now_ms, parent_job));
    }

    pub(crate) fn remove(&self, asked: &JobKeyRef<'_>) {
        self.0.remove(asked);
    }
}
