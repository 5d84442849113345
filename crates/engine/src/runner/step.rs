//! The order of a later part of a job that its vendor makes in several: it costs, so that it is written down before it is
//! sent, and its ticket takes the place of the one before. A part is never ordered twice.

use std::time::Duration;

use atelier_backends::Fault;
use atelier_backends::backend::{Acceptance, LostSubmit, NextPass};
use atelier_backends::http::with_fence;
use serde_json::Value;
use tokio::time::Instant;

use crate::crash;
use crate::meters::START;
use crate::runner::abandon::AbandonedJob;
use crate::runner::job::RunningJob;
use crate::runner::poll::{NextPoll, poll_later, vendor_failed};
use crate::runner::react::react;
use crate::runner::run::LATE_TICKET;
use crate::runner::runner_core::RunnerCore;
use crate::runner::ticket;

/// Has the vendor begin the next part. Nothing is sent before the intent is written down, nor once the process is to end.
pub(super) async fn order(core: &RunnerCore, job: RunningJob, step: NextPass) -> NextPoll {
    let context = &core.context;
    if context.stopping().is_cancelled() {
        return None;
    }
    job.signals().set_paid(true);
    let attempt_id = attempt_of(&job);
    match ticket::write_intent(context, &job.leased, &attempt_id, &step.intent).await {
        Ok(true) => {}
        Ok(false) => return None,
        Err(error) => {
            tracing::warn!(%error, job = %job.id(), "a part is not ordered until its intent can be stored");
            job.signals().set_paid(false);
            return Some(poll_later(job, None));
        }
    }
    crash::point("runner.before_step");
    let sent = send(core, &job, step).await?;
    crash::point("runner.step_taken");
    let fault = match sent {
        Ok(next) => {
            core.pool.member(job.worker()).accepted(context.steady_ms());
            return continue_with(core, job, next).await;
        }
        Err(fault) => fault,
    };
    core.pool
        .member(job.worker())
        .fault(&fault, context.steady_ms());
    let repeats = job.backend().lost_submit() == LostSubmit::Repeat;
    let unsent = fault.taken == Acceptance::No || repeats;
    if unsent && react(fault.class).job.may_pass() {
        // The part before is done and stays so; the next one is ordered again from there.
        tracing::info!(job = %job.id(), detail = %fault.detail, "a part will be ordered again later");
        let before = job.ticket.clone().unwrap_or_default();
        let again = continue_with(core, job, before).await;
        return again.map(|(job, _)| poll_later(job, fault.after));
    }
    job.signals().set_paid(false);
    vendor_failed(core, &job, &fault).await;
    None
}

/// Sends the order; `None` when nobody wants it any more: what comes of it all the same is cancelled.
async fn send(core: &RunnerCore, job: &RunningJob, step: NextPass) -> Option<Result<Value, Fault>> {
    let (stop, lease) = (job.stop(), job.lease(&core.context));
    let mut order = Box::pin(with_fence(lease, step.order));
    let asked_at = Instant::now();
    tokio::select! {
        biased;
        () = stop.cancelled() => {
            if let Ok(Ok(next)) = tokio::time::timeout(LATE_TICKET, order).await {
                end_part(core, job, next).await;
            }
            None
        }
        sent = &mut order => {
            let fault = sent.as_ref().err();
            let mark = job.leased.mark(core.context.now_ms());
            let (meters, vendor) = (core.context.meters(), job.slot.vendor());
            meters.called(vendor, START, asked_at.elapsed(), fault, mark);
            Some(sent)
        }
    }
}

/// Has the vendor stop a part that nobody waits for any more.
async fn end_part(core: &RunnerCore, job: &RunningJob, next: Value) {
    match &job.work {
        Some(work) => Box::pin(AbandonedJob::of(job, work, next).end(core)).await,
        None => job.backend().cancel(&next).await,
    }
}

/// The job goes on with a ticket, provided that it is still this node's.
async fn continue_with(core: &RunnerCore, mut job: RunningJob, next: Value) -> NextPoll {
    let attempt_id = attempt_of(&job);
    let ours = ticket::write_down(&core.context, &job.leased, &attempt_id, &next).await;
    job.signals().set_paid(false);
    if !ours {
        // Whoever has the job by now cannot know of it.
        job.backend().cancel(&next).await;
        return None;
    }
    job.ticket = Some(next);
    Some((job, Duration::ZERO))
}

fn attempt_of(job: &RunningJob) -> String {
    let work = job.work.as_ref();
    work.map(|work| work.attempt_id.clone()).unwrap_or_default()
}
