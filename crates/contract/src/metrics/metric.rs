//! A line of the table of metrics.

/// The steps of a histogram. What is counted are whole numbers; so many of them are one unit of the metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BucketScale {
    /// The upper ends of the steps, ascending, in what is counted.
    pub bounds: &'static [u64],
    /// How many of what is counted make one unit.
    pub per_unit: u64,
}

/// What kind of number it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MetricKind {
    /// Only grows while the process runs.
    Counter,
    /// Goes up and down.
    Gauge,
    /// How many were at most how large.
    Histogram(BucketScale),
}

impl MetricKind {
    /// Its name in the text form.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram(_) => "histogram",
        }
    }
}

/// A metric: its name, and what its rows differ in.
#[derive(Debug, PartialEq)]
pub struct Metric {
    /// Its name on `/metrics`.
    pub name: &'static str,
    /// What kind of number it is.
    pub kind: MetricKind,
    /// What its rows differ in. None is an account or anything else that callers choose: the number of rows is the
    /// operator's.
    pub labels: &'static [&'static str],
    /// A sentence about it.
    pub about: &'static str,
}

impl Metric {
    /// Whether a name in a query is of this metric: a histogram is read by its parts.
    pub fn is_read_as(&self, name: &str) -> bool {
        match self.kind {
            MetricKind::Counter | MetricKind::Gauge => name == self.name,
            MetricKind::Histogram(_) => name
                .strip_prefix(self.name)
                .is_some_and(|part| ["_bucket", "_sum", "_count"].contains(&part)),
        }
    }
}
