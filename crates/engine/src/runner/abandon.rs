//! A job that nobody wants any more, and that its vendor has: the vendor is told to stop, and asked once what it took all the
//! same.

use std::sync::Arc;
use std::time::Duration;

use atelier_backends::Backend;
use atelier_backends::backend::{PollOutcome, Work};
use atelier_backends::http::with_fence;
use atelier_contract::{FaultKind, JobId};
use atelier_store::{Cost, Guard};
use serde_json::Value;

use crate::names::WorkerName;
use crate::runner::finish::model;
use crate::runner::job::RunningJob;
use crate::runner::runner_core::RunnerCore;
use crate::runner::settle::{WorkSummary, failed, settle_paid};

/// A last question that takes longer than this has failed: what it would have told is not worth more.
const LAST_QUESTION: Duration = Duration::from_mins(2);

/// What is left of a job without its place at the worker account, which is the next job's by now.
pub(super) struct AbandonedJob {
    id: JobId,
    fence: i64,
    backend: Arc<dyn Backend>,
    worker: WorkerName,
    vendor: &'static str,
    custody: bool,
    model: String,
    work: Work,
    ticket: Value,
    /// It is final. One that was only lost may be another node's.
    is_final: bool,
}

impl AbandonedJob {
    /// The work on a job that a ticket finds at its vendor.
    pub(super) fn of(job: &RunningJob, work: &Work, ticket: Value) -> Self {
        Self {
            id: job.id().clone(),
            fence: job.leased.fence,
            backend: job.backend(),
            worker: job.worker().clone(),
            vendor: job.slot.vendor(),
            custody: job.slot.custody(),
            model: model(job),
            work: work.clone(),
            ticket,
            is_final: job.signals().is_unwanted(),
        }
    }

    /// Has the vendor stop, and counts what it says that it took for a job that is final already: only the cost is added.
    pub(super) async fn end(self, core: &RunnerCore) {
        self.backend.cancel(&self.ticket).await;
        if !self.is_final {
            return;
        }
        // Nothing is ordered for it any more.
        let nobodys = Arc::new(|| false);
        let question = with_fence(nobodys, self.backend.poll(&self.work, &self.ticket));
        let told = match tokio::time::timeout(LAST_QUESTION, question).await {
            Ok(Ok(PollOutcome::Failed(fault))) => fault.cost,
            Ok(Ok(PollOutcome::Done(made))) => made.cost,
            _ => None,
        };
        let Some(told) = told else { return };
        let cost = Cost {
            attempt_id: self.work.attempt_id.clone(),
            micros: told.micros,
            currency: told.currency.to_owned(),
        };
        let spent = WorkSummary {
            cost: Some(cost.clone()),
            model: self.model,
            began_ms: None,
        };
        let outcome = failed(FaultKind::Cancelled, "the job was cancelled");
        let guard = Guard::Fence(self.fence);
        match settle_paid(core, &self.id, guard, outcome, spent).await {
            Ok(_) => {
                core.pool.member(&self.worker).took(cost.micros);
                if !self.custody {
                    core.context.meters().took(self.vendor, &cost);
                }
            }
            Err(error) => {
                tracing::warn!(%error, job = %self.id, "the cost of a cancelled job could not be stored");
            }
        }
    }
}
