//! What becomes of a job whose work failed: it ends, or it goes back to be tried again where that may help.

use atelier_backends::Fault;
use atelier_store::{Guard, Outcome};

use crate::context::Context;
use crate::names::WorkerName;
use crate::runner::hopeless::{NOBODY, is_lost, look_soon};
use crate::runner::job::LeasedJob;
use crate::runner::past_failures::load_past_failures;
use crate::runner::pool::choice::Choice;
use crate::runner::react::{JobAction, react};
use crate::runner::requeue::{RequeueReason, requeue};
use crate::runner::runner_core::RunnerCore;
use crate::runner::settle::{failure_from, internal_failure, settle};

/// Why a job ended that may have been made and paid for, and is not asked for again.
pub(super) const UNKNOWN: &str = "the outcome at the back end is unknown";

/// A back end made nothing: another one gets the job where this one cannot do it, else it is tried again or ends.
pub(super) async fn not_made(
    core: &RunnerCore,
    leased: &LeasedJob,
    worker: &WorkerName,
    fault: &Fault,
) {
    let unable = react(fault.class).job == JobAction::OtherBackend;
    if unable && others_may(core, leased, worker).await {
        return again(&core.context, leased, fault).await;
    }
    fail_or_retry(core, leased, fault).await;
}

/// Ends a job without a result, or has it tried again where that may help.
pub(super) async fn fail_or_retry(core: &RunnerCore, leased: &LeasedJob, fault: &Fault) {
    look_soon(core, fault.class);
    tracing::info!(job = %leased.id, class = fault.class.word(), detail = %fault.detail, "{}", fault.message);
    let retried = match react(fault.class).job {
        // A worker account that is set aside is no try of the job: another one gets it, or it waits.
        JobAction::Elsewhere => true,
        JobAction::Again => leased.begun < core.context.settings().jobs.tries,
        JobAction::OtherBackend | JobAction::End => false,
    };
    if !retried {
        explain(&core.context, leased, fault).await;
        fail(core, leased, failure_from(fault)).await;
    } else if is_lost(core, leased).await {
        explain(&core.context, leased, fault).await;
        fail(core, leased, internal_failure(NOBODY)).await;
    } else {
        again(&core.context, leased, fault).await;
    }
}

/// Ends a job without a result; its quota comes back.
pub(super) async fn fail(core: &RunnerCore, leased: &LeasedJob, outcome: Outcome) {
    let guard = Guard::Fence(leased.fence);
    if let Err(error) = settle(core, &leased.id, guard, outcome).await {
        tracing::error!(%error, job = %leased.id, "a failure could not be stored; the lease will expire");
    }
}

/// Whether another back end is there to be asked than this worker's and those that were asked before.
async fn others_may(core: &RunnerCore, leased: &LeasedJob, worker: &WorkerName) -> bool {
    let mut past_failures = load_past_failures(&core.context, leased).await;
    past_failures.unable.push(worker.backend().clone());
    let requirements = leased.requirements(&past_failures);
    let pool = &core.pool;
    pool.outlook(&requirements, core.context.steady_ms()) != Choice::Nobody
        || pool.others_may(requirements.lane, &past_failures.unable)
}

/// What operators read of a fault: callers read a sentence of ours alone.
fn words(fault: &Fault) -> String {
    format!("{}: {}", fault.class.word(), fault.detail)
}

/// Keeps a vendor's words with the attempt that ends with its job.
pub(super) async fn explain(context: &Context, leased: &LeasedJob, fault: &Fault) {
    if fault.detail.is_empty() {
        return;
    }
    let attempts = context.store().attempts();
    let noted = attempts
        .explain(&leased.id, leased.fence, &words(fault))
        .await;
    if let Err(error) = noted {
        tracing::warn!(%error, job = %leased.id, "a vendor's message could not be stored");
    }
}

/// Gives a job back to the queue; the vendor certainly does not have it, or does not mind.
async fn again(context: &Context, leased: &LeasedJob, fault: &Fault) {
    let words = words(fault);
    let pause_ms = context.settings().jobs.retry_pause_ms * leased.begun.max(1);
    let (pause_ms, why) = match react(fault.class).job {
        JobAction::OtherBackend => (0, RequeueReason::unable(words)),
        JobAction::Elsewhere => (0, RequeueReason::failed(words, false)),
        JobAction::Again | JobAction::End => (pause_ms, RequeueReason::failed(words, true)),
    };
    match requeue(context, leased, context.steady_ms() + pause_ms, why).await {
        Ok(()) => {
            context.wake_job(&leased.id);
            context.wakes().work.notify_one();
        }
        Err(error) => {
            tracing::error!(%error, job = %leased.id, "a failure could not be stored; the lease will expire");
        }
    }
}
