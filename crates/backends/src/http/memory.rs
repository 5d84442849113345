//! Memory that bodies share, from the moment they are read until nobody needs their bytes any more: one budget for
//! inputs, others for what vendors send.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The unit in which memory is given out.
pub(crate) const UNIT: u64 = 64 * 1024;

/// All there is.
#[derive(Clone)]
pub(crate) struct Budget {
    units: u32,
    free: Arc<Semaphore>,
}

impl Budget {
    pub(crate) fn new(bytes: u64) -> Self {
        let units = (bytes / UNIT).clamp(1, Semaphore::MAX_PERMITS as u64);
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        Self {
            units,
            free: Arc::new(Semaphore::new(units as usize)),
        }
    }

    /// Waits for a share that covers so many bytes, or for all there is.
    pub(super) async fn share(&self, bytes: u64) -> Share {
        let units = units(bytes).min(self.units);
        if units == 0 {
            return Share(None);
        }
        let permit = Arc::clone(&self.free).acquire_many_owned(units).await;
        Share(permit.ok())
    }
}

/// A share of the common memory; it returns when it is dropped.
#[derive(Debug, Default)]
pub struct Share(Option<OwnedSemaphorePermit>);

impl Share {
    /// Grows to so many units, however long that takes; false when there can never be so many.
    pub(crate) async fn grow(&mut self, budget: &Budget, units: u64) -> bool {
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

    /// Takes so much of it, or what there is, for one of several files.
    #[must_use]
    pub fn split(&mut self, bytes: u64) -> Self {
        let wanted = (units(bytes) as usize).min(self.units());
        Self(self.0.as_mut().and_then(|permit| permit.split(wanted)))
    }

    /// Gives back what so many bytes do not need.
    pub fn shrink(&mut self, bytes: u64) {
        let surplus = self.units().saturating_sub(units(bytes) as usize);
        if let Some(permit) = &mut self.0 {
            drop(permit.split(surplus));
        }
    }

    /// The same bytes, which give the share back when the last copy of them is gone.
    pub fn hold(mut self, bytes: Bytes) -> Bytes {
        self.shrink(bytes.len() as u64);
        with_share(self, bytes)
    }

    fn units(&self) -> usize {
        self.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
    }
}

/// Bytes with the share they were read under, or a copy of the way to it.
struct WithShare<S, B> {
    bytes: B,
    _share: S,
}

impl<S, B: AsRef<[u8]>> AsRef<[u8]> for WithShare<S, B> {
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
    Bytes::from_owner(WithShare {
        bytes,
        _share: share,
    })
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}
