//! Outlines of long lists, remembered: how many jobs were created on each of an account's earlier days, and in each part of
//! one day. A page in the middle is then found without going through all before it.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// Bytes of outlines that are remembered at most; a day of a busy account has five thousand.
const MOST: u64 = 8 << 20;
/// What an outline takes besides its numbers.
const EACH: u64 = 192;

/// How many jobs there are in each piece of time that has any, in the order of the list.
pub(super) type Outline = Arc<[(i64, i64)]>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct OutlineKey {
    pub(super) account_id: String,
    pub(super) operations: String,
    pub(super) state: Option<i64>,
    /// From the first of these days to the last, in parts; or all earlier days, one by one.
    pub(super) days: Option<(i64, i64)>,
}

/// What an outline is known by to be still right. Jobs that end make them more; whatever makes them fewer is a fall, and those
/// are counted: if neither has changed, nothing has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutlineVersion {
    pub(super) jobs: i64,
    pub(super) falls: i64,
}

/// What is known of an outline.
#[derive(Debug)]
pub(super) enum CachedOutline {
    /// It is still right.
    Right(Outline),
    /// It was not made when it was looked for last, and nothing has changed since.
    Quiet,
    /// Nothing is known, or it is no longer right.
    Nothing,
}

#[derive(Clone)]
struct OutlineWeighter;

impl Weighter<OutlineKey, (OutlineVersion, Option<Outline>)> for OutlineWeighter {
    fn weight(&self, which: &OutlineKey, (_, outline): &(OutlineVersion, Option<Outline>)) -> u64 {
        let pieces = outline.as_ref().map_or(0, |outline| outline.len());
        EACH + (which.account_id.len() + which.operations.len() + 16 * pieces) as u64
    }
}

/// All that are remembered.
pub(crate) struct OutlineCache(
    Cache<OutlineKey, (OutlineVersion, Option<Outline>), OutlineWeighter>,
);

impl std::fmt::Debug for OutlineCache {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} outlines", self.0.len())
    }
}

impl Default for OutlineCache {
    fn default() -> Self {
        const USUAL: u64 = 5_000;
        Self(Cache::with_weighter(
            (MOST / USUAL) as usize,
            MOST,
            OutlineWeighter,
        ))
    }
}

impl OutlineCache {
    /// What is known, now that this would have to be its proof.
    pub(super) fn get(&self, which: &OutlineKey, proof: OutlineVersion) -> CachedOutline {
        match self.0.get(which) {
            Some((then, Some(outline))) if then == proof => CachedOutline::Right(outline),
            Some((then, None)) if then == proof => CachedOutline::Quiet,
            _ => CachedOutline::Nothing,
        }
    }

    /// Remembers that it was looked for.
    pub(super) fn looked(&self, which: OutlineKey, proof: OutlineVersion) {
        self.0.insert(which, (proof, None));
    }

    /// Remembers an outline that was made after its falls had been read.
    pub(super) fn put(&self, which: OutlineKey, falls: i64, outline: &Outline) {
        let jobs = outline.iter().map(|(_, jobs)| jobs).sum();
        let proof = OutlineVersion { jobs, falls };
        self.0.insert(which, (proof, Some(Arc::clone(outline))));
    }
}
