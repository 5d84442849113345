//! Jobs that nobody in the fleet can begin before their deadline end at once, with a sentence that says so: whoever waits reads
//! that no back end is available, not that the time ran out. What this node merely does not know is left to the others.

use atelier_backends::Class;
use atelier_store::{Guard, JobRow};

use crate::runner::accepted_model::find_model;
use crate::runner::job::LeasedJob;
use crate::runner::past_failures::load_past_failures;
use crate::runner::pool::choice::Requirements;
use crate::runner::pool::leasable_kinds::requirements_of;
use crate::runner::runner_core::RunnerCore;
use crate::runner::settle::{internal_failure, settle};

/// What whoever waits for such a job reads.
pub(super) const NOBODY: &str = "no back end available";
/// Jobs of one kind that are looked at in one round.
const AT_ONCE: i64 = 50;

/// Whether nobody in the fleet can begin a job before its deadline. Every node knows what vendors said about stored worker
/// accounts; what works inside the other nodes, they say themselves.
pub(super) async fn is_hopeless(
    core: &RunnerCore,
    requirements: &Requirements<'_>,
    deadline_ms: i64,
) -> bool {
    let returns_ms = core.pool.returns_ms(requirements, core.context.steady_ms());
    returns_ms.is_some_and(|returns_ms| returns_ms >= deadline_ms)
        && !core.context.others_do(requirements.operation).await
}

/// The same for a job in hand.
pub(super) async fn is_lost(core: &RunnerCore, leased: &LeasedJob) -> bool {
    let past_failures = load_past_failures(&core.context, leased).await;
    let requirements = leased.requirements(&past_failures);
    is_hopeless(core, &requirements, leased.deadline_ms).await
}

/// Has jobs that wait looked at soon when a vendor said something about its account that may concern all of them.
pub(super) fn look_soon(core: &RunnerCore, class: Class) {
    if matches!(class, Class::Quota | Class::Dead) {
        core.context.wakes().pool.notify_one();
    }
}

/// Ends jobs that wait for nothing. A kind of work is looked at as a whole first, so that this costs nothing while somebody may
/// take its jobs.
pub(super) async fn end_waiting(core: &RunnerCore) -> Result<(), atelier_store::Error> {
    let (context, pool) = (&core.context, &core.pool);
    let now_ms = context.steady_ms();
    for kind in context.store().queue().waiting_kinds().await? {
        let requirements = requirements_of(&kind);
        let returns_ms = requirements.and_then(|wanted| pool.returns_ms(&wanted, now_ms));
        let Some(returns_ms) = returns_ms.filter(|returns_ms| *returns_ms > now_ms) else {
            continue;
        };
        let queue = context.store().queue();
        for row in queue.waiting_of_kind(&kind, returns_ms, AT_ONCE).await? {
            end_if_hopeless(core, row).await?;
        }
    }
    Ok(())
}

async fn end_if_hopeless(core: &RunnerCore, row: JobRow) -> Result<(), atelier_store::Error> {
    let mut waiting = LeasedJob::from(row);
    if find_model(core, &mut waiting).await && is_lost(core, &waiting).await {
        let id = &waiting.id;
        settle(core, id, Guard::Unfinished, internal_failure(NOBODY)).await?;
    }
    Ok(())
}
