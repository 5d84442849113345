//! The beginning of an attempt: the intent is written down where a repeat would cost, then the worker account is asked.

use atelier_backends::backend::{Acceptance, LostSubmit, StartOutcome, Work};
use atelier_backends::http::{with_fence, with_traceparent};
use atelier_backends::{Cost, Fault, WorkOutput};
use atelier_contract::AttemptId;
use atelier_contract::hooks::HOOK_PATH;
use atelier_store::{AttemptStart, StartLimits};
use serde_json::Value;
use tokio::time::Instant;

use crate::context::Context;
use crate::crash;
use crate::meters::START;
use crate::runner::job::RunningJob;
use crate::runner::prepare::{PrepareError, prepare, stripped};
use crate::runner::runner_core::RunnerCore;
use crate::runner::ticket;
use crate::runner::unknown_model::with_model;
use crate::tracer::{SpanKind, TraceContext};

/// An intent that is older is written down again before the vendor is asked: far less than what a submit is given beyond its limit.
const INTENT_FRESH_MS: i64 = 5_000;

/// What came of the beginning of an attempt.
pub(super) enum JobStart {
    /// It is done already.
    Done(WorkOutput, Box<Work>),
    /// The vendor works on it.
    Ticket(Box<Work>, Value),
    /// The vendor may have it, and can be asked whether it has; when it was asked to begin, as far as that still matters.
    LookUp(Box<Work>, i64),
    /// The vendor may have it, and nobody will ever know; what was taken for a part of it before.
    Unknown(Option<Cost>),
    /// The vendor may have it, and does not mind being asked again.
    Repeat(Fault),
    /// Another node has the job now.
    Lost,
    /// There is no place: other nodes gave the worker account all it may have, or this node is about to end.
    Full,
    /// Another build accepted it, and this one does not understand it.
    NotHere(String),
}

/// Asks the worker account to begin. An error means that the vendor certainly does not have the work.
pub(super) async fn begin(core: &RunnerCore, job: &RunningJob) -> Result<JobStart, Fault> {
    let (context, pool, worker) = (&core.context, &core.pool, job.worker());
    let mut work = match Box::pin(prepare(core, job)).await {
        Ok(work) => work,
        Err(PrepareError::NotHere(why)) => return Ok(JobStart::NotHere(why)),
        Err(PrepareError::Fault(fault)) => return Err(fault),
    };
    let attempt = job.leased.attempt();
    work.hook_url = hook_url(context, job, &work.attempt_id);
    if job.slot.recorded() {
        // From here on the vendor may be paid for something that nobody could find again.
        let paid = job.backend().lost_submit() == LostSubmit::Unknown;
        job.signals().set_paid(paid);
        let watched = context.wakes().is_watched(job.id());
        if job.leased.intended && context.stopping().is_cancelled() && !watched {
            // The end of this node may have given the job away already; nobody has asked the vendor, and nobody waits here.
            return Ok(JobStart::Full);
        }
        if !job.leased.intended || is_stale(context, job) {
            let mut intent = job
                .slot
                .intent(job.id(), job.leased.fence, context.steady_ms());
            if job.leased.intended {
                // It is counted already.
                intent.limits = StartLimits::default();
            }
            let began = context.store().attempts().begin(intent).await;
            match began.map_err(|error| Fault::internal(format!("store: {error}")))? {
                AttemptStart::Yes => {}
                AttemptStart::Lost => return Ok(JobStart::Lost),
                AttemptStart::Full => {
                    pool.mark_full(worker);
                    return Ok(JobStart::Full);
                }
            }
        }
    }
    job.slot.begin();
    crash::point("runner.before_start");
    // The inputs go with the start; what is kept for polling has none of their bytes.
    let kept = Box::new(stripped(&work));
    let asked_ms = context.steady_ms();
    let started = ask(context, job, work, &attempt).await;
    crash::point("runner.started");
    let fault = match started {
        Ok(StartOutcome::Done(made)) => {
            // It was taken and done in one; what is left is to keep it.
            kept.progress.begin();
            pool.member(worker).accepted(context.steady_ms());
            return Ok(JobStart::Done(made, kept));
        }
        Ok(StartOutcome::Ticket(ticket)) => {
            pool.member(worker).accepted(context.steady_ms());
            return Ok(Box::pin(keep_ticket(context, job, kept, ticket)).await);
        }
        Err(fault) => with_model(fault, &kept),
    };
    pool.member(worker).fault(&fault, context.steady_ms());
    if fault.taken == Acceptance::No {
        return Err(fault);
    }
    Ok(match job.backend().lost_submit() {
        LostSubmit::Repeat => JobStart::Repeat(fault),
        LostSubmit::LookUp => {
            let asked_ms = asked_ms.min(last_asked_ms(context, job, &kept));
            JobStart::LookUp(kept, asked_ms)
        }
        LostSubmit::Unknown => {
            tracing::warn!(job = %job.id(), %worker, detail = %fault.detail, "the response to a submit was lost");
            JobStart::Unknown(fault.cost)
        }
    })
}

