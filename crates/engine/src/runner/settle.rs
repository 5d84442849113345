//! Settle: the one function by which a job becomes final, on every path. State, ledger, files and callback row
//! change in one commit; hints go out afterwards.

use atelier_backends::Fault;
use atelier_contract::FaultKind;
use atelier_store::{Cost, Delivery, Guard, JobRow, Outcome, SettleOutcome, Settlement};

use crate::callback_queue::{CLAIM_MS, QueuePermit, QueuedCallback};
use crate::context::Context;
use crate::crash;
use crate::meters::EMBEDDED;
use crate::runner::runner_core::RunnerCore;
use crate::tracer::{SpanKind, TraceContext};

/// A job that ends without a result.
pub(super) fn failed(fault: FaultKind, why: &str) -> Outcome {
    Outcome::Failed {
        fault,
        message: fault.message(why),
    }
}

/// A job that ends with a fault of its back end.
pub(super) fn failure_from(fault: &Fault) -> Outcome {
    Outcome::Failed {
        fault: fault.kind,
        message: fault.job_message(),
    }
}

/// A job that ends because whoever should have made it could not.
pub(super) fn internal_failure(why: &str) -> Outcome {
    failed(FaultKind::Internal, why)
}

/// Makes a job final; `None` when somebody else was faster or the worker's lease has gone to another.
pub(crate) async fn settle(
    core: &RunnerCore,
    job_id: &str,
    guard: Guard,
    outcome: Outcome,
) -> Result<Option<JobRow>, atelier_store::Error> {
    settle_paid(core, job_id, guard, outcome, WorkSummary::default()).await
}

/// What is known of the work on a job that ends.
#[derive(Clone, Default)]
pub(super) struct WorkSummary {
    /// What its vendor took for it, which counts also when the job ended without it.
    pub(super) cost: Option<Cost>,
    /// The model that was worked with.
    pub(super) model: String,
    /// When somebody began with it.
    pub(super) began_ms: Option<i64>,
}

/// Makes a job final together with what is known of the work on it.
pub(super) async fn settle_paid(
    core: &RunnerCore,
    job_id: &str,
    guard: Guard,
    outcome: Outcome,
    spent: WorkSummary,
) -> Result<Option<JobRow>, atelier_store::Error> {
    let context = &core.context;
    // Dated when its turn has come: a queue may be long, and others count from these times.
    let write_slot = context.store().write_slot().await?;
    let (steady_ms, ahead_ms) = (context.steady_ms(), context.clock().ahead_ms());
    let began_ms = steady_ms + ahead_ms;
    let paid = core.copies.is_on().then(|| spent.cost.clone()).flatten();
    let settlement = Settlement {
        job_id: job_id.to_owned(),
        guard,
        outcome,
        cost: spent.cost,
        model: spent.model,
        ledger_id: context.ids().uuid(),
        began_ms: spent.began_ms,
        now_ms: began_ms,
        ahead_ms,
    };
    let room = core.callback_queue.room();
    let until_ms = room.is_some().then_some(steady_ms + CLAIM_MS);
    let ended = context
        .store()
        .jobs()
        .settle_in(write_slot, settlement, until_ms);
    let (settled, claimed) = ended.await?;
    crash::point("settle.done");
    match settled {
        SettleOutcome::Done(row) => {
            let trace = context
                .tracer()
                .is_on()
                .then(|| TraceContext::kept_in(&row.request));
            let trace = trace.flatten();
            let mark = trace.and_then(|trace| trace.mark(context.now_ms()));
            context.meters().ended(&row, mark);
            core.copies.offer(&row, paid.as_ref());
            if let Some(trace) = trace {
                close_job_spans(context, &row, trace, began_ms);
            }
            match (room, claimed) {
                (Some(room), Some(delivery)) => {
                    enqueue_callback(core, room, delivery, &row).await;
                }
                _ if row.hook_url.is_some() => core.callback_queue.wake(context),
                _ => {}
            }
            context.wakes().job_ended(&row);
            context.wake_job(&row.id.as_str().into());
            context.wake_account(&row.account_id);
            Ok(Some(row))
        }
        SettleOutcome::Lost => Ok(None),
    }
}

/// Hands a callback that was claimed by the commit to the callback sender, or gives it back to the store.
async fn enqueue_callback(
    core: &RunnerCore,
    room: QueuePermit<'_>,
    delivery: Delivery,
    row: &JobRow,
) {
    let queued = QueuedCallback {
        since_ms: delivery.next_ms - CLAIM_MS,
        row: row.clone(),
        delivery,
    };
    let queue = &core.callback_queue;
    let Err(back) = queue.give(room, queued) else {
        return;
    };
    queue.return_unsent(&core.context, back.delivery.id).await;
}

/// Tells of the commit that ended a job, and of the job as a whole.
fn close_job_spans(context: &Context, row: &JobRow, trace: TraceContext, began_ms: i64) {
    let (tracer, now_ms) = (context.tracer(), context.now_ms());
    let own = trace.of_job(&row.id);
    let settle = tracer.open(Some(own), "settle", SpanKind::Internal, now_ms);
    if let Some(context) = settle.context() {
        tracer.close(settle.since(context, began_ms, now_ms), None);
    }
    let whole = tracer
        .open(Some(trace), "job", SpanKind::Internal, now_ms)
        .since(own, row.created_ms, now_ms)
        .with("atelier.job", &row.id)
        .with("atelier.operation", &row.operation)
        .with("atelier.worker", row.worker.as_deref().unwrap_or(EMBEDDED));
    tracer.close(whole, row.message.clone());
}
