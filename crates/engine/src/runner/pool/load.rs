//! From stored rows to worker accounts that can be given work, again and again while the service runs.

use std::collections::HashMap;
use std::sync::Arc;

use atelier_backends::{Backend, FieldError, Vendor};
use atelier_contract::Quota;
use atelier_contract::pages::cost::Amount;
use atelier_contract::pages::workers::WorkerState;
use atelier_store::{BackendRow, WorkerRow};

use crate::context::Context;
use crate::meters::EMBEDDED;
use crate::names::WorkerName;
use crate::runner::copies::CopyQueue;
use crate::runner::pool::build;
use crate::runner::pool::choice::{Candidate, Mode};
use crate::runner::pool::health::{Condition, Health};
use crate::runner::pool::instant::InstantOperations;
use crate::runner::pool::pace::{HOUR_MS, Pace};
use crate::runner::pool::worker::{PoolWorker, operations};
use crate::runner::pool::{Pool, UnusableWorker};

pub(crate) use crate::runner::pool::worker::covers;

/// Brings what is stored into the pool.
pub(crate) struct Loader {
    context: Arc<Context>,
    vendors: &'static [Vendor],
    pool: Arc<Pool>,
    copies: Arc<CopyQueue>,
    /// One look at a time, so that an older one never replaces a newer one.
    alone: tokio::sync::Mutex<()>,
}

impl Loader {
    pub(crate) fn new(
        context: Arc<Context>,
        vendors: &'static [Vendor],
        pool: Arc<Pool>,
        copies: Arc<CopyQueue>,
    ) -> Self {
        Self {
            context,
            vendors,
            pool,
            copies,
            alone: tokio::sync::Mutex::default(),
        }
    }

    /// The vendors there are.
    pub(crate) fn vendors(&self) -> &'static [Vendor] {
        self.vendors
    }

    /// Takes over the back ends and worker accounts as they are stored now.
    pub(crate) async fn load(&self) -> Result<(), atelier_store::Error> {
        let _alone = self.alone.lock().await;
        let (backends, workers) = (
            self.context.store().workers().backends().await?,
            self.context.store().workers().list().await?,
        );
        self.copies.follow(backends.iter());
        let stored = !workers.is_empty();
        let now_ms = self.context.steady_ms();
        let mut starts: HashMap<WorkerName, Vec<i64>> = HashMap::new();
        let mut live: HashMap<WorkerName, i64> = HashMap::new();
        if stored {
            let attempts = self.context.store().attempts();
            for (worker, began_ms) in attempts.recent_starts(now_ms - HOUR_MS).await? {
                starts
                    .entry(WorkerName::read(&worker))
                    .or_default()
                    .push(began_ms);
            }
            if self.context.store().is_postgres() {
                let counts = attempts.live_by_worker().await?.into_iter();
                live = counts
                    .map(|(worker, count)| (WorkerName::read(&worker), count))
                    .collect();
            }
        }
        let backends: HashMap<&str, &BackendRow> =
            backends.iter().map(|row| (row.id.as_str(), row)).collect();
        let known: HashMap<WorkerName, PoolWorker> = {
            let members = self.pool.members();
            let stored = members.iter().filter(|one| one.worker_id.is_some());
            stored
                .map(|one| (one.candidate.name.clone(), one.clone()))
                .collect()
        };
        let (mut fresh, mut strangers) = (Vec::new(), Vec::new());
        for row in &workers {
            let Some(backend) = backends.get(row.backend_id.as_str()) else {
                continue;
            };
            let known = known.get(&WorkerName::from(row));
            match self.member(backend, row, known) {
                Ok(member) => fresh.push(member),
                Err(why) => {
                    tracing::warn!(worker = %row.id, %why, "a worker account cannot be used");
                    strangers.push(stranger(row));
                }
            }
        }
        self.pool.replace_strangers(strangers);
        let single = !self.context.store().is_postgres();
        self.pool.replace_stored(fresh, |candidate, here, first| {
            // On a store of one process, this process knows its own starts best once it runs.
            if first || !single {
                let began = starts.remove(&candidate.name).unwrap_or_default();
                candidate.pace.remember(began.into_iter());
            }
            let elsewhere = live.get(&candidate.name).map_or(0, |live| *live as usize);
            candidate.busy = elsewhere.max(here);
        });
        Ok(())
    }

    fn member(
        &self,
        backend: &BackendRow,
        row: &WorkerRow,
        known: Option<&PoolWorker>,
    ) -> Result<PoolWorker, FieldError> {
        let revision = (backend.revision, row.revision);
        let built = match known {
            Some(known) if known.revision == revision => Arc::clone(&known.backend),
            _ => self.build(backend, row)?,
        };
        let (wanted, spec) = (&backend.spec.operations, &row.spec);
        let allowed =
            |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| covers(wanted, name));
        let mode = match spec.state {
            _ if !backend.in_use() => Mode::Paused,
            WorkerState::Paused => Mode::Paused,
            WorkerState::Active if !row.retired && backend.spec.shadow.is_some() => Mode::Rehearsal,
            WorkerState::Active if !row.retired => Mode::Active,
            WorkerState::Active | WorkerState::Draining => Mode::Draining,
        };
        let limit = |number: i64| usize::try_from(number).unwrap_or_default();
        let candidate = Candidate {
            name: WorkerName::from(row),
            backend: backend.id.as_str().into(),
            title: backend.spec.name.to_string(),
            owner: row.owner.clone(),
            rank: backend.spec.rank.get(),
            last_resort: false,
            operations: operations(built.as_ref(), allowed),
            models: spec.models.clone(),
            speeds: spec.modes.clone(),
            hours: spec.hours.clone(),
            ahead_ms: self.context.clock().ahead_ms(),
            spend_cap: spec.spend_cap,
            spent: row.spent,
            cost_cap: spec.cost_cap.map(Amount::micros),
            // A vendor counts in one thing; should it have changed that, whichever is more counts.
            cost: row.costs.iter().map(|(_, cost)| *cost).max().unwrap_or(0),
            weight: spec.weight.get(),
            concurrency: limit(spec.concurrency.get()),
            spare: 0,
            beside: 0,
            busy: 0,
            long: 0,
            ahead: 0,
            mode,
            pace: Pace::new(limit(spec.per_minute.get()), limit(spec.per_hour.get())),
            health: serde_json::from_str(&row.health).unwrap_or_default(),
            quick: InstantOperations::default(),
        };
        Ok(PoolWorker {
            candidate,
            backend: built,
            vendor: self.vendor_name(&backend.spec.vendor),
            recorded: true,
            worker_id: Some(row.id.clone()),
            revision,
            polls_per_minute: spec.polls_per_minute.get(),
            here: 0,
            returning: 0,
            unwritten: Quota::ZERO,
            changed: false,
        })
    }

    fn vendor_name(&self, name: &str) -> &'static str {
        let vendor = self.vendors.iter().find(|vendor| vendor.name == name);
        vendor.map_or(EMBEDDED, |vendor| vendor.name)
    }

    /// Builds what talks to the vendor.
    pub(crate) fn build(
        &self,
        backend: &BackendRow,
        row: &WorkerRow,
    ) -> Result<Arc<dyn Backend>, FieldError> {
        build::build(&self.context, self.vendors, backend, row)
    }

    /// Whether a back end can be set up as it is described.
    pub(crate) fn check(&self, backend: &BackendRow) -> Result<(), FieldError> {
        build::check(&self.context, self.vendors, backend)
    }
}

