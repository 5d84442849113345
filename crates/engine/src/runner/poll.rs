//! A question to a vendor about a job it has, and what the answer means.

use std::time::Duration;

use atelier_backends::backend::{Acceptance, NextPass, PollOutcome, StartOutcome, Work};
use atelier_backends::http::{with_fence, with_traceparent};
use atelier_backends::{Class, Fault, WorkOutput};
use serde_json::Value;
use tokio::time::Instant;

use crate::meters::POLL;
use crate::runner::abandon::AbandonedJob;
use crate::runner::fail::{UNKNOWN, explain, fail, not_made};
use crate::runner::finish::{fail_paid, finish, finish_at_once};
use crate::runner::job::RunningJob;
use crate::runner::prepare::with_inputs;
use crate::runner::react::react;
use crate::runner::requeue::{RequeueReason, requeue};
use crate::runner::runner_core::RunnerCore;
use crate::runner::settle::{failure_from, internal_failure};
use crate::runner::ticket;
use crate::tracer::{OpenSpan, SpanKind, TraceContext};

/// A question that takes longer than this has failed.
const POLL_TIMEOUT: Duration = Duration::from_mins(10);
/// A vendor that denies having a lost submit is believed once the intent is older than its submits may take, and this.
const SUBMIT_MARGIN: Duration = Duration::from_secs(30);
/// The pause before it is asked again until then; it doubles up to [`DENIED_MOST`].
const DENIED_LEAST: Duration = Duration::from_secs(3);
const DENIED_MOST: Duration = Duration::from_secs(20);
/// The pause after a failed question; it doubles up to [`PAUSE_MOST`].
const PAUSE_LEAST: Duration = Duration::from_secs(1);
const PAUSE_MOST: Duration = Duration::from_mins(1);

/// A job that is to be asked about again, and the pause before; `None` when it is over.
pub(super) type NextPoll = Option<(RunningJob, Duration)>;

/// What came of a question.
pub(super) enum JobPoll {
    /// It is asked again, or over.
    Again(NextPoll),
    /// The next part is to be ordered, which nobody may interrupt.
    Step(RunningJob, NextPass),
    /// Nobody wants it any more: its vendor is to be told, and nobody waits for that.
    Unwanted(Box<AbandonedJob>),
}

/// Asks the vendor about a job and acts on the answer.
pub(super) async fn poll(core: &RunnerCore, job: RunningJob) -> JobPoll {
    if job.signals().stop.is_cancelled() {
        return abandon(&job);
    }
    let Some(work) = &job.work else {
        debug_assert!(false, "no vendor has this job");
        return JobPoll::Again(None);
    };
    let stop = job.stop();
    if let Some(ticket) = &job.ticket {
        let backend = job.backend();
        let span = poll_span(core, &job);
        let parent = span.context().map(TraceContext::header);
        // Some vendors are asked by ordering again what they may have lost; a plain question takes no notice.
        let question = with_fence(job.lease(&core.context), backend.poll(work, ticket));
        let question = with_traceparent(parent, Box::pin(question));
        let question = tokio::time::timeout(POLL_TIMEOUT, question);
        let asked_at = Instant::now();
        let answer = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            answer = question => Some(answer),
        };
        if let Some(Ok(answer)) = &answer {
            let (meters, vendor) = (core.context.meters(), job.slot.vendor());
            let fault = answer.as_ref().err();
            let mark = job.leased.mark(core.context.now_ms());
            meters.called(vendor, POLL, asked_at.elapsed(), fault, mark);
            close_poll_span(core, span, answer);
        }
        match answer {
            None => {}
            Some(Ok(Ok(PollOutcome::Step(step)))) => return JobPoll::Step(job, step),
            Some(Ok(answer)) => {
                return JobPoll::Again(Box::pin(handle_reply(core, job, answer)).await);
            }
            Some(Err(_)) => {
                let fault = Fault::vendor(Class::Retry, "no answer to a question");
                return JobPoll::Again(Box::pin(handle_reply(core, job, Err(fault))).await);
            }
        }
    } else {
        // By the time at which it is asked, not by that of its answer.
        let early = still_on_its_way(core, &job, work);
        let answer = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            answer = Box::pin(look_up(core, &job, work, early.is_none())) => Some(answer),
        };
        if let Some(answer) = answer {
            return JobPoll::Again(Box::pin(handle_lookup(core, job, answer, early)).await);
        }
    }
    abandon(&job)
}

