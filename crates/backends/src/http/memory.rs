//! The memory that inputs under way share, from the moment they are read until nobody needs their bytes any more.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Outbound;

/// The unit in which memory is given out.
const UNIT: u64 = 64 * 1024;

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
}

/// A share of the common memory; it returns when it is dropped.
#[derive(Debug, Default)]
pub struct Share(Option<OwnedSemaphorePermit>);

impl Outbound {
    /// Waits for a share that covers so many bytes, or for all there is. Whoever has one must not wait for a second:
    /// two who did could wait for each other.
    pub async fn reserve(&self, bytes: u64) -> Share {
        let budget = &self.input_memory;
        let units = units(bytes).min(budget.units);
        if units == 0 {
            return Share(None);
        }
        let permit = Arc::clone(&budget.free).acquire_many_owned(units).await;
        Share(permit.ok())
    }
}

impl Share {
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
        Bytes::from_owner(Held {
            bytes,
            _share: self,
        })
    }

    fn units(&self) -> usize {
        self.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
    }
}

struct Held {
    bytes: Bytes,
    _share: Share,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}