impl Pool {
    /// Replaces the stored worker accounts; what is in hand, how fast they are and how well they are stays with those
    /// that were known. `refresh` gets each candidate, the jobs it has here, and whether it is new to this process.
    fn replace_stored(
        &self,
        fresh: Vec<PoolWorker>,
        mut refresh: impl FnMut(&mut Candidate, usize, bool),
    ) {
        let mut members = self.members();
        let (known, mut all): (Vec<PoolWorker>, Vec<PoolWorker>) = std::mem::take(&mut *members)
            .into_iter()
            .partition(|member| member.worker_id.is_some());
        let mut known: HashMap<WorkerName, PoolWorker> = known
            .into_iter()
            .map(|member| (member.candidate.name.clone(), member))
            .collect();
        for mut member in fresh {
            let old = known.remove(&member.candidate.name);
            let first = old.is_none();
            if let Some(old) = old {
                keep(&mut member, old);
            }
            refresh(&mut member.candidate, member.here, first);
            all.push(member);
        }
        *members = all;
    }
}

/// A worker account that only other nodes may be able to use.
fn stranger(row: &WorkerRow) -> UnusableWorker {
    let health: Health = serde_json::from_str(&row.health).unwrap_or_default();
    UnusableWorker {
        owner: row.owner.clone(),
        backend: row.backend_id.as_str().into(),
        banned: health.condition == Condition::Banned,
    }
}

/// What this process knows better than the store, or has not written down yet.
fn keep(member: &mut PoolWorker, old: PoolWorker) {
    member.here = old.here;
    member.candidate.long = old.candidate.long;
    member.returning = old.returning;
    member.unwritten = old.unwritten;
    member.changed = old.changed;
    member.candidate.spent = member.candidate.spent + old.unwritten;
    if member.revision == old.revision {
        // What was just settled may be newer than what was read.
        member.candidate.cost = member.candidate.cost.max(old.candidate.cost);
    }
    let (per_minute, per_hour) = (
        member.candidate.pace.per_minute,
        member.candidate.pace.per_hour,
    );
    member.candidate.pace = old.candidate.pace;
    member.candidate.pace.limit(per_minute, per_hour);
    let probing = old.candidate.health.probing;
    // Another node, or the operator, may have learned something newer.
    if old.changed || old.candidate.health.changed_ms >= member.candidate.health.changed_ms {
        member.candidate.health = old.candidate.health;
    }
    member.candidate.health.probing = probing;
}
