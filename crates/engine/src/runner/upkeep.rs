//! The slow round of the pool: what was learned is written down, worker accounts without credit are tried again, and
//! jobs that nobody can ever take are ended.

use std::sync::Arc;

use atelier_backends::{Backend, Fault};
use atelier_store::{AuditRow, Guard};

use crate::context::Context;
use crate::names::WorkerName;
use crate::runner::pool::health::{Condition, Fitness, RemainingBalance};
use crate::runner::pool::{Availability, Pool};
use crate::runner::routing::RoutingConstraint;
use crate::runner::runner_core::RunnerCore;
use crate::runner::settle::{internal_failure, settle};

/// Jobs of one hopeless lane that are ended in one round.
const AT_ONCE: i64 = 200;
const HOPELESS: &str = "the back-end account that made the earlier job is no longer there";

/// Writes down what worker accounts spent and how well they are, and who asked them, if anybody did.
pub(super) async fn write_notes(
    context: &Context,
    pool: &Pool,
    act: Option<AuditRow>,
) -> Result<(), atelier_store::Error> {
    let notes = pool.notes();
    if notes.is_empty() && act.is_none() {
        return Ok(());
    }
    let written = context.store().workers().note(notes.clone(), act).await;
    if written.is_err() {
        pool.restore_notes(&notes);
    }
    written
}

/// Ends jobs that wait for worker accounts that are gone. What this node merely does not know is left to the others.
pub(super) async fn end_hopeless(core: &RunnerCore) -> Result<(), atelier_store::Error> {
    let context = &core.context;
    for (text, _) in context.store().queue().waiting_by_lane().await? {
        let lane = RoutingConstraint::read(&text);
        let availability = core.pool.availability(lane);
        if lane == RoutingConstraint::Any || availability == Availability::Some {
            continue;
        }
        let ids = context
            .store()
            .queue()
            .waiting_in_lane(&text, AT_ONCE)
            .await?;
        if availability == Availability::Unknown && works_inside(context, lane, &ids).await? {
            continue;
        }
        for id in ids {
            settle(core, &id, Guard::Unfinished, internal_failure(HOPELESS)).await?;
        }
    }
    Ok(())
}

/// Whether a lane belongs to what works inside a process, here or elsewhere: no row says whether a node has it. What
/// follows the work of a stored worker account names that account.
async fn works_inside(
    context: &Context,
    lane: RoutingConstraint<'_>,
    ids: &[String],
) -> Result<bool, atelier_store::Error> {
    let (RoutingConstraint::At(_), Some(id)) = (lane, ids.first()) else {
        return Ok(false);
    };
    let row = context.store().jobs().find_of_any_account(id).await?;
    Ok(row.is_some_and(|row| row.follows.is_none()))
}

/// Asks the vendors of worker accounts without credit whether that has changed, once an hour each.
pub(super) fn probe_credit(context: &Arc<Context>, pool: &Arc<Pool>) {
    let now_ms = context.steady_ms();
    let due: Vec<(WorkerName, Arc<dyn Backend>)> = {
        let mut members = pool.members();
        let due = members.iter_mut().filter(|one| {
            one.candidate.health.condition == Condition::OutOfCredit
                && one.candidate.health.fitness(now_ms) == Fitness::Probe
        });
        due.map(|one| {
            one.candidate.health.probing = true;
            (one.candidate.name.clone(), Arc::clone(&one.backend))
        })
        .collect()
    };
    for (name, backend) in due {
        let (context, pool) = (context.clone(), pool.clone());
        context.clone().tasks().spawn(async move {
            let _ = probe(&context, &pool, &name, backend.as_ref(), &[]).await;
        });
    }
}

/// Asks a vendor whether it is well, takes the credentials and has some models; what it says counts.
pub(super) async fn probe(
    context: &Context,
    pool: &Pool,
    name: &WorkerName,
    backend: &dyn Backend,
    models: &[String],
) -> Result<(), Fault> {
    let mut answer = backend.probe().await;
    if let (Ok(_), false) = (&answer, models.is_empty()) {
        let found = backend.find_models(models).await;
        answer = found.and(answer);
    }
    let now_ms = context.steady_ms();
    match &answer {
        Ok(left) => pool.member(name).set_health(|health| {
            let left = left.as_ref();
            health.probed(left.map(|left| RemainingBalance::new(left, now_ms)), now_ms);
        }),
        Err(fault) => pool.member(name).fault(fault, now_ms),
    }
    context.wakes().work.notify_one();
    answer.map(|_| ())
}
