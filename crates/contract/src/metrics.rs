//! What the service says of itself in numbers: every name, once. `/metrics`, its documentation, the dashboard and the
//! alert rules are read from this table or held against it.

mod histogram;
mod metric;
mod series;
pub mod table;

pub use histogram::{Exemplar, Histogram, TraceMark};
pub use metric::{BucketScale, Metric, MetricKind};
pub use series::{CounterVec, HistogramVec};
pub use table::METRICS;
