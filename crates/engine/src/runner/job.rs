//! A job that this node works on, from its lease until it is final, given back or lost.

use std::sync::Arc;

use atelier_backends::Backend;
use atelier_backends::backend::Work;
use atelier_backends::http::Fence;
use atelier_contract::brief::Brief;
use atelier_contract::metrics::TraceMark;
use atelier_contract::models::ModelRevision;
use atelier_contract::{AccountId, AttemptId, JobId, Quota, Speed};
use atelier_store::{JobRow, NewJob};
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::names::WorkerName;
use crate::order::LoadedReferences;
use crate::runner::length::is_long;
use crate::runner::pool::choice::{Headroom, PastFailures, Requirements};
use crate::runner::pool::routes::ModelRouting;
use crate::runner::pool::slot::Slot;
use crate::runner::register::{Register, Signals};
use crate::runner::routing::RoutingConstraint;
use crate::tracer::TraceContext;

/// What the runner goes by of a leased job.
pub(crate) struct LeasedJob {
    pub(crate) id: JobId,
    pub(crate) account_id: AccountId,
    pub(crate) operation: String,
    pub(crate) speed: Speed,
    pub(crate) price: Quota,
    /// The request as JSON; taken out once the work is put together.
    pub(crate) request: String,
    /// The jobs it refers to, when they were loaded for its acceptance.
    pub(crate) referred: Option<LoadedReferences>,
    /// The model it names.
    pub(crate) model: Option<String>,
    /// The name and the revision of the catalogue's model that it was accepted with.
    pub(crate) accepted_model: Option<(String, u32)>,
    /// That revision, once it was looked up.
    pub(crate) catalogue_model: Option<Arc<ModelRevision>>,
    lane: String,
    /// The worker account that made the job it follows.
    pub(crate) follows: Option<WorkerName>,
    pub(crate) created_ms: i64,
    /// When it was accepted, by the service's own time, if that was just now.
    pub(crate) queued_ms: i64,
    pub(crate) deadline_ms: i64,
    pub(crate) fence: i64,
    /// Until when it was leased.
    lease_until_ms: i64,
    /// Its own place in its trace.
    pub(crate) trace: Option<TraceContext>,
    /// How often it has been begun, this time included.
    pub(crate) begun: i64,
    /// Whether the intent to ask its vendor was written down with its acceptance.
    pub(crate) intended: bool,
    /// Whether it is written down that somebody works on it.
    working: bool,
    /// Whether it is long beside other work of its account.
    pub(crate) long: bool,
    progress: u8,
}

/// The model that a request names, by both its names.
#[derive(Clone, Default)]
pub(crate) struct NamedModel {
    /// The built-in one, or the one that stands in for an operator's.
    pub(crate) model: Option<String>,
    /// The operator's own, of the catalogue.
    pub(crate) catalogue_model: Option<Arc<ModelRevision>>,
}

/// Where the operator's catalogue has a job run that may run in a lane.
pub(crate) fn routing_of<'a>(
    job_id: &'a str,
    lane: RoutingConstraint<'_>,
    row: Option<&'a ModelRevision>,
) -> ModelRouting<'a> {
    match (row, lane) {
        (None, _) | (_, RoutingConstraint::Own(_)) => ModelRouting::default(),
        (Some(row), _) => ModelRouting {
            job_id,
            name: Some(&row.definition.name),
            routes: &row.definition.routes,
        },
    }
}

/// How a job was accepted.
#[derive(Clone, Copy)]
pub(crate) struct InitialLease {
    /// The fence of the lease it was born with.
    pub(crate) fence: i64,
    /// Until when that lease lasts.
    pub(crate) lease_until_ms: i64,
    /// Whether the intent to ask its vendor was written down as well.
    pub(crate) intended: bool,
    /// Whether it was written down that somebody works on it.
    pub(crate) working: bool,
}

impl LeasedJob {
    /// A job that was just accepted, with the lease it was born with.
    pub(crate) fn initial_lease(
        job: NewJob,
        named: NamedModel,
        trace: Option<TraceContext>,
        referred: LoadedReferences,
        initial_lease: InitialLease,
    ) -> Self {
        let NamedModel {
            model,
            catalogue_model,
        } = named;
        Self {
            accepted_model: job.model.zip(job.model_revision),
            catalogue_model,
            long: is_long(&job.operation, job.batched),
            trace: trace.map(|trace| trace.of_job(&job.id)),
            id: job.id.into(),
            account_id: job.account_id.into(),
            operation: job.operation,
            speed: job.speed,
            price: job.price,
            request: job.request,
            referred: Some(referred),
            model,
            lane: job.lane,
            follows: job.follows.as_deref().map(WorkerName::read),
            created_ms: job.created_ms,
            queued_ms: job.created_ms - job.ahead_ms,
            deadline_ms: job.deadline_ms,
            fence: initial_lease.fence,
            lease_until_ms: initial_lease.lease_until_ms,
            begun: initial_lease.fence,
            intended: initial_lease.intended,
            working: initial_lease.working,
            progress: 0,
        }
    }

    /// The attempt of this lease.
    pub(crate) fn attempt(&self) -> AttemptId {
        AttemptId::of(&self.id, self.fence)
    }

    /// What marks an observation of now that is about it, when its trace is recorded.
    pub(crate) fn mark(&self, now_ms: i64) -> Option<TraceMark> {
        self.trace.and_then(|trace| trace.mark(now_ms))
    }

