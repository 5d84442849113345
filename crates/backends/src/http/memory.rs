//! Memory that what vendors send shares, from the moment it is read until nobody needs the bytes any more.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The unit in which memory is given out.
pub(crate) const UNIT: u64 = 64 * 1024;

/// Memory that answers of vendors share.
#[derive(Clone)]
pub(crate) struct MemoryBudget {
    free: Arc<Semaphore>,
}

impl MemoryBudget {
    pub(crate) fn new(bytes: u64) -> Self {
        let units = (bytes / UNIT).clamp(1, Semaphore::MAX_PERMITS as u64);
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        Self {
            free: Arc::new(Semaphore::new(units as usize)),
        }
    }
}

/// A share of the common memory; it returns when it is dropped.
#[derive(Debug, Default)]
pub struct MemoryShare(Option<OwnedSemaphorePermit>);

impl MemoryShare {
    /// Grows to so many units, however long that takes; false when there can never be so many.
    pub(crate) async fn grow(&mut self, budget: &MemoryBudget, units: u64) -> bool {
        let missing = units.saturating_sub(self.units() as u64);
        let Ok(missing) = u32::try_from(missing) else {
            return false;
        };
        if missing == 0 {
            return true;
        }
        let more = Arc::clone(&budget.free).acquire_many_owned(missing).await;
        let Ok(more) = more else { return false };
        match &mut self.0 {
            Some(permit) => permit.merge(more),
            none => *none = Some(more),
        }
        true
    }

    fn units(&self) -> usize {
        self.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
    }
}

/// Bytes with the share they were read under, or a copy of the way to it.
struct BytesWithShare<S, B> {
    bytes: B,
    _share: S,
}

impl<S, B: AsRef<[u8]>> AsRef<[u8]> for BytesWithShare<S, B> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

/// Bytes that keep a share for as long as any of them is there.
pub(crate) fn with_share<S, B>(share: S, bytes: B) -> Bytes
where
    S: Send + 'static,
    B: AsRef<[u8]> + Send + 'static,
{
    Bytes::from_owner(BytesWithShare {
        bytes,
        _share: share,
    })
}
