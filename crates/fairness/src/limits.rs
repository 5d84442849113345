//! What an operator gives single holders of what all share, instead of what everybody has.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// What one holder has; `None` for what everybody has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HolderLimits {
    /// Calls that make work, per second.
    pub submits_per_second: Option<u32>,
    /// Other calls per second.
    pub calls_per_second: Option<u32>,
    /// The share of what is not given back by itself, in percent of the whole.
    pub share_percent: Option<u32>,
}

/// The holders that have something of their own: few, or none.
#[derive(Default)]
pub struct LimitOverrides {
    /// Whether there are any: every call asks, and mostly there are none.
    some: AtomicBool,
    all: RwLock<HashMap<Arc<str>, HolderLimits>>,
}

impl LimitOverrides {
    /// The limits that hold for one.
    pub fn of(&self, holder: &str) -> HolderLimits {
        if !self.some.load(Ordering::Acquire) {
            return HolderLimits::default();
        }
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        all.get(holder).copied().unwrap_or_default()
    }

    /// Takes over all of them.
    pub fn replace(&self, all: HashMap<Arc<str>, HolderLimits>) {
        let mut kept = self.all.write().unwrap_or_else(PoisonError::into_inner);
        *kept = all;
        self.some.store(!kept.is_empty(), Ordering::Release);
    }
}
