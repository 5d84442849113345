//! How many were at most how large, counted without a lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::metric::BucketScale;

/// Where and when something was observed that a collector of traces knows more about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceMark {
    /// Identifier of the trace it belongs to.
    pub trace: u128,
    /// When, in milliseconds since 1970.
    pub time_ms: i64,
}

/// The last marked observation of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exemplar {
    /// The trace it belongs to, and when it was.
    pub mark: TraceMark,
    /// How large it was.
    pub amount: u64,
}

/// Counts by size. Two additions for each observation, and nobody waits for anybody.
#[derive(Debug)]
pub struct Histogram {
    scale: BucketScale,
    /// One for each step and one for what is larger than all.
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
    /// One for each step; none at all until something marked is observed.
    exemplars: Mutex<Vec<Option<Exemplar>>>,
}

impl Histogram {
    /// A histogram that has counted nothing.
    pub fn new(scale: BucketScale) -> Self {
        let steps = scale.bounds.len() + 1;
        Self {
            scale,
            counts: std::iter::repeat_with(AtomicU64::default)
                .take(steps)
                .collect(),
            sum: AtomicU64::new(0),
            exemplars: Mutex::default(),
        }
    }

    /// The bounds of its buckets and their unit.
    pub fn scale(&self) -> BucketScale {
        self.scale
    }

    /// Counts one observation of this size.
    pub fn observe(&self, amount: u64) {
        self.observe_marked(amount, None);
    }

    /// Counts one, and remembers where it was if it is marked; while somebody else does just that, it is only counted.
    pub fn observe_marked(&self, amount: u64, mark: Option<TraceMark>) {
        let step = self.scale.bounds.partition_point(|bound| *bound < amount);
        self.counts[step].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(amount, Ordering::Relaxed);
        if let Some(mark) = mark
            && let Ok(mut exemplars) = self.exemplars.try_lock()
        {
            exemplars.resize(self.counts.len(), None);
            exemplars[step] = Some(Exemplar { mark, amount });
        }
    }

    /// Counts a span of milliseconds in a histogram of microseconds; a clock that was set back counts as no time.
    pub fn observe_ms(&self, span_ms: i64, mark: Option<TraceMark>) {
        let amount = u64::try_from(span_ms).unwrap_or(0).saturating_mul(1000);
        self.observe_marked(amount, mark);
    }

    /// The last marked observation of each step; empty when there was none at all.
    pub fn exemplars(&self) -> Vec<Option<Exemplar>> {
        let exemplars = self.exemplars.lock();
        exemplars.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many were at most as large as each bound, the last of them without a bound; and the sum of all.
    pub fn read(&self) -> (Vec<u64>, u64) {
        let mut so_far = 0;
        let up_to = self.counts.iter().map(|count| {
            so_far += count.load(Ordering::Relaxed);
            so_far
        });
        let up_to = up_to.collect();
        (up_to, self.sum.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: BucketScale = BucketScale {
        bounds: &[10, 100],
        per_unit: 1,
    };

    /// The promise: a bound belongs to its own step, as Prometheus reads `le`.
    #[test]
    fn what_is_as_large_as_a_bound_is_within_it() {
        let sizes = Histogram::new(SCALE);
        for amount in [0, 10, 11, 100, 101] {
            sizes.observe(amount);
        }
        assert_eq!(sizes.read(), (vec![2, 4, 5], 222));
    }

    #[test]
    fn the_last_marked_one_of_a_step_is_remembered() {
        let sizes = Histogram::new(SCALE);
        sizes.observe(5);
        assert!(sizes.exemplars().is_empty());
        let mark = |trace| TraceMark { trace, time_ms: 7 };
        for (amount, trace) in [(5, 1), (6, 2), (500, 3)] {
            sizes.observe_marked(amount, Some(mark(trace)));
        }
        let told = |amount, trace| {
            Some(Exemplar {
                mark: mark(trace),
                amount,
            })
        };
        assert_eq!(sizes.exemplars(), [told(6, 2), None, told(500, 3)]);
        assert_eq!(sizes.read(), (vec![3, 3, 4], 516));
    }

    #[test]
    fn a_clock_that_went_back_counts_as_no_time() {
        let sizes = Histogram::new(SCALE);
        sizes.observe_ms(-5, None);
        assert_eq!(sizes.read(), (vec![1, 1, 1], 0));
    }
}
