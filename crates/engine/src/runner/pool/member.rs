//! What becomes of work at one worker account, and what that says about the account.

use atelier_backends::Fault;
use atelier_contract::Quota;

use super::Pool;
use super::health::{Fitness, Health};
use crate::names::WorkerName;

/// A worker account of the pool; what is reported of one that is not there any more is dropped.
#[derive(Clone, Copy)]
pub(crate) struct PoolMember<'a> {
    pool: &'a Pool,
    name: &'a WorkerName,
}

impl Pool {
    /// The worker account with a name.
    pub(crate) fn member<'a>(&'a self, name: &'a WorkerName) -> PoolMember<'a> {
        PoolMember { pool: self, name }
    }
}

impl PoolMember<'_> {
    /// How healthy it is.
    pub(crate) fn health(self) -> Option<Health> {
        self.pool
            .with(self.name, |member| member.candidate.health.clone())
    }

    /// The vendor answered a question about work it has.
    pub(crate) fn poll_answered(self, now_ms: i64) {
        self.pool.with(self.name, |member| {
            member.candidate.health.poll_answered(now_ms);
        });
    }

    /// The vendor took work.
    pub(crate) fn accepted(self, now_ms: i64) {
        self.pool
            .with(self.name, |member| member.candidate.health.accepted(now_ms));
    }

    /// A result without files was delivered.
    pub(crate) fn told(self, operation: &str, took_ms: i64) {
        self.pool.with(self.name, |member| {
            let operation = member.candidate.operations.get(operation);
            if let Some(operation) = operation.filter(|_| !member.recorded) {
                member.candidate.quick.took(operation, took_ms);
            }
        });
    }

    /// A result was delivered, and what it cost.
    pub(crate) fn good(self, took_ms: i64, quota: Quota, now_ms: i64) {
        self.pool.with(self.name, |member| {
            member.candidate.health.good(took_ms, now_ms);
            member.candidate.spent = member.candidate.spent + quota;
            member.unwritten = member.unwritten + quota;
            member.changed = true;
        });
    }

    /// What the vendor says that it took; it is written down by whoever settled.
    pub(crate) fn took(self, micros: i64) {
        self.pool
            .with(self.name, |member| member.candidate.cost += micros);
    }

    /// A start or a work in hand failed.
    pub(crate) fn fault(self, fault: &Fault, now_ms: i64) {
        self.failed(fault, now_ms, Health::fault);
    }

    /// A question about work that the vendor has failed.
    pub(crate) fn poll_failed(self, fault: &Fault, now_ms: i64) {
        self.failed(fault, now_ms, Health::poll_failed);
    }

    fn failed(self, fault: &Fault, now_ms: i64, act: fn(&mut Health, &Fault, i64)) {
        self.pool.with(self.name, |member| {
            act(&mut member.candidate.health, fault, now_ms);
            member.changed = true;
            if member.candidate.health.fitness(now_ms) != Fitness::Fit {
                tracing::warn!(
                    worker = %self.name,
                    condition = member.candidate.health.condition.word(),
                    class = fault.class.word(),
                    detail = %fault.detail,
                    "a worker account is paused"
                );
            }
        });
    }

    /// Sets the health of a worker account, as an operator or a probe found it.
    pub(crate) fn set_health(self, act: impl FnOnce(&mut Health)) {
        self.pool.with(self.name, |member| {
            act(&mut member.candidate.health);
            member.changed = true;
        });
    }
}
