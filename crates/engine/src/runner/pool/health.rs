//! How well a worker account is, judged by what came of its work. Pure: outcomes and times in, a standing out.

use std::collections::VecDeque;
use std::time::Duration;

use atelier_backends::{Cost, Fault};
use atelier_contract::pages::cost::{Amount, CostSum};
use atelier_contract::pages::workers::Balance;
use serde::{Deserialize, Serialize};

use crate::runner::react::{WorkerEffect, react};

/// Outcomes kept as evidence.
const EVIDENCE: usize = 20;
/// The first rest after "too many requests" when the vendor names none; it doubles up to [`REST_MOST_MS`].
const REST_LEAST_MS: i64 = 10_000;
const REST_MOST_MS: i64 = 600_000;
/// A vendor that asks to be left alone for longer is asked again after this all the same.
const ASKED_MOST_MS: i64 = 3_600_000;
/// Failures in a row that open the circuit.
const STRIKES: u32 = 5;
/// The first time a circuit stays open; it doubles up to [`REST_MOST_MS`].
const OPEN_LEAST_MS: i64 = 30_000;
/// How often a worker account without credit is tried again.
const CREDIT_PROBE_MS: i64 = 3_600_000;
/// Characters of a detail that are kept.
const DETAIL_CHARACTERS: usize = 200;

/// The condition a worker account is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Condition {
    /// Nothing speaks against it.
    #[default]
    Well,
    /// It was over its rate and rests.
    Cooling,
    /// It has no money or credits left.
    OutOfCredit,
    /// It is banned, disabled, or its credential is wrong.
    Banned,
    /// It failed too often in a row; one probe at a time is let through.
    Open,
}

impl Condition {
    /// The word in the operator's view.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Well => "well",
            Self::Cooling => "cooling",
            Self::OutOfCredit => "out_of_credit",
            Self::Banned => "banned",
            Self::Open => "open",
        }
    }
}

/// One outcome, as evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HealthEvent {
    pub(crate) at_ms: i64,
    /// `good`, or the class of the fault.
    pub(crate) what: String,
    /// More about a fault.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) detail: String,
    /// How long a good one took from start to result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) took_ms: Option<i64>,
}

/// What is known of a worker account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Health {
    pub(crate) condition: Condition,
    /// When the condition may be looked at again.
    pub(crate) until_ms: i64,
    /// When anything here last changed.
    pub(crate) changed_ms: i64,
    pub(crate) seen: VecDeque<HealthEvent>,
    /// Starts, or works in hand, that failed in a row.
    strikes: u32,
    /// Questions that failed in a row: a vendor may answer them and still take no work, or the other way round.
    #[serde(default)]
    unanswered: u32,
    /// The circuit was opened by questions, so an answer to one closes it.
    #[serde(default)]
    by_questions: bool,
    opened: u32,
    rested: u32,
    /// A probe or a job has shown that the vendor takes work.
    #[serde(default)]
    proven: bool,
    /// What is left of its money at the vendor, as it was last told.
    #[serde(default)]
    pub(crate) left: Option<RemainingBalance>,
    /// A probe is on its way; only this process knows.
    #[serde(skip)]
    pub(crate) probing: bool,
}

/// What is left of a worker account's money at its vendor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RemainingBalance {
    micros: i64,
    currency: String,
    at_ms: i64,
}

impl RemainingBalance {
    /// As the vendor told it at a time.
    pub(crate) fn new(left: &Cost, at_ms: i64) -> Self {
        Self {
            micros: left.micros,
            currency: left.currency.to_owned(),
            at_ms,
        }
    }

    /// As operators see it, whose time is so far ahead of the service's own.
    pub(crate) fn shown(&self, ahead_ms: i64) -> Balance {
        Balance {
            left: CostSum {
                currency: self.currency.clone(),
                amount: Amount::from_micros(self.micros),
            },
            at_ms: self.at_ms + ahead_ms,
        }
    }
}

