//! What each worker account really does, for operators, the status endpoint and metrics.

use atelier_contract::BackendId;
use atelier_contract::pages::stats::Outcome;
use atelier_contract::pages::workers as shown;

use crate::names::WorkerName;
use crate::runner::pool::Pool;
use crate::runner::pool::choice::Mode;
use crate::runner::pool::health::{Condition, Fitness, HealthEvent};
use crate::runner::pool::worker::PoolWorker;

/// Errors shown of each worker account.
const ERRORS_SHOWN: usize = 5;

/// A worker account as others see it.
#[derive(Clone, Debug)]
pub(crate) struct WorkerReport {
    pub(crate) name: WorkerName,
    pub(crate) backend: BackendId,
    pub(crate) owner: Option<String>,
    /// Whether it runs inside this process.
    pub(crate) inside: bool,
    pub(crate) rank: i64,
    pub(crate) busy: usize,
    pub(crate) slots: usize,
    pub(crate) usable: bool,
    /// Seconds a job took of late, on average.
    pub(crate) average_s: Option<f64>,
    pub(crate) health: shown::Health,
}

impl Pool {
    /// Every worker account as it is now.
    /// The service's own time, in which rests are kept, is shown as that of day, which is so far ahead.
    pub(crate) fn reports(&self, now_ms: i64, ahead_ms: i64) -> Vec<WorkerReport> {
        self.members()
            .iter()
            .map(|member| report(member, now_ms, ahead_ms))
            .collect()
    }
}

fn report(member: &PoolWorker, now_ms: i64, ahead_ms: i64) -> WorkerReport {
    let candidate = &member.candidate;
    let health = &candidate.health;
    let fit = matches!(health.fitness(now_ms), Fitness::Fit | Fitness::Probe);
    let durations: Vec<i64> = health.durations().collect();
    let average_s = (!durations.is_empty()).then(|| {
        let mean = durations.iter().sum::<i64>() as f64 / durations.len() as f64;
        (mean / 100.0).round() / 10.0
    });
    WorkerReport {
        name: candidate.name.clone(),
        backend: candidate.backend.clone(),
        owner: candidate.owner.clone(),
        inside: member.worker_id.is_none(),
        rank: candidate.rank,
        busy: candidate.busy,
        slots: candidate.concurrency,
        usable: fit && candidate.mode == Mode::Active,
        average_s,
        health: evidence(member, fit, now_ms, ahead_ms),
    }
}

fn evidence(member: &PoolWorker, fit: bool, now_ms: i64, ahead_ms: i64) -> shown::Health {
    let health = &member.candidate.health;
    let inside = member.worker_id.is_none();
    let mode = match member.candidate.mode {
        // What is tried is as well as what works.
        Mode::Rehearsal => Mode::Active,
        mode => mode,
    };
    let condition = match (mode, health.condition) {
        (Mode::Draining, _) => shown::Condition::Draining,
        (Mode::Paused | Mode::Rehearsal, _) => shown::Condition::Paused,
        // A rest that is over says as little of whether it takes work as one that never was.
        (Mode::Active, Condition::Well | Condition::Cooling)
            if fit && !inside && !health.is_proven() =>
        {
            shown::Condition::Untested
        }
        (Mode::Active, Condition::Cooling) if fit => shown::Condition::Well,
        (Mode::Active, Condition::Well) => shown::Condition::Well,
        (Mode::Active, Condition::Cooling) => shown::Condition::Cooling,
        (Mode::Active, Condition::OutOfCredit) => shown::Condition::OutOfCredit,
        (Mode::Active, Condition::Banned) => shown::Condition::Banned,
        (Mode::Active, Condition::Open) => shown::Condition::Open,
    };
    let until = (health.until_ms > now_ms && health.until_ms < i64::MAX)
        .then(|| health.until_ms + ahead_ms);
    let outcome = |seen: &HealthEvent| Outcome {
        at_ms: seen.at_ms + ahead_ms,
        outcome: seen.what.clone(),
        detail: seen.detail.clone(),
        took_ms: seen.took_ms,
    };
    let recent: Vec<Outcome> = health.seen.iter().rev().map(outcome).collect();
    let faults = recent.iter().filter(|one| one.outcome != "good");
    shown::Health {
        condition,
        until_ms: until,
        last_errors: faults.take(ERRORS_SHOWN).cloned().collect(),
        recent,
        balance: health.left.as_ref().map(|left| left.shown(ahead_ms)),
    }
}
