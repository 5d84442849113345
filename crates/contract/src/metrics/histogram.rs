//! How many were at most how large, counted without a lock.

use std::sync::atomic::{AtomicU64, Ordering};

use super::metric::Scale;

/// Counts by size. Two additions for each observation, and nobody waits for anybody.
#[derive(Debug)]
pub struct Histogram {
    scale: Scale,
    /// One for each step and one for what is larger than all.
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

impl Histogram {
    /// An empty one.
    pub fn new(scale: Scale) -> Self {
        let steps = scale.bounds.len() + 1;
        Self {
            scale,
            counts: std::iter::repeat_with(AtomicU64::default)
                .take(steps)
                .collect(),
            sum: AtomicU64::new(0),
        }
    }

    /// Its steps.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Counts one.
    pub fn observe(&self, amount: u64) {
        let step = self.scale.bounds.partition_point(|bound| *bound < amount);
        self.counts[step].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(amount, Ordering::Relaxed);
    }

    /// Counts a span of milliseconds in a histogram of microseconds; a clock that was set back counts as no time.
    pub fn observe_ms(&self, span_ms: i64) {
        self.observe(u64::try_from(span_ms).unwrap_or(0).saturating_mul(1000));
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

    const SCALE: Scale = Scale {
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
    fn a_clock_that_went_back_counts_as_no_time() {
        let sizes = Histogram::new(SCALE);
        sizes.observe_ms(-5);
        assert_eq!(sizes.read(), (vec![1, 1, 1], 0));
    }
}
