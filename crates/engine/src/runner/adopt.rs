//! Adoption: a job whose node went silent is taken up where that node was. Its ticket is polled on, its lost submit is
//! looked up, or it goes back into the queue; what may have been paid for is never repeated.

use std::collections::HashSet;

use atelier_backends::backend::LostSubmit;
use atelier_contract::JobState;
use atelier_store::{Guard, JobRow};
use serde_json::Value;

use crate::names::WorkerName;
use crate::runner::accepted_model::find_model;
use crate::runner::begin::hook_url;
use crate::runner::fail::UNKNOWN;
use crate::runner::job::{LeasedJob, RunningJob};
use crate::runner::length::is_long;
use crate::runner::pool::load::Loader;
use crate::runner::pool::slot::Slot;
use crate::runner::prepare::{PrepareError, without_inputs};
use crate::runner::requeue::{RequeueReason, requeue};
use crate::runner::runner_core::RunnerCore;
use crate::runner::settle::{internal_failure, settle};

const TOO_OFTEN: &str = "the job was begun too often without an end";
const WORKER_GONE: &str = "the back-end account that worked on the job is no longer there";

/// What became of a job whose node went silent.
pub(super) enum AdoptOutcome {
    /// Only another node can take it up.
    NotHere,
    /// It is settled, back in the queue, or somebody else's.
    Done,
    /// This node goes on with the attempt that the vendor knows.
    GoOn(Box<(JobRow, Slot)>),
}

/// Takes up a job whose node went silent; `strangers` are worker accounts that cannot be used here.
pub(super) async fn adopt(
    core: &RunnerCore,
    loader: &Loader,
    strangers: &mut HashSet<WorkerName>,
    row: JobRow,
) -> Result<AdoptOutcome, atelier_store::Error> {
    debug_assert_eq!(row.state, JobState::Running);
    let tries_most = core.context.settings().jobs.tries;
    let Some(worker) = row.worker.as_deref().map(WorkerName::read) else {
        // Nothing was asked of any vendor.
        if row.begun() >= tries_most {
            return end(core, &row, TOO_OFTEN).await;
        }
        return queue(core, row).await;
    };
    if strangers.contains(&worker) {
        return Ok(AdoptOutcome::NotHere);
    }
    let pool = &core.pool;
    if pool.lost_submit(&worker).is_none() {
        loader.load().await?;
    }
    let lost_submit = pool.lost_submit(&worker);
    if lost_submit.is_none() && is_stored(core, &worker).await? {
        // Only this node cannot use it, such as for want of its master key: another one can.
        strangers.insert(worker);
        return Ok(AdoptOutcome::NotHere);
    }
    match (lost_submit, row.ticket.is_some()) {
        (Some(_), true) | (Some(LostSubmit::LookUp), false) => {
            match pool.take_over(&worker, is_long(&row.operation, row.batched)) {
                Some(slot) => take_lease(core, row, slot).await,
                None => end(core, &row, WORKER_GONE).await,
            }
        }
        (Some(LostSubmit::Repeat), false) if row.begun() < tries_most => queue(core, row).await,
        (Some(LostSubmit::Repeat), false) => end(core, &row, TOO_OFTEN).await,
        (None, true) => end(core, &row, WORKER_GONE).await,
        // The intent was written down and nothing after it: the vendor may be working on it, and may be paid.
        (Some(LostSubmit::Unknown) | None, false) => end(core, &row, UNKNOWN).await,
    }
}

/// Whether a worker account is there, be it usable on this node or not.
async fn is_stored(core: &RunnerCore, worker: &WorkerName) -> Result<bool, atelier_store::Error> {
    let stored = core.context.store().workers().list().await?;
    Ok(stored.iter().any(|row| WorkerName::from(row) == *worker))
}

async fn end(
    core: &RunnerCore,
    row: &JobRow,
    why: &str,
) -> Result<AdoptOutcome, atelier_store::Error> {
    let guard = Guard::Fence(row.fence);
    settle(core, &row.id, guard, internal_failure(why)).await?;
    Ok(AdoptOutcome::Done)
}

async fn queue(core: &RunnerCore, row: JobRow) -> Result<AdoptOutcome, atelier_store::Error> {
    let why = RequeueReason::lost("its node went silent");
    requeue(&core.context, &LeasedJob::from(row), 0, why).await?;
    core.context.wakes().work.notify_one();
    Ok(AdoptOutcome::Done)
}

async fn take_lease(
    core: &RunnerCore,
    row: JobRow,
    slot: Slot,
) -> Result<AdoptOutcome, atelier_store::Error> {
    let context = &core.context;
    let now_ms = context.steady_ms();
    let until_ms = now_ms + context.settings().jobs.lease_s.ms();
    let taken = context
        .store()
        .queue()
        .take_lease(&row.id, row.fence, context.node(), until_ms, now_ms)
        .await?;
    Ok(taken.map_or(AdoptOutcome::Done, |row| {
        AdoptOutcome::GoOn(Box::new((row, slot)))
    }))
}

/// Goes on where the other node was, with the attempt that the vendor knows.
pub(super) async fn go_on(core: &RunnerCore, mut row: JobRow, slot: Slot) -> Option<RunningJob> {
    let began_ms = row.started_ms.unwrap_or(row.created_ms) - core.context.clock().ahead_ms();
    let attempt_id = row.attempt_id.take().unwrap_or_default();
    let ticket = row.ticket.take();
    let ticket = ticket.and_then(|text| serde_json::from_str(&text).ok());
    let asked_ms = asked_ms(core, &attempt_id, ticket.as_ref()).await;
    let mut leased = LeasedJob::from(row);
    let is_known = find_model(core, &mut leased).await;
    let job = RunningJob::new(leased, slot, &core.register, began_ms).asked_at(asked_ms);
    if !is_known {
        // The lease runs out and somebody takes the job up again.
        return None;
    }
    match without_inputs(core, &job.leased, attempt_id, job.signals()).await {
        Ok(mut work) => {
            job.follow_route(&mut work.brief);
            // A start that is repeated to find the lost one says the same again.
            work.hook_url = hook_url(&core.context, &job, &work.attempt_id);
            Some(job.at_vendor(Box::new(work), ticket))
        }
        // The lease runs out and somebody takes the job up again.
        Err(unready) => {
            let why = match unready {
                PrepareError::NotHere(why) => why,
                PrepareError::Fault(fault) => fault.detail,
            };
            tracing::warn!(job = %job.id(), why, "a job could not be taken over");
            None
        }
    }
}

/// When the vendor was asked for an attempt of which nothing but the intent is known. Where that cannot be read, it may have
/// been just now.
async fn asked_ms(core: &RunnerCore, attempt_id: &str, ticket: Option<&Value>) -> i64 {
    let context = &core.context;
    let now_ms = context.steady_ms();
    if ticket.is_some() {
        return now_ms;
    }
    let began = context.store().attempts().began_ms(attempt_id).await;
    began.ok().flatten().unwrap_or(now_ms)
}