fn poll_span(core: &RunnerCore, job: &RunningJob) -> OpenSpan {
    let (context, above) = (&core.context, job.leased.trace);
    let now_ms = context.now_ms();
    let span = context.tracer().open(above, POLL, SpanKind::Client, now_ms);
    span.with("atelier.vendor", job.slot.vendor())
}

/// Tells of a question that failed or was the last one: those in between say nothing.
fn close_poll_span(core: &RunnerCore, span: OpenSpan, answer: &Result<PollOutcome, Fault>) {
    let error = match answer {
        Ok(PollOutcome::Running(_)) => return,
        Ok(PollOutcome::Done(_) | PollOutcome::Step(_)) => None,
        Ok(PollOutcome::Failed(fault)) | Err(fault) => Some(fault.detail.clone()),
    };
    core.context.tracer().close(span, error);
}

/// What the answer to a question means.
async fn handle_reply(
    core: &RunnerCore,
    mut job: RunningJob,
    answer: Result<PollOutcome, Fault>,
) -> NextPoll {
    let (context, pool) = (&core.context, &core.pool);
    match answer {
        Ok(PollOutcome::Running(pause)) => {
            job.errors = 0;
            pool.member(job.worker()).poll_answered(context.steady_ms());
            Some((job, pause))
        }
        Ok(PollOutcome::Done(made)) => {
            let asked = items_requested(&job);
            let Err(fault) = finish(core, &job, made.clone(), asked).await else {
                return None;
            };
            not_stored(core, job, &made, &fault).await
        }
        Ok(PollOutcome::Failed(fault)) => {
            pool.member(job.worker()).fault(&fault, context.steady_ms());
            context.meters().failed(job.slot.vendor(), &fault);
            vendor_failed(core, &job, &fault).await;
            None
        }
        Ok(PollOutcome::Step(_)) => None,
        Err(fault) => {
            // The question failed, not the job: the vendor still has it.
            tracing::debug!(job = %job.id(), detail = %fault.detail, "a poll failed");
            pool.member(job.worker())
                .poll_failed(&fault, context.steady_ms());
            Some(poll_later(job, fault.after))
        }
    }
}

/// The vendor ended a job without a result. What was paid for is not begun anew, and of what was perhaps ordered nobody
/// knows the end.
pub(super) async fn vendor_failed(core: &RunnerCore, job: &RunningJob, fault: &Fault) {
    let paid = fault.cost.as_ref();
    if fault.taken == Acceptance::Perhaps {
        tracing::warn!(job = %job.id(), detail = %fault.detail, "the response to a submit was lost");
        fail_paid(core, job, paid, internal_failure(UNKNOWN)).await;
    } else if paid.is_some() {
        tracing::info!(job = %job.id(), class = fault.class.word(), detail = %fault.detail, "{}", fault.message);
        explain(&core.context, &job.leased, fault).await;
        fail_paid(core, job, paid, failure_from(fault)).await;
    } else {
        // What this back end found on the way that it cannot do, the next one may.
        not_made(core, &job.leased, job.worker(), fault).await;
    }
}

/// For how long a lost submit may still be on its way; `None` when the vendor is believed that it never had it.
fn still_on_its_way(core: &RunnerCore, job: &RunningJob, work: &Work) -> Option<Duration> {
    let limit = job.backend().submit_limit(work) + SUBMIT_MARGIN;
    let limit_ms = i64::try_from(limit.as_millis()).unwrap_or(i64::MAX);
    let until_ms = job.asked_ms.saturating_add(limit_ms);
    let left_ms = until_ms - core.context.steady_ms();
    u64::try_from(left_ms)
        .ok()
        .filter(|left| *left > 0)
        .map(Duration::from_millis)
}

/// Looks for a lost submit. Some vendors are asked by repeating it, which is an order like the first one: it goes out only
/// while the job is this node's.
async fn look_up(
    core: &RunnerCore,
    job: &RunningJob,
    work: &Work,
    late: bool,
) -> Result<Option<StartOutcome>, Fault> {
    let work = with_inputs(core, work.clone(), &job.leased.account_id, false).await?;
    let (backend, lease) = (job.backend(), job.lease(&core.context));
    with_fence(lease, backend.look_up(&work, late)).await
}

