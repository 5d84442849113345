//! What this node counts while it works. Rows are fixed when it is built, and counting takes no lock: callers pay two
//! additions for it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use atelier_backends::credentials::Tally;
use atelier_backends::{Class, Fault, Vendor};
use atelier_contract::metrics::{CounterVec, HistogramVec, TraceMark, table};
use atelier_contract::{FAMILIES, JobState};
use atelier_store::{Cost, Delivery, DeliveryState, JobRow};

use crate::settings::PAYMENT_PROVIDERS;

/// What makes media inside the process, among the vendors.
pub(crate) const EMBEDDED: &str = "embedded";

/// A vendor is asked to begin.
pub(crate) const START: &str = "start";
/// A vendor is asked about what it has.
pub(crate) const POLL: &str = "question";

const OUTCOMES: [&str; 2] = ["succeeded", "failed"];
const MARKED: [&str; 3] = ["signed", "plain", "failed"];
const TRIES: [&str; 3] = ["delivered", "again", "given_up"];
/// What became of an event of a payment provider.
const PAYMENT_OUTCOMES: [&str; 5] = ["applied", "known", "mismatch", "unmatched", "refused"];
const COPIES: [&str; 3] = ["alike", "different", "missed"];

/// What vendors took, in millionths, by vendor and currency.
type Costs = BTreeMap<(&'static str, String), i64>;

/// Jobs by model and outcome.
type ModelJobs = BTreeMap<String, [u64; OUTCOMES.len()]>;

/// Models that are counted by their own names: a metric has so many rows at most.
const MODELS_COUNTED: usize = 1_024;
/// What all others are counted as, together with a model that is called so.
const OTHER_MODELS: &str = "other";

/// What this node counts.
pub struct Meters {
    jobs: HistogramVec,
    waits: HistogramVec,
    vendor_jobs: HistogramVec,
    vendor_calls: HistogramVec,
    vendor_faults: CounterVec,
    callback_lags: HistogramVec,
    callback_durations: HistogramVec,
    callback_tries: CounterVec,
    files: HistogramVec,
    credentials: CounterVec,
    payment_events: CounterVec,
    rehearsed: CounterVec,
    /// Locked only when a vendor has said what it took, and by whoever reads.
    costs: Mutex<Costs>,
    /// Locked only when a job of the operator's models ends, and by whoever reads.
    model_jobs: Mutex<ModelJobs>,
}

impl Meters {
    pub(crate) fn new(vendors: &'static [Vendor]) -> Self {
        let families: Vec<_> = FAMILIES.iter().map(|family| family.name).collect();
        let vendors = vendors.iter().map(|vendor| vendor.name);
        let vendors: Vec<_> = std::iter::once(EMBEDDED).chain(vendors).collect();
        let classes = Class::ALL.map(Class::word).to_vec();
        let plain = || [vec![], vec![]];
        Self {
            jobs: HistogramVec::new(&table::JOB_DURATION, [families.clone(), OUTCOMES.to_vec()]),
            waits: HistogramVec::new(&table::JOB_WAIT, [families, vec![]]),
            vendor_jobs: HistogramVec::new(&table::VENDOR_JOB_DURATION, [vendors.clone(), vec![]]),
            vendor_calls: HistogramVec::new(
                &table::VENDOR_CALL_DURATION,
                [vendors.clone(), vec![START, POLL]],
            ),
            vendor_faults: CounterVec::new(&table::VENDOR_FAULTS, [vendors, classes]),
            callback_lags: HistogramVec::new(&table::CALLBACK_LAG, plain()),
            callback_durations: HistogramVec::new(&table::CALLBACK_DURATION, plain()),
            callback_tries: CounterVec::new(&table::CALLBACK_TRIES, [TRIES.to_vec(), vec![]]),
            files: HistogramVec::new(&table::STORE_FILE_DURATION, plain()),
            credentials: CounterVec::new(&table::CREDENTIALS, [MARKED.to_vec(), vec![]]),
            payment_events: CounterVec::new(
                &table::PAYMENT_EVENTS,
                [PAYMENT_PROVIDERS.to_vec(), PAYMENT_OUTCOMES.to_vec()],
            ),
            rehearsed: CounterVec::new(&table::REHEARSED, [COPIES.to_vec(), vec![]]),
            costs: Mutex::default(),
            model_jobs: Mutex::default(),
        }
    }

    /// A job became final.
    pub(crate) fn ended(&self, row: &JobRow, mark: Option<TraceMark>) {
        let place = usize::from(row.state != JobState::Succeeded);
        let outcome = OUTCOMES[place];
        if let Some(model) = &row.model {
            self.model_ended(model, place);
        }
        let span_ms = row.finished_ms.unwrap_or(row.created_ms) - row.created_ms;
        let family = family_of(&row.operation);
        self.jobs.at(family, outcome).observe_ms(span_ms, mark);
    }

    /// A job of one of the operator's models ended.
    fn model_ended(&self, model: &str, outcome: usize) {
        let jobs = self.model_jobs.lock();
        let mut jobs = jobs.unwrap_or_else(PoisonError::into_inner);
        let is_counted = jobs.contains_key(model) || jobs.len() < MODELS_COUNTED;
        let name = if is_counted { model } else { OTHER_MODELS };
        jobs.entry(name.to_owned()).or_default()[outcome] += 1;
    }

    /// An attempt at a job is begun so long after its acceptance.
    pub(crate) fn began(&self, operation: &str, wait_ms: i64, mark: Option<TraceMark>) {
        let waits = self.waits.at(family_of(operation), "");
        waits.observe_ms(wait_ms, mark);
    }

    /// A vendor answered a call, or failed at it.
    pub(crate) fn called(
        &self,
        vendor: &str,
        call: &str,
        took: Duration,
        fault: Option<&Fault>,
        mark: Option<TraceMark>,
    ) {
        let took = took.as_micros() as u64;
        self.vendor_calls
            .at(vendor, call)
            .observe_marked(took, mark);
        if let Some(fault) = fault {
            self.failed(vendor, fault);
        }
    }

    /// A vendor says that work failed.
    pub(crate) fn failed(&self, vendor: &str, fault: &Fault) {
        self.vendor_faults.count(vendor, fault.class.word());
    }

    /// A vendor made something.
    pub(crate) fn made(&self, vendor: &str, took_ms: i64, mark: Option<TraceMark>) {
        self.vendor_jobs.at(vendor, "").observe_ms(took_ms, mark);
    }

    /// A vendor took something for it.
    pub(crate) fn took(&self, vendor: &'static str, cost: &Cost) {
        let mut costs = self.costs.lock().unwrap_or_else(PoisonError::into_inner);
        *costs.entry((vendor, cost.currency.clone())).or_default() += cost.micros.max(0);
    }

    /// A file was stored, or could not be.
    pub(crate) fn stored(&self, took: Duration) {
        self.files.at("", "").observe(took.as_micros() as u64);
    }

    /// Files of a result were signed, or could not be.
    pub(crate) fn marked(&self, tally: Tally) {
        let counts = [tally.signed, tally.plain, tally.failed];
        for (outcome, count) in MARKED.into_iter().zip(counts) {
            for _ in 0..count {
                self.credentials.count(outcome, "");
            }
        }
    }

    /// A payment provider has reported an event.
    pub(crate) fn payment_event(&self, provider: &str, outcome: &str) {
        self.payment_events.count(provider, outcome);
    }

    /// A copy of a request was compared.
    pub(crate) fn rehearsed(&self, alike: bool) {
        self.rehearsed.count(COPIES[usize::from(!alike)], "");
    }

    /// A copy of a request was not made.
    pub(crate) fn copy_missed(&self) {
        self.rehearsed.count(COPIES[2], "");
    }

    /// A callback was tried.
    pub(crate) fn posted(
        &self,
        delivery: &Delivery,
        state: &DeliveryState,
        took_ms: u64,
        now_ms: i64,
    ) {
        let outcome = match state {
            DeliveryState::Delivered => {
                let lag_ms = now_ms - delivery.created_ms;
                self.callback_lags.at("", "").observe_ms(lag_ms, None);
                TRIES[0]
            }
            DeliveryState::Due { .. } => TRIES[1],
            DeliveryState::Stopped | DeliveryState::Exhausted => TRIES[2],
        };
        self.callback_tries.count(outcome, "");
        let durations = self.callback_durations.at("", "");
        durations.observe(took_ms.saturating_mul(1000));
    }

    /// Every histogram.
    pub fn series(&self) -> [&HistogramVec; 7] {
        [
            &self.jobs,
            &self.waits,
            &self.vendor_jobs,
            &self.vendor_calls,
            &self.callback_lags,
            &self.callback_durations,
            &self.files,
        ]
    }

    pub fn counters(&self) -> [&CounterVec; 4] {
        [
            &self.vendor_faults,
            &self.callback_tries,
            &self.credentials,
            &self.payment_events,
            &self.rehearsed,
        ]
    }

    /// Jobs of the operator's models that ended, by model and outcome.
    pub fn model_jobs(&self) -> Vec<(String, &'static str, u64)> {
        let jobs = self.model_jobs.lock();
        let jobs = jobs.unwrap_or_else(PoisonError::into_inner);
        let rows = jobs.iter().flat_map(|(model, counts)| {
            let counts = OUTCOMES.into_iter().zip(counts);
            counts.map(move |(outcome, count)| (model.clone(), outcome, *count))
        });
        rows.collect()
    }

    /// What vendors took, by vendor and currency, in units of it.
    pub fn costs(&self) -> Vec<(&'static str, String, f64)> {
        let costs = self.costs.lock().unwrap_or_else(PoisonError::into_inner);
        let row = |((vendor, currency), micros): (&(&'static str, String), &i64)| {
            (*vendor, currency.clone(), *micros as f64 / 1e6)
        };
        costs.iter().map(row).collect()
    }
}

fn family_of(operation: &str) -> &'static str {
    atelier_contract::operation(operation).map_or("", |(family, _)| family.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_models_are_bounded() {
        let meters = Meters::new(&[]);
        for number in 0..MODELS_COUNTED + 10 {
            meters.model_ended(&format!("model-{number}"), 0);
        }
        meters.model_ended("model-0", 1);
        let rows = meters.model_jobs();
        assert_eq!(rows.len(), (MODELS_COUNTED + 1) * OUTCOMES.len());
        let found = |name: &str, outcome: &str| {
            let mut rows = rows.iter();
            let row = rows.find(|row| row.0 == name && row.1 == outcome);
            row.map(|row| row.2)
        };
        assert_eq!(found("model-0", "failed"), Some(1));
        assert_eq!(found(OTHER_MODELS, "succeeded"), Some(10));
        assert_eq!(found("model-1030", "succeeded"), None);
    }
}
