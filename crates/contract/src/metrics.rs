//! What the service says of itself in numbers: every name, once. `/metrics`, its documentation, the dashboard and the
//! alert rules are read from this table or held against it.

mod histogram;
mod metric;
mod series;
pub mod table;

pub use histogram::{Exemplar, Histogram, Mark};
pub use metric::{Kind, Metric, Scale};
pub use series::{Counters, Series};
pub use table::METRICS;
