//! The end of a job that was made: its bytes are safe before it is final.

use std::time::Duration;

use atelier_backends::backend::LostSubmit;
use atelier_backends::{Fault, WorkOutput};
use atelier_store::{Cost, Guard, Outcome};

use crate::assets::Owner;
use crate::context::Context;
use crate::crash;
use crate::runner::fail::fail_or_retry;
use crate::runner::job::RunningJob;
use crate::runner::react::react;
use crate::runner::runner_core::RunnerCore;
use crate::runner::settle::{WorkSummary, failure_from, settle_paid};
use crate::runner::ticket::PAUSES_MS;
use crate::tracer::SpanKind;

/// The wait between later tries to store a result that was paid for.
const PAUSE_MOST_MS: u64 = 5_000;

/// Stores what was made and settles.
pub(super) async fn finish(
    core: &RunnerCore,
    job: &RunningJob,
    made: WorkOutput,
    asked: u32,
) -> Result<(), Fault> {
    crash::point("runner.made");
    let (context, leased) = (&core.context, &job.leased);
    let took_ms = context.steady_ms() - job.began_ms;
    let owner = Owner {
        job_id: &leased.id,
        account_id: &leased.account_id,
        operation: &leased.operation,
        fence: leased.fence,
        created_ms: leased.created_ms,
        price: leased.price,
        asked,
        work: job.work.as_deref(),
    };
    let cost = cost(job, made.cost.as_ref());
    // What takes no time may be at hand by the hundred, so it must not bring files.
    let told = made.files.is_empty();
    let micros = cost.as_ref().map_or(0, |cost| cost.micros);
    let mark = leased.mark(context.now_ms());
    context.meters().made(job.slot.vendor(), took_ms, mark);
    let span = context
        .tracer()
        .open(
            leased.trace,
            "storage",
            SpanKind::Internal,
            context.now_ms(),
        )
        .with("atelier.files", &made.files.len());
    let stored = core.assets.store(&owner, made).await;
    let error = stored.as_ref().err().map(|fault| fault.detail.clone());
    context.tracer().close(span, error);
    let outcome = stored?;
    crash::point("runner.before_settle");
    let (pool, guard) = (&core.pool, Guard::Fence(leased.fence));
    let spent = WorkSummary {
        cost: cost.clone(),
        model: model(job),
        began_ms: job.signals().began_ms(context.now_ms()),
    };
    match settle_paid(core, &leased.id, guard, outcome, spent).await {
        Ok(Some(done)) => {
            pool.member(job.worker())
                .good(took_ms, done.quota, context.steady_ms());
            if told {
                pool.member(job.worker()).told(&leased.operation, took_ms);
            }
            pool.member(job.worker()).took(micros);
        }
        Ok(None) => {
            tracing::info!(job = %leased.id, "a late result was discarded");
            pool.member(job.worker()).took(micros);
        }
        Err(error) => return Err(Fault::internal(format!("store: {error}"))),
    }
    took(context, job, cost.as_ref());
    Ok(())
}

/// Counts what was taken; what callers' own worker accounts pay is not the operator's.
fn took(context: &Context, job: &RunningJob, cost: Option<&Cost>) {
    if let Some(cost) = cost.filter(|_| !job.slot.custody()) {
        context.meters().took(job.slot.vendor(), cost);
    }
}

/// What the vendor says that it took for the attempt.
fn cost(job: &RunningJob, told: Option<&atelier_backends::Cost>) -> Option<Cost> {
    let told = told?;
    let attempt = job.work.as_ref().map(|work| work.attempt_id.clone());
    Some(Cost {
        attempt_id: attempt.unwrap_or_else(|| job.leased.attempt().to_string()),
        micros: told.micros,
        currency: told.currency.to_owned(),
    })
}

/// The model that was worked with, by the name that callers know.
pub(super) fn model(job: &RunningJob) -> String {
    let listed = job.leased.routing().name.map(str::to_owned);
    let named = || job.work.as_ref().map(|work| work.brief.model.clone());
    listed.or_else(named).unwrap_or_default()
}

/// Ends a job without a result, whatever its vendor took for it.
pub(super) async fn fail_paid(
    core: &RunnerCore,
    job: &RunningJob,
    told: Option<&atelier_backends::Cost>,
    outcome: Outcome,
) {
    let (context, leased) = (&core.context, &job.leased);
    let (guard, cost) = (Guard::Fence(leased.fence), cost(job, told));
    let micros = cost.as_ref().map_or(0, |cost| cost.micros);
    let spent = WorkSummary {
        cost: cost.clone(),
        model: model(job),
        began_ms: job.signals().began_ms(context.now_ms()),
    };
    match settle_paid(core, &leased.id, guard, outcome, spent).await {
        Ok(_) => {
            core.pool.member(job.worker()).took(micros);
            took(context, job, cost.as_ref());
        }
        Err(error) => {
            tracing::error!(%error, job = %leased.id, "a failure could not be stored; the lease will expire");
        }
    }
}

/// Stores what was made at once and settles. While the asset store or the store is away it is tried again: what was paid for
/// once must not be paid for twice, so only what costs nothing is ever made anew.
pub(super) async fn finish_at_once(
    core: &RunnerCore,
    job: &RunningJob,
    made: WorkOutput,
    asked: u32,
) {
    let (context, leased) = (&core.context, &job.leased);
    let free = job.backend().lost_submit() == LostSubmit::Repeat;
    let mut pauses = PAUSES_MS.into_iter();
    loop {
        let Err(fault) = finish(core, job, made.clone(), asked).await else {
            return;
        };
        let pause = pauses.next();
        let stopping = free && context.stopping().is_cancelled();
        let late = context.steady_ms() >= leased.deadline_ms || stopping;
        let passes = react(fault.class).job.may_pass();
        if !passes || late || (free && pause.is_none()) {
            if free {
                fail_or_retry(core, leased, &fault).await;
            } else {
                fail_paid(core, job, made.cost.as_ref(), failure_from(&fault)).await;
            }
            return;
        }
        let pause_ms = pause.unwrap_or(PAUSE_MOST_MS);
        tokio::time::sleep(Duration::from_millis(pause_ms)).await;
    }
}
