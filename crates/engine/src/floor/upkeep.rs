//! The slow round of the pool: what was learned is written down, worker accounts without credit are tried again, and
//! jobs that nobody can ever take are ended.

use std::sync::Arc;

use atelier_backends::{Backend, Fault};
use atelier_store::{AuditRow, Guard};

use crate::floor::context::Context;
use crate::floor::lane::Lane;
use crate::floor::pool::health::{Condition, Fitness, Left};
use crate::floor::pool::{Hope, Pool};
use crate::floor::settle::{broken, settle};
use crate::house::House;
use crate::names::WorkerName;

/// Jobs of one hopeless lane that are ended in one round.
const AT_ONCE: i64 = 200;
const HOPELESS: &str = "the back-end account that made the earlier job is no longer there";

/// Writes down what worker accounts spent and how well they are, and who asked them, if anybody did.
pub(super) async fn write_notes(
    house: &House,
    pool: &Pool,
    act: Option<AuditRow>,
) -> Result<(), atelier_store::Error> {
    let notes = pool.notes();
    if notes.is_empty() && act.is_none() {
        return Ok(());
    }
    let written = house.store.note_workers(notes.clone(), act).await;
    if written.is_err() {
        pool.renote(&notes);
    }
    written
}

/// Ends jobs that wait for worker accounts that are gone. What this node merely does not know is left to the others.
pub(super) async fn end_hopeless(context: &Context) -> Result<(), atelier_store::Error> {
    let house = &context.house;
    for (text, _) in house.store.waiting_by_lane().await? {
        let lane = Lane::read(&text);
        let hope = context.pool.hope(lane);
        if lane == Lane::Any || hope == Hope::Some {
            continue;
        }
        let ids = house.store.waiting_in_lane(&text, AT_ONCE).await?;
        if hope == Hope::Unknown && works_inside(house, lane, &ids).await? {
            continue;
        }
        for id in ids {
            settle(house, &id, Guard::Unfinished, broken(HOPELESS)).await?;
        }
    }
    Ok(())
}

/// Whether a lane belongs to what works inside a process, here or elsewhere: no row says whether a node has it. What
/// follows the work of a stored worker account names that account.
async fn works_inside(
    house: &House,
    lane: Lane<'_>,
    ids: &[String],
) -> Result<bool, atelier_store::Error> {
    let (Lane::At(_), Some(id)) = (lane, ids.first()) else {
        return Ok(false);
    };
    let row = house.store.job_of_anyone(id).await?;
    Ok(row.is_some_and(|row| row.follows.is_none()))
}

/// Asks the vendors of worker accounts without credit whether that has changed, once an hour each.
pub(super) fn probe_credit(house: &Arc<House>, pool: &Arc<Pool>) {
    let now_ms = house.steady_ms();
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
        let (house, pool) = (house.clone(), pool.clone());
        house.clone().tasks.spawn(async move {
            let _ = probe(&house, &pool, &name, backend.as_ref()).await;
        });
    }
}

/// Asks a vendor whether it is well and takes the credentials; what it says counts.
pub(super) async fn probe(
    house: &House,
    pool: &Pool,
    name: &WorkerName,
    backend: &dyn Backend,
) -> Result<(), Fault> {
    let answer = backend.probe().await;
    let now_ms = house.steady_ms();
    match &answer {
        Ok(left) => pool.set_health(name, |health| {
            health.probing = false;
            health.become_well(now_ms);
            health.left = left.as_ref().map(|left| Left::new(left, now_ms));
        }),
        Err(fault) => pool.fault(name, fault, now_ms),
    }
    house.wakes.work.notify_one();
    answer.map(|_| ())
}
