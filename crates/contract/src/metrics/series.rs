//! A metric with all its rows, which are fixed when the process starts: finding one takes no lock.

use std::sync::atomic::{AtomicU64, Ordering};

use super::histogram::Histogram;
use super::metric::{BucketScale, Metric, MetricKind};

/// The rows of a metric by up to two labels, each with a fixed list of values.
#[derive(Debug)]
struct MetricVec<T> {
    metric: &'static Metric,
    first: Vec<&'static str>,
    second: Vec<&'static str>,
    cells: Vec<T>,
}

impl<T> MetricVec<T> {
    fn new(
        metric: &'static Metric,
        values: [Vec<&'static str>; 2],
        cell: impl FnMut() -> T,
    ) -> Self {
        let [first, second] = values;
        let cells = first.len().max(1) * second.len().max(1);
        Self {
            metric,
            first,
            second,
            cells: std::iter::repeat_with(cell).take(cells).collect(),
        }
    }

    /// The row of two values; of values that are not in the lists, the first ones.
    fn at(&self, first: &str, second: &str) -> &T {
        let place = |list: &[&str], value: &str| list.iter().position(|one| *one == value);
        let (row, column) = (place(&self.first, first), place(&self.second, second));
        let place = row.unwrap_or(0) * self.second.len().max(1) + column.unwrap_or(0);
        &self.cells[place]
    }

    fn all(&self) -> impl Iterator<Item = (Vec<&'static str>, &T)> {
        let across = self.second.len().max(1);
        let labels = move |place: usize| {
            let first = self.first.get(place / across).copied();
            let second = self.second.get(place % across).copied();
            first.into_iter().chain(second).collect()
        };
        self.cells
            .iter()
            .enumerate()
            .map(move |(place, cell)| (labels(place), cell))
    }
}

/// A histogram for each pair of values.
#[derive(Debug)]
pub struct HistogramVec(MetricVec<Histogram>);

impl HistogramVec {
    /// Empty ones, for the values of up to two labels.
    pub fn new(metric: &'static Metric, values: [Vec<&'static str>; 2]) -> Self {
        let scale = match metric.kind {
            MetricKind::Histogram(scale) => scale,
            MetricKind::Counter | MetricKind::Gauge => BucketScale {
                bounds: &[],
                per_unit: 1,
            },
        };
        Self(MetricVec::new(metric, values, || Histogram::new(scale)))
    }

    /// The metric that these histograms are rows of.
    pub fn metric(&self) -> &'static Metric {
        self.0.metric
    }

    /// The histogram of two values; of values that were not foreseen, that of the first ones.
    pub fn at(&self, first: &str, second: &str) -> &Histogram {
        self.0.at(first, second)
    }

    /// Every row with its values.
    pub fn rows(&self) -> impl Iterator<Item = (Vec<&'static str>, &Histogram)> {
        self.0.all()
    }
}

/// A counter for each pair of values.
#[derive(Debug)]
pub struct CounterVec(MetricVec<AtomicU64>);

impl CounterVec {
    /// Zeros, for the values of up to two labels.
    pub fn new(metric: &'static Metric, values: [Vec<&'static str>; 2]) -> Self {
        Self(MetricVec::new(metric, values, AtomicU64::default))
    }

    /// The metric that these counters are rows of.
    pub fn metric(&self) -> &'static Metric {
        self.0.metric
    }

    /// Adds one to the counter of this pair of values.
    pub fn count(&self, first: &str, second: &str) {
        self.0.at(first, second).fetch_add(1, Ordering::Relaxed);
    }

    /// Every row with its values.
    pub fn rows(&self) -> impl Iterator<Item = (Vec<&'static str>, u64)> {
        let all = self.0.all();
        all.map(|(labels, count)| (labels, count.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::table;
    use super::*;

    #[test]
    fn every_pair_of_values_has_a_row_of_its_own() {
        let calls = HistogramVec::new(
            &table::VENDOR_CALL_DURATION,
            [vec!["embedded", "fal"], vec!["start", "question"]],
        );
        calls.at("fal", "question").observe(1);
        calls.at("fal", "start").observe(1);
        calls.at("fal", "start").observe(1);
        let counted: Vec<_> = calls
            .rows()
            .map(|(labels, one)| (labels.join("."), one.read().0.last().copied()))
            .collect();
        let expected = [
            ("embedded.start", 0),
            ("embedded.question", 0),
            ("fal.start", 2),
            ("fal.question", 1),
        ];
        let expected = expected.map(|(name, count)| (name.to_owned(), Some(count)));
        assert_eq!(counted, expected);
    }
}
