//! What the service counts about its answers. Counting takes no lock.

use std::time::Duration;

use atelier_contract::FAMILIES;
use atelier_contract::metrics::{CounterVec, HistogramVec, TraceMark, table};
use hyper::StatusCode;

/// What an answer's duration is counted under: a route and a family.
pub(crate) type RouteLabel = (&'static str, &'static str);

pub(crate) const SUBMIT: &str = "submit";
/// A job was read.
pub(crate) const FETCH: &str = "fetch";
/// Everything that is neither a submit nor a fetch.
pub(crate) const PAGE: RouteLabel = ("page", "");

const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// Answers by the first digit of their status, and how long they took.
pub(crate) struct Counts {
    answers: CounterVec,
    durations: HistogramVec,
}

impl Default for Counts {
    fn default() -> Self {
        let families = FAMILIES.iter().map(|family| family.name);
        let families = std::iter::once(PAGE.1).chain(families).collect();
        let routes = vec![PAGE.0, SUBMIT, FETCH];
        Self {
            answers: CounterVec::new(&table::HTTP_ANSWERS, [CLASSES.to_vec(), vec![]]),
            durations: HistogramVec::new(&table::HTTP_DURATION, [routes, families]),
        }
    }
}

impl Counts {
    pub(crate) fn answered(
        &self,
        status: StatusCode,
        (route, family): RouteLabel,
        took: Duration,
        mark: Option<TraceMark>,
    ) {
        let class = usize::from(status.as_u16() / 100).clamp(1, CLASSES.len());
        self.answers.count(CLASSES[class - 1], "");
        let took = took.as_micros() as u64;
        self.durations.at(route, family).observe_marked(took, mark);
    }

    /// Answers by the first digit of their status.
    pub(crate) fn answers(&self) -> &CounterVec {
        &self.answers
    }

    /// How long they took.
    pub(crate) fn durations(&self) -> &HistogramVec {
        &self.durations
    }
}