/// Whether a worker account may be given work, as far as its health goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fitness {
    Fit,
    /// Yes, one job to see whether it is well again.
    Probe,
    /// A probe is on its way.
    Probed,
    /// Not before this time.
    Unfit(i64),
    /// Not until somebody changes it.
    Out,
}

impl Health {
    /// Whether work may be given at a time.
    pub(crate) fn fitness(&self, now_ms: i64) -> Fitness {
        let passed = now_ms >= self.until_ms;
        match self.condition {
            Condition::Well => Fitness::Fit,
            Condition::Banned => Fitness::Out,
            _ if !passed => Fitness::Unfit(self.until_ms),
            Condition::Cooling => Fitness::Fit,
            Condition::OutOfCredit | Condition::Open if self.probing => Fitness::Probed,
            Condition::OutOfCredit | Condition::Open => Fitness::Probe,
        }
    }

    /// The vendor took work.
    pub(crate) fn accepted(&mut self, now_ms: i64) {
        self.proven = true;
        self.answered(now_ms);
    }

    /// The vendor took work or refused it sensibly: whatever else is true, it is there. A refusal does not show that it
    /// takes any.
    pub(crate) fn answered(&mut self, now_ms: i64) {
        self.strikes = 0;
        self.unanswered = 0;
        let passed = now_ms >= self.until_ms;
        let again = match self.condition {
            Condition::Open => true,
            Condition::OutOfCredit | Condition::Cooling => passed,
            Condition::Well | Condition::Banned => false,
        };
        self.probing = false;
        if again {
            self.mark_healthy(now_ms);
        }
    }

    /// The vendor answered a question about work it has. That says nothing about whether it takes more.
    pub(crate) fn poll_answered(&mut self, now_ms: i64) {
        self.unanswered = 0;
        if self.condition == Condition::Open && self.by_questions {
            self.mark_healthy(now_ms);
        }
    }

    /// A result was delivered.
    pub(crate) fn good(&mut self, took_ms: i64, now_ms: i64) {
        self.poll_answered(now_ms);
        self.rested = 0;
        self.opened = 0;
        self.proven = true;
        self.push(now_ms, "good", "", Some(took_ms));
    }

    /// A start or a work in hand failed; only some classes say anything about the worker account.
    pub(crate) fn fault(&mut self, fault: &Fault, now_ms: i64) {
        let was_probe = std::mem::take(&mut self.probing);
        self.failed(fault, now_ms, false);
        let struck = react(fault.class).worker == WorkerEffect::Strike;
        if was_probe && struck && self.condition == Condition::Open {
            self.open(now_ms, false);
        }
    }

    /// A question about work that the vendor has failed.
    pub(crate) fn poll_failed(&mut self, fault: &Fault, now_ms: i64) {
        self.failed(fault, now_ms, true);
    }

    fn failed(&mut self, fault: &Fault, now_ms: i64, question: bool) {
        self.push(now_ms, fault.class.word(), &fault.detail, None);
        match react(fault.class).worker {
            WorkerEffect::Rest => {
                let usual = doubled(REST_LEAST_MS, self.rested);
                let rest = fault.after.map_or(usual, asked_ms);
                self.rested = self.rested.saturating_add(1);
                self.enter(Condition::Cooling, now_ms + rest, now_ms);
            }
            WorkerEffect::OutOfCredit => {
                self.enter(Condition::OutOfCredit, now_ms + CREDIT_PROBE_MS, now_ms);
            }
            WorkerEffect::Ban => self.enter(Condition::Banned, i64::MAX, now_ms),
            WorkerEffect::Strike => {
                let row = if question {
                    &mut self.unanswered
                } else {
                    &mut self.strikes
                };
                *row = row.saturating_add(1);
                if *row >= STRIKES {
                    self.open(now_ms, question);
                }
            }
            // A question is no request: an answer like this ends the job, and says nothing about taking more.
            WorkerEffect::Answered if question => {}
            WorkerEffect::Answered => self.answered(now_ms),
            WorkerEffect::Nothing => {}
        }
    }