/// Whether what was intended with the acceptance has to be written down again. It might be another's by now: a node that stops
/// hands back what it has, somebody may have ended the job, and its lease may have run out. Or it is so old that whoever finds
/// nothing but the intent would take the order for older than it is.
fn is_stale(context: &Context, job: &RunningJob) -> bool {
    let fresh_ms = context.settings().jobs.lease_s.ms().min(INTENT_FRESH_MS);
    context.stopping().is_cancelled()
        || job.signals().stop.is_cancelled()
        || context.steady_ms() - job.leased.queued_ms >= fresh_ms
}

/// When a vendor whose calls went one after the other would have been asked to begin, if all of them had taken their time: none
/// went after the one that has just failed.
fn last_asked_ms(context: &Context, job: &RunningJob, work: &Work) -> i64 {
    let backend = job.backend();
    let before = backend.submit_limit(work);
    let before = before.saturating_sub(backend.last_call_limit(work));
    let before_ms = i64::try_from(before.as_millis()).unwrap_or(i64::MAX);
    context.steady_ms().saturating_sub(before_ms)
}

/// Asks the worker account to begin, and takes note of how that went.
async fn ask(
    context: &Context,
    job: &RunningJob,
    work: Work,
    attempt: &AttemptId,
) -> Result<StartOutcome, Fault> {
    let (leased, vendor) = (&job.leased, job.slot.vendor());
    let (meters, tracer, now_ms) = (context.meters(), context.tracer(), context.now_ms());
    let mark = leased.mark(now_ms);
    meters.began(&leased.operation, (now_ms - leased.created_ms).max(0), mark);
    // How long it waited for a place.
    let wait = tracer.open(leased.trace, "lease", SpanKind::Internal, now_ms);
    if let Some(parent) = wait.context() {
        let wait = wait.since(parent, leased.created_ms, now_ms);
        tracer.close(wait.with("atelier.node", context.node()), None);
    }
    let span = tracer
        .open(leased.trace, START, SpanKind::Client, now_ms)
        .with("atelier.vendor", vendor)
        .with("atelier.worker", job.worker())
        .with("atelier.attempt", attempt);
    let parent = span.context().map(TraceContext::header);
    let (asked_at, backend) = (Instant::now(), job.backend());
    let ordering = with_fence(job.lease(context), backend.start(work));
    let started = with_traceparent(parent, ordering).await;
    let fault = started.as_ref().err();
    let mark = leased.mark(context.now_ms());
    meters.called(vendor, START, asked_at.elapsed(), fault, mark);
    tracer.close(span, fault.map(|fault| fault.detail.clone()));
    started
}

/// Writes the ticket down. Whoever has the job by now cannot know of it, unless the vendor tells; nobody at all wants
/// the ticket of a job that is final.
async fn keep_ticket(
    context: &Context,
    job: &RunningJob,
    kept: Box<Work>,
    ticket: Value,
) -> JobStart {
    let attempt_id = &kept.attempt_id;
    let ours =
        !job.slot.recorded() || ticket::write_down(context, &job.leased, attempt_id, &ticket).await;
    if ours {
        crash::point("runner.ticket_recorded");
        job.signals().progress.begin();
        if job.slot.recorded() {
            // The ticket's commit says so.
            job.signals().set_marked();
            context.wake_job(job.id());
            context.wake_account(&job.leased.account_id);
        }
        return JobStart::Ticket(kept, ticket);
    }
    let backend = job.backend();
    if backend.lost_submit() != LostSubmit::LookUp || job.signals().is_unwanted() {
        backend.cancel(&ticket).await;
    }
    JobStart::Lost
}

/// Where the vendor may post that an attempt is worth a look.
pub(super) fn hook_url(context: &Context, job: &RunningJob, attempt_id: &str) -> Option<String> {
    let base = &context.settings().urls.hooks;
    if base.is_empty() || !job.slot.recorded() {
        return None;
    }
    let backend = job.worker().backend();
    let token = context
        .keyring()
        .hook_token(backend, &AttemptId::new(attempt_id));
    Some(format!("{base}{HOOK_PATH}{backend}/{token}"))
}