/// What became of a lost submit; one that is found becomes a job like any other.
async fn handle_lookup(
    core: &RunnerCore,
    job: RunningJob,
    answer: Result<Option<StartOutcome>, Fault>,
    early: Option<Duration>,
) -> NextPoll {
    let (context, pool) = (&core.context, &core.pool);
    match answer {
        Ok(Some(StartOutcome::Ticket(ticket))) => {
            pool.member(job.worker()).accepted(context.steady_ms());
            has_ticket(core, job, ticket).await
        }
        Ok(Some(StartOutcome::Done(made))) => {
            let asked = items_requested(&job);
            finish_at_once(core, &job, made, asked).await;
            None
        }
        Ok(None) => match early {
            Some(left) => Some(not_yet(job, left)),
            None => denied(core, &job).await,
        },
        Err(fault) if react(fault.class).job.may_pass() => {
            pool.member(job.worker())
                .poll_failed(&fault, context.steady_ms());
            Some(poll_later(job, fault.after))
        }
        // It cannot even be asked about, such as without a picture that is gone by now.
        Err(fault) => {
            tracing::warn!(job = %job.id(), detail = %fault.detail, "a lost submit cannot be looked up");
            fail(core, &job.leased, internal_failure(UNKNOWN)).await;
            None
        }
    }
}

async fn has_ticket(core: &RunnerCore, mut job: RunningJob, ticket: Value) -> NextPoll {
    let attempt_id = job.work.as_ref().map(|work| work.attempt_id.as_str());
    let attempt_id = attempt_id.unwrap_or_default();
    let written = ticket::write_down(&core.context, &job.leased, attempt_id, &ticket).await;
    job.ticket = Some(ticket);
    if written {
        // The ticket's commit says so.
        job.signals().set_marked();
        core.context.wake_job(job.id());
    }
    written.then_some((job, Duration::ZERO))
}

/// The vendor does not have the work yet, and may still get it.
fn not_yet(mut job: RunningJob, left: Duration) -> (RunningJob, Duration) {
    let pause = DENIED_LEAST.saturating_mul(1 << job.missing.min(6));
    (job.missing, job.errors) = (job.missing + 1, 0);
    (job, pause.min(DENIED_MOST).min(left))
}

/// The vendor does not have the work, and will not get it any more.
async fn denied(core: &RunnerCore, job: &RunningJob) -> NextPoll {
    let (context, leased) = (&core.context, &job.leased);
    if leased.begun >= context.settings().jobs.tries {
        fail(core, leased, internal_failure(UNKNOWN)).await;
        return None;
    }
    let why = RequeueReason::lost("the vendor never had it");
    if let Err(error) = requeue(context, leased, context.steady_ms(), why).await {
        tracing::warn!(%error, job = %leased.id, "a lost submit could not be released; its lease will expire");
    }
    None
}

/// This service could not store a result: the vendor keeps it, so it is fetched again later.
async fn not_stored(
    core: &RunnerCore,
    job: RunningJob,
    made: &WorkOutput,
    fault: &Fault,
) -> NextPoll {
    if react(fault.class).job.may_pass() {
        tracing::warn!(job = %job.id(), detail = %fault.detail, "a result is still at the vendor");
        return Some(poll_later(job, None));
    }
    fail_paid(core, &job, made.cost.as_ref(), failure_from(fault)).await;
    None
}

pub(super) fn poll_later(mut job: RunningJob, after: Option<Duration>) -> (RunningJob, Duration) {
    let pause = PAUSE_LEAST.saturating_mul(1 << job.errors.min(6));
    job.errors += 1;
    (job, after.unwrap_or(pause).min(PAUSE_MOST))
}

/// How many items the job asks for.
fn items_requested(job: &RunningJob) -> u32 {
    job.work.as_ref().map_or(1, |work| work.brief.count)
}

/// Nobody wants the job any more, or another node has it. Only the first is the vendor's business, and only for this
/// attempt's own ticket.
fn abandon(job: &RunningJob) -> JobPoll {
    match (&job.work, &job.ticket) {
        (Some(work), Some(ticket)) if job.signals().is_unwanted() => {
            let abandoned = AbandonedJob::of(job, work, ticket.clone());
            JobPoll::Unwanted(Box::new(abandoned))
        }
        _ => JobPoll::Again(None),
    }
}