    fn open(&mut self, now_ms: i64, by_questions: bool) {
        let open = doubled(OPEN_LEAST_MS, self.opened);
        self.opened = self.opened.saturating_add(1);
        self.strikes = 0;
        self.unanswered = 0;
        self.by_questions = by_questions;
        self.enter(Condition::Open, now_ms + open, now_ms);
    }

    /// A probe was answered well.
    pub(crate) fn probed(&mut self, left: Option<RemainingBalance>, now_ms: i64) {
        self.probing = false;
        self.proven = true;
        self.left = left;
        self.mark_healthy(now_ms);
    }

    /// Whether a probe or a job has shown that the vendor takes work.
    pub(crate) fn is_proven(&self) -> bool {
        // Health that was written down by programs that did not keep it has its results.
        self.proven || self.durations().next().is_some()
    }

    /// Another credential, or another server: what was shown so far was shown of the one before.
    pub(crate) fn doubt(&mut self, now_ms: i64) {
        self.proven = false;
        self.seen.retain(|one| one.took_ms.is_none());
        self.changed_ms = now_ms;
    }

    /// Everything held against it is forgotten; the evidence stays.
    pub(crate) fn mark_healthy(&mut self, now_ms: i64) {
        self.condition = Condition::Well;
        self.until_ms = 0;
        self.strikes = 0;
        self.unanswered = 0;
        self.changed_ms = now_ms;
    }

    /// How long the latest good ones took.
    pub(crate) fn durations(&self) -> impl Iterator<Item = i64> + '_ {
        self.seen.iter().filter_map(|seen| seen.took_ms)
    }

    /// Milder news never shorten a worse condition that still holds.
    fn enter(&mut self, condition: Condition, until_ms: i64, now_ms: i64) {
        let holds = self.condition == Condition::Banned
            || (self.condition == Condition::OutOfCredit
                && condition != Condition::Banned
                && now_ms < self.until_ms);
        if !holds {
            self.condition = condition;
            self.until_ms = until_ms;
        }
    }

    fn push(&mut self, at_ms: i64, what: &str, detail: &str, took_ms: Option<i64>) {
        if self.seen.len() == EVIDENCE {
            self.seen.pop_front();
        }
        self.changed_ms = at_ms;
        self.seen.push_back(HealthEvent {
            at_ms,
            what: what.to_owned(),
            detail: detail.chars().take(DETAIL_CHARACTERS).collect(),
            took_ms,
        });
    }
}

fn doubled(least_ms: i64, times: u32) -> i64 {
    let factor = 1_i64 << times.min(10);
    least_ms.saturating_mul(factor).min(REST_MOST_MS)
}

/// What the vendor asked for, at least a second.
fn asked_ms(after: Duration) -> i64 {
    i64::try_from(after.as_millis()).map_or(ASKED_MOST_MS, |ms| ms.clamp(1_000, ASKED_MOST_MS))
}

#[cfg(test)]
mod tests {
    use atelier_backends::Class;

    use super::*;

    fn fault(class: Class) -> Fault {
        Fault::vendor(class, "said so")
    }

    #[test]
    fn a_throttled_worker_rests_for_as_long_as_it_was_asked_or_ever_longer() {
        let mut health = Health::default();
        for rest in [10_000, 20_000, 40_000] {
            health.fault(&fault(Class::Rate), 0);
            assert_eq!(health.fitness(rest - 1), Fitness::Unfit(rest));
            assert_eq!(health.fitness(rest), Fitness::Fit);
        }
        let asked = Fault {
            after: Some(Duration::from_secs(7)),
            ..fault(Class::Rate)
        };
        health.fault(&asked, 0);
        assert_eq!(health.until_ms, 7_000);
        for _ in 0..20 {
            health.fault(&fault(Class::Rate), 0);
        }
        assert_eq!(health.until_ms, REST_MOST_MS);
        health.good(5, REST_MOST_MS);
        health.fault(&fault(Class::Rate), 0);
        assert_eq!(health.until_ms, REST_LEAST_MS, "a good one forgives");
    }

