//! What becomes of a job whose work failed: it ends, or it goes back to be tried again where that may help.

use atelier_backends::Fault;
use atelier_store::{Guard, Outcome};

use crate::floor::context::Context;
use crate::floor::earlier::earlier;
use crate::floor::give_back::{Why, give_back};
use crate::floor::job::Leased;
use crate::floor::pool::choice::Choice;
use crate::floor::react::{ForJob, react};
use crate::floor::settle::{refused, settle};
use crate::house::House;
use crate::names::WorkerName;

/// Why a job ended that may have been made and paid for, and is not asked for again.
pub(super) const UNKNOWN: &str = "the outcome at the back end is unknown";

/// A back end made nothing: another one gets the job where this one cannot do it, else it is tried again or ends.
pub(super) async fn not_made(
    context: &Context,
    leased: &Leased,
    worker: &WorkerName,
    fault: &Fault,
) {
    let unable = react(fault.class).job == ForJob::OtherBackend;
    if unable && others_may(context, leased, worker).await {
        return again(&context.house, leased, fault).await;
    }
    fail_or_retry(&context.house, leased, fault).await;
}

/// Ends a job without a result, or has it tried again where that may help.
pub(super) async fn fail_or_retry(house: &House, leased: &Leased, fault: &Fault) {
    tracing::info!(job = %leased.id, class = fault.class.word(), detail = %fault.detail, "{}", fault.message);
    let retried = match react(fault.class).job {
        // A worker account that is set aside is no try of the job: another one gets it, or it waits.
        ForJob::Elsewhere => true,
        ForJob::Again => leased.begun < house.settings.tries_most,
        ForJob::OtherBackend | ForJob::End => false,
    };
    if retried {
        again(house, leased, fault).await;
    } else {
        fail(house, leased, refused(fault)).await;
    }
}

/// Ends a job without a result; its quota comes back.
pub(super) async fn fail(house: &House, leased: &Leased, outcome: Outcome) {
    let guard = Guard::Fence(leased.fence);
    if let Err(error) = settle(house, &leased.id, guard, outcome).await {
        tracing::error!(%error, job = %leased.id, "a failure could not be recorded; the lease will run out");
    }
}

/// Whether another back end is there to be asked than this worker's and those that were asked before.
async fn others_may(context: &Context, leased: &Leased, worker: &WorkerName) -> bool {
    let mut earlier = earlier(&context.house, leased).await;
    earlier.unable.push(worker.backend().clone());
    let wish = leased.wish(&earlier);
    let pool = &context.pool;
    pool.outlook(&wish, context.house.steady_ms()) != Choice::Nobody
        || pool.others_may(wish.lane, &earlier.unable)
}

/// Gives a job back to the queue; the vendor certainly does not have it, or does not mind.
async fn again(house: &House, leased: &Leased, fault: &Fault) {
    let words = format!("{}: {}", fault.class.word(), fault.detail);
    let pause_ms = house.settings.retry_pause_ms * leased.begun.max(1);
    let (pause_ms, why) = match react(fault.class).job {
        ForJob::OtherBackend => (0, Why::unable(words)),
        ForJob::Elsewhere => (0, Why::failed(words, false)),
        ForJob::Again | ForJob::End => (pause_ms, Why::failed(words, true)),
    };
    match give_back(house, leased, house.steady_ms() + pause_ms, why).await {
        Ok(()) => {
            house.wake_job(&leased.id);
            house.wakes.work.notify_one();
        }
        Err(error) => {
            tracing::error!(%error, job = %leased.id, "a failure could not be recorded; the lease will run out");
        }
    }
}