    /// Where the operator's catalogue has it run. Callers' own worker accounts are none of the catalogue's.
    pub(crate) fn routing(&self) -> ModelRouting<'_> {
        let lane = RoutingConstraint::read(&self.lane);
        routing_of(&self.id, lane, self.catalogue_model.as_deref())
    }

    /// What it asks of a worker account.
    pub(crate) fn requirements<'a>(&'a self, past_failures: &'a PastFailures) -> Requirements<'a> {
        Requirements {
            operation: &self.operation,
            speed: self.speed,
            model: self.model.as_deref(),
            routing: self.routing(),
            lane: RoutingConstraint::read(&self.lane),
            follows: self.follows.as_ref(),
            price: self.price,
            past_failures,
            first: false,
            long: self.long,
            headroom: Headroom::Nothing,
        }
    }
}

impl From<JobRow> for LeasedJob {
    fn from(row: JobRow) -> Self {
        let trace = TraceContext::kept_in(&row.request);
        Self {
            trace: trace.map(|trace| trace.of_job(&row.id)),
            long: is_long(&row.operation, row.batched),
            working: row.started_ms.is_some(),
            begun: row.begun(),
            model: model_of(&row.request),
            accepted_model: row.model.zip(row.model_revision),
            catalogue_model: None,
            follows: row.follows.as_deref().map(WorkerName::read),
            id: row.id.into(),
            account_id: row.account_id.into(),
            operation: row.operation,
            speed: row.speed,
            price: row.price,
            request: row.request,
            referred: None,
            lane: row.lane,
            created_ms: row.created_ms,
            queued_ms: i64::MIN / 2,
            deadline_ms: row.deadline_ms,
            fence: row.fence,
            lease_until_ms: row.lease_until_ms.unwrap_or(0),
            intended: false,
            progress: row.progress as u8,
        }
    }
}

/// The model a request names.
fn model_of(request: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct ModelField {
        #[serde(alias = "modelName")]
        model: Option<String>,
    }
    serde_json::from_str::<ModelField>(request).ok()?.model
}

/// A job in hand. It is in the register and takes a place at its worker account until it is dropped, however the work
/// ended.
pub(crate) struct RunningJob {
    pub(crate) leased: LeasedJob,
    pub(crate) slot: Slot,
    pub(crate) began_ms: i64,
    /// What its vendor works on, without the bytes of the inputs; `None` until it has been asked.
    pub(crate) work: Option<Box<Work>>,
    /// The vendor's ticket; without one the vendor is asked whether it has the work.
    pub(crate) ticket: Option<Value>,
    /// Questions that failed in a row.
    pub(crate) errors: u32,
    /// When its vendor was last asked to begin, as far as that is known.
    pub(crate) asked_ms: i64,
    /// Times the vendor denied having the work.
    pub(crate) missing: u32,
    /// The worker's turn for the next question has been taken already.
    pub(crate) granted: bool,
    signals: Arc<Signals>,
    register: Arc<Register>,
}

impl RunningJob {
    /// Takes a leased job in hand.
    pub(crate) fn new(
        leased: LeasedJob,
        slot: Slot,
        register: &Arc<Register>,
        began_ms: i64,
    ) -> Self {
        let signals = register.enter(
            &leased.id,
            leased.fence,
            leased.lease_until_ms,
            leased.progress,
        );
        if leased.working {
            signals.set_marked();
        }
        Self {
            signals,
            register: register.clone(),
            leased,
            slot,
            began_ms,
            work: None,
            ticket: None,
            errors: 0,
            asked_ms: began_ms,
            missing: 0,
            granted: false,
        }
    }

    /// Its vendor was asked to begin then.
    pub(crate) fn asked_at(mut self, asked_ms: i64) -> Self {
        self.asked_ms = asked_ms;
        self
    }

    /// The vendor has it, or may have it; one copy of the request is enough for as long as that takes.
    pub(crate) fn at_vendor(mut self, work: Box<Work>, ticket: Option<Value>) -> Self {
        self.leased.request = String::new();
        self.leased.referred = None;
        self.work = Some(work);
        self.ticket = ticket;
        self
    }

    /// What stands beside every line of the log that is written while it is worked on.
    pub(crate) fn log_span(&self) -> tracing::Span {
        let job = self.id().as_str();
        if let Some(trace) = self.leased.trace {
            return tracing::info_span!("job", job, trace = trace.trace_id());
        }
        tracing::info_span!("job", job)
    }

    pub(crate) fn id(&self) -> &JobId {
        &self.leased.id
    }

    /// The worker account that works on it.
    pub(crate) fn worker(&self) -> &WorkerName {
        self.slot.worker()
    }

    /// What talks to its vendor.
    pub(crate) fn backend(&self) -> Arc<dyn Backend> {
        self.slot.backend()
    }

    /// Puts into its brief what the operator's route to its back end says of the model.
    pub(crate) fn follow_route(&self, brief: &mut Brief) {
        self.slot.follow_route(&self.leased.routing(), brief);
    }

    /// How far it is, and the switch that stops it.
    pub(crate) fn signals(&self) -> &Signals {
        &self.signals
    }

    /// Tells whether the job is still this node's, when something is about to be ordered for it.
    pub(crate) fn lease(&self, context: &Context) -> Fence {
        let (signals, clock) = (Arc::clone(&self.signals), context.clock().clone());
        Arc::new(move || signals.is_ours(clock.steady_ms()))
    }

    /// Set when the work is to stop.
    pub(crate) fn stop(&self) -> CancellationToken {
        self.signals.stop.clone()
    }
}

impl Drop for RunningJob {
    fn drop(&mut self) {
        self.register.leave(&self.leased.id, self.leased.fence);
    }
}
