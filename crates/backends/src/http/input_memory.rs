//! Memory for the inputs of one job: taken as bytes come, so that an input that drips holds no more than has come of it;
//! or all at once, when there was no room for that. Whoever has some never waits for more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use atelier_fairness::share::{FairPermit, FairSemaphore};
use bytes::Bytes;

use super::memory::{UNIT, with_share};

/// Room for inputs; it is free again when it is dropped.
pub struct InputMemory {
    memory: Arc<FairSemaphore>,
    whose: Arc<str>,
    part: Option<FairPermit>,
    /// Whether it takes memory as bytes come; else it has all it may need.
    grows: bool,
    /// Whether this one or one that was split off could not grow.
    short: Arc<AtomicBool>,
}

impl InputMemory {
    /// Room that grows as bytes come, as long as there is any.
    pub(super) fn growing(memory: &Arc<FairSemaphore>, whose: &Arc<str>) -> Self {
        Self {
            memory: Arc::clone(memory),
            whose: Arc::clone(whose),
            part: None,
            grows: true,
            short: Arc::default(),
        }
    }

    /// Waits for its turn to have room for so many bytes, or for as many as one may have.
    pub(super) async fn reserved(
        memory: &Arc<FairSemaphore>,
        whose: &Arc<str>,
        bytes: u64,
    ) -> Self {
        let mut room = Self::growing(memory, whose);
        room.grows = false;
        if bytes > 0 {
            room.part = Some(memory.take(whose, whole_units(bytes)).await);
        }
        room
    }

    /// Whose inputs it is for.
    pub fn whose(&self) -> &str {
        &self.whose
    }

    /// Makes sure that there is room for so many bytes; false when there is not.
    pub fn fits(&mut self, bytes: u64) -> bool {
        if !self.grows {
            return true;
        }
        let wanted = whole_units(bytes);
        let fits = match &mut self.part {
            Some(part) => part.grow_to(wanted).is_ok(),
            none => match self.memory.try_take(&self.whose, wanted) {
                Ok(part) => {
                    *none = Some(part);
                    true
                }
                Err(_) => false,
            },
        };
        if !fits {
            self.short.store(true, Ordering::Release);
        }
        fits
    }

    /// Whether it, or what was split off, could not grow.
    pub fn was_short(&self) -> bool {
        self.short.load(Ordering::Acquire)
    }

    /// Room for one of several inputs, of at most so many bytes.
    #[must_use]
    pub fn split(&mut self, bytes: u64) -> Self {
        let part = if self.grows {
            None
        } else {
            let whole = self.part.as_mut();
            whole.map(|whole| whole.split(whole_units(bytes)))
        };
        Self {
            memory: Arc::clone(&self.memory),
            whose: Arc::clone(&self.whose),
            part,
            grows: self.grows,
            short: Arc::clone(&self.short),
        }
    }

    /// Gives back what so many bytes do not need.
    pub fn shrink(&mut self, bytes: u64) {
        if let Some(part) = &mut self.part {
            part.shrink_to(whole_units(bytes));
        }
    }

    /// The same bytes, which keep the room until the last copy of them is gone.
    pub fn hold(mut self, bytes: Bytes) -> Bytes {
        self.shrink(bytes.len() as u64);
        with_share(self.part, bytes)
    }
}

fn whole_units(bytes: u64) -> u64 {
    bytes.div_ceil(UNIT).max(1) * UNIT
}