    #[test]
    fn five_failures_in_a_row_open_the_circuit_and_one_probe_decides() {
        let mut health = Health::default();
        for _ in 0..4 {
            health.fault(&fault(Class::Retry), 0);
        }
        health.answered(0);
        for strike in 1..=5 {
            assert_eq!(health.fitness(0), Fitness::Fit, "{strike}");
            health.fault(&fault(Class::Retry), 0);
        }
        assert_eq!(health.fitness(29_999), Fitness::Unfit(30_000));
        assert_eq!(health.fitness(30_000), Fitness::Probe);
        health.probing = true;
        assert_eq!(health.fitness(30_000), Fitness::Probed);
        health.fault(&fault(Class::Retry), 30_000);
        assert_eq!(health.fitness(30_000), Fitness::Unfit(90_000), "doubled");
        health.probing = true;
        health.answered(90_000);
        assert_eq!(
            (health.condition, health.fitness(90_000)),
            (Condition::Well, Fitness::Fit)
        );
    }

    #[test]
    fn only_work_that_was_taken_and_a_probe_show_that_it_is_well() {
        let mut health = Health::default();
        for class in Class::ALL {
            health.fault(&fault(class), 0);
            assert!(!health.is_proven(), "{class:?}");
        }
        health.accepted(1);
        assert!(health.is_proven());
        health.good(5, 2);
        health.doubt(3);
        assert!(!health.is_proven(), "another credential has shown nothing");
        health.probed(None, 4);
        assert!(health.is_proven());
    }

    #[test]
    fn answers_to_questions_do_not_hide_that_no_work_is_taken() {
        let mut health = Health::default();
        for _ in 0..5 {
            health.fault(&fault(Class::Retry), 0);
            health.poll_answered(0);
            health.good(5, 0);
        }
        assert_eq!(health.condition, Condition::Open);
        health.poll_answered(1);
        health.good(5, 1);
        assert_eq!(health.condition, Condition::Open, "only work that is taken");
        health.answered(30_000);
        assert_eq!(health.condition, Condition::Well);
        for _ in 0..5 {
            health.poll_failed(&fault(Class::Retry), 40_000);
        }
        assert_eq!(health.condition, Condition::Open, "it does not even answer");
        health.poll_answered(40_001);
        assert_eq!(health.condition, Condition::Well);
    }

    #[test]
    fn a_banned_worker_stays_out_whatever_its_last_jobs_say() {
        let mut health = Health::default();
        health.fault(&fault(Class::Dead), 0);
        health.good(5, 1);
        health.fault(&fault(Class::Rate), 2);
        assert_eq!(health.fitness(i64::MAX - 1), Fitness::Out);
        health.mark_healthy(3);
        assert_eq!(health.fitness(3), Fitness::Fit);
    }

    #[test]
    fn a_worker_without_credit_is_tried_once_an_hour() {
        let mut health = Health::default();
        health.fault(&fault(Class::Quota), 0);
        health.good(5, 1);
        health.fault(&fault(Class::Rate), 2);
        assert_eq!(health.fitness(3_599_999), Fitness::Unfit(3_600_000));
        assert_eq!(health.fitness(3_600_000), Fitness::Probe);
        health.answered(3_600_000);
        assert_eq!(health.condition, Condition::Well);
    }

    #[test]
    fn what_the_request_or_this_house_did_wrong_is_not_held_against_a_worker() {
        let mut health = Health::default();
        for _ in 0..50 {
            for class in [
                Class::Reject,
                Class::BadRequest,
                Class::Gone,
                Class::Unable,
                Class::Service,
                Class::Bug,
            ] {
                health.fault(&fault(class), 0);
            }
        }
        assert_eq!(health.fitness(0), Fitness::Fit);
        assert_eq!(health.seen.len(), EVIDENCE);
    }

    #[test]
    fn health_survives_being_written_down() {
        let mut health = Health::default();
        health.good(5, 1);
        health.fault(&fault(Class::Rate), 2);
        let text = serde_json::to_string(&health).expect("JSON");
        let back: Health = serde_json::from_str(&text).expect("the same");
        assert_eq!(back, health);
    }
}
