//! What each worker account really does, for operators, the status endpoint and metrics.

use atelier_contract::pages::stats::Outcome;
use serde_json::{Value, json};

use crate::floor::pool::Pool;
use crate::floor::pool::choice::Mode;
use crate::floor::pool::health::{Condition, Fitness};
use crate::floor::pool::member::Member;
use crate::names::WorkerName;

/// Errors shown of each worker account.
const ERRORS_SHOWN: usize = 5;

/// A worker account as others see it.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    pub(crate) name: WorkerName,
    pub(crate) backend: String,
    pub(crate) owner: Option<String>,
    pub(crate) busy: usize,
    pub(crate) slots: usize,
    /// `well`, `cooling`, `out_of_credit`, `banned`, `open`; `draining` or `paused` when it was told to.
    pub(crate) condition: &'static str,
    pub(crate) usable: bool,
    /// Seconds a job took of late, on average.
    pub(crate) average_s: Option<f64>,
    pub(crate) health: Value,
    /// What went wrong last, the latest first.
    pub(crate) last_errors: Vec<Outcome>,
}

impl Pool {
    /// Every worker account as it is now.
    pub(crate) fn pictures(&self, now_ms: i64) -> Vec<Picture> {
        self.stations()
            .iter()
            .map(|station| picture(station, now_ms))
            .collect()
    }
}

fn picture(station: &Member, now_ms: i64) -> Picture {
    let desk = &station.desk;
    let health = &desk.health;
    let fit = matches!(health.fitness(now_ms), Fitness::Fit | Fitness::Probe);
    let condition = match (desk.mode, health.condition) {
        (Mode::Draining, _) => "draining",
        (Mode::Paused, _) => "paused",
        (Mode::Active, Condition::Cooling) if fit => Condition::Well.word(),
        (Mode::Active, condition) => condition.word(),
    };
    let durations: Vec<i64> = health.durations().collect();
    let average_s = (!durations.is_empty()).then(|| {
        let mean = durations.iter().sum::<i64>() as f64 / durations.len() as f64;
        (mean / 100.0).round() / 10.0
    });
    Picture {
        name: desk.name.clone(),
        backend: desk.backend.clone(),
        owner: desk.owner.clone(),
        busy: desk.busy,
        slots: desk.concurrency,
        condition,
        usable: fit && desk.mode == Mode::Active,
        average_s,
        health: evidence(station, condition, now_ms),
        last_errors: last_errors(station),
    }
}

fn last_errors(station: &Member) -> Vec<Outcome> {
    let seen = station.desk.health.seen.iter().rev();
    let wrong = seen.filter(|seen| seen.what != "good").take(ERRORS_SHOWN);
    wrong
        .map(|seen| Outcome {
            at_ms: seen.at_ms,
            outcome: seen.what.clone(),
            detail: seen.detail.clone(),
            took_ms: seen.took_ms,
        })
        .collect()
}

fn evidence(station: &Member, condition: &str, now_ms: i64) -> Value {
    let health = &station.desk.health;
    let until = (health.until_ms > now_ms && health.until_ms < i64::MAX).then_some(health.until_ms);
    let outcomes: Vec<Value> = health
        .seen
        .iter()
        .rev()
        .map(|seen| json!({ "at_ms": seen.at_ms, "outcome": seen.what, "detail": seen.detail, "took_ms": seen.took_ms }))
        .collect();
    let errors: Vec<&Value> = outcomes
        .iter()
        .filter(|outcome| outcome["outcome"] != "good")
        .take(ERRORS_SHOWN)
        .collect();
    json!({
        "condition": condition,
        "until_ms": until,
        "last_errors": errors,
        "recent": outcomes,
    })
}
