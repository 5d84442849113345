//! Adoption: a job whose node went silent is taken up where that node was. Its ticket is polled on, its lost submit is
//! looked up, or it goes back into the queue; what may have been paid for is never repeated.

use std::collections::HashSet;

use atelier_backends::backend::LostSubmit;
use atelier_contract::JobState;
use atelier_store::{Guard, JobRow};
use serde_json::Value;

use crate::floor::context::Context;
use crate::floor::fail::UNKNOWN;
use crate::floor::give_back::{Why, give_back};
use crate::floor::job::{Leased, RunningJob};
use crate::floor::length::is_long;
use crate::floor::pool::Slot;
use crate::floor::pool::load::Loader;
use crate::floor::prepare::{Unready, without_inputs};
use crate::floor::settle::{broken, settle};
use crate::names::WorkerName;

const TOO_OFTEN: &str = "the job was begun too often without an end";
const WORKER_GONE: &str = "the back-end account that worked on the job is no longer there";

/// What became of a job whose node went silent.
pub(super) enum Adopted {
    /// Only another node can take it up.
    NotHere,
    /// It is settled, back in the queue, or somebody else's.
    Done,
    /// This node goes on with the attempt that the vendor knows.
    GoOn(Box<(JobRow, Slot)>),
}

/// Takes up a job whose node went silent; `strangers` are worker accounts that cannot be used here.
pub(super) async fn adopt(
    context: &Context,
    loader: &Loader,
    strangers: &mut HashSet<WorkerName>,
    row: JobRow,
) -> Result<Adopted, atelier_store::Error> {
    debug_assert_eq!(row.state, JobState::Running);
    let tries_most = context.house.settings.tries_most;
    let Some(worker) = row.worker.as_deref().map(WorkerName::read) else {
        // Nothing was asked of any vendor.
        if row.begun() >= tries_most {
            return end(context, &row, TOO_OFTEN).await;
        }
        return queue(context, row).await;
    };
    if strangers.contains(&worker) {
        return Ok(Adopted::NotHere);
    }
    let pool = &context.pool;
    if pool.lost_submit(&worker).is_none() {
        loader.load().await?;
    }
    let lost_submit = pool.lost_submit(&worker);
    if lost_submit.is_none() && is_stored(context, &worker).await? {
        // Only this node cannot use it, such as for want of its master key: another one can.
        strangers.insert(worker);
        return Ok(Adopted::NotHere);
    }
    match (lost_submit, row.ticket.is_some()) {
        (Some(_), true) | (Some(LostSubmit::LookUp), false) => {
            match pool.take_over(&worker, is_long(&row.operation, row.batched)) {
                Some(slot) => take_lease(context, row, slot).await,
                None => end(context, &row, WORKER_GONE).await,
            }
        }
        (Some(LostSubmit::Repeat), false) if row.begun() < tries_most => queue(context, row).await,
        (Some(LostSubmit::Repeat), false) => end(context, &row, TOO_OFTEN).await,
        (None, true) => end(context, &row, WORKER_GONE).await,
        // The intent was written down and nothing after it: the vendor may be working on it, and may be paid.
        (Some(LostSubmit::Unknown) | None, false) => end(context, &row, UNKNOWN).await,
    }
}

/// Whether a worker account is there, be it usable on this node or not.
async fn is_stored(context: &Context, worker: &WorkerName) -> Result<bool, atelier_store::Error> {
    let stored = context.house.store.workers().await?;
    Ok(stored.iter().any(|row| WorkerName::from(row) == *worker))
}

async fn end(context: &Context, row: &JobRow, why: &str) -> Result<Adopted, atelier_store::Error> {
    let guard = Guard::Fence(row.fence);
    settle(&context.house, &row.id, guard, broken(why)).await?;
    Ok(Adopted::Done)
}

async fn queue(context: &Context, row: JobRow) -> Result<Adopted, atelier_store::Error> {
    let why = Why::lost("its node went silent");
    give_back(&context.house, &Leased::from(row), 0, why).await?;
    context.house.wakes.work.notify_one();
    Ok(Adopted::Done)
}

async fn take_lease(
    context: &Context,
    row: JobRow,
    slot: Slot,
) -> Result<Adopted, atelier_store::Error> {
    let house = &context.house;
    let now_ms = house.steady_ms();
    let until_ms = now_ms + house.settings.lease_ms;
    let taken = house
        .store
        .take_lease(&row.id, row.fence, &house.node, until_ms, now_ms)
        .await?;
    Ok(taken.map_or(Adopted::Done, |row| Adopted::GoOn(Box::new((row, slot)))))
}

/// Goes on where the other node was, with the attempt that the vendor knows.
pub(super) async fn go_on(context: &Context, mut row: JobRow, slot: Slot) -> Option<RunningJob> {
    let began_ms = row.started_ms.unwrap_or(row.created_ms) - context.house.clock.ahead_ms();
    let attempt_id = row.attempt_id.take().unwrap_or_default();
    let ticket = row.ticket.take();
    let ticket = ticket.and_then(|text| serde_json::from_str(&text).ok());
    let asked_ms = asked_ms(context, &attempt_id, ticket.as_ref()).await;
    let job = RunningJob::new(row.into(), slot, &context.register, began_ms).asked_at(asked_ms);
    match without_inputs(context, &job.leased, attempt_id, job.signals()).await {
        Ok(work) => Some(job.at_vendor(Box::new(work), ticket)),
        // The lease runs out and somebody takes the job up again.
        Err(unready) => {
            let why = match unready {
                Unready::NotHere(why) => why,
                Unready::Fault(fault) => fault.detail,
            };
            tracing::warn!(job = %job.id(), why, "a job could not be taken up");
            None
        }
    }
}

/// When the vendor was asked for an attempt of which nothing but the intent is known. Where that cannot be read, it may have
/// been just now.
async fn asked_ms(context: &Context, attempt_id: &str, ticket: Option<&Value>) -> i64 {
    let house = &context.house;
    let now_ms = house.steady_ms();
    if ticket.is_some() {
        return now_ms;
    }
    let began = house.store.attempt_began(attempt_id).await;
    began.ok().flatten().unwrap_or(now_ms)
}
