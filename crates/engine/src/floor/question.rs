//! A question to a vendor about a job it has, and what the answer means.

use std::time::Duration;

use atelier_backends::backend::{Progress, Started, Step, Taken, Work};
use atelier_backends::http::{carrying, fenced};
use atelier_backends::{Class, Fault, Made};
use serde_json::Value;
use tokio::time::Instant;

use crate::floor::context::Context;
use crate::floor::fail::{UNKNOWN, fail, not_made};
use crate::floor::finish::{fail_paid, finish, finish_at_once};
use crate::floor::give_back::{Why, give_back};
use crate::floor::job::RunningJob;
use crate::floor::prepare::with_inputs;
use crate::floor::react::react;
use crate::floor::settle::{broken, refused};
use crate::floor::ticket;
use crate::meters::QUESTION;
use crate::tracer::{Kind as SpanKind, Open as OpenSpan, TraceContext};

/// A question that takes longer than this has failed.
const QUESTION_MOST: Duration = Duration::from_mins(10);
/// A vendor that denies having a lost submit is believed once the intent is older than its submits may take, and this.
const SUBMIT_MARGIN: Duration = Duration::from_secs(30);
/// The pause before it is asked again until then; it doubles up to [`DENIED_MOST`].
const DENIED_LEAST: Duration = Duration::from_secs(3);
const DENIED_MOST: Duration = Duration::from_secs(20);
/// The pause after a failed question; it doubles up to [`PAUSE_MOST`].
const PAUSE_LEAST: Duration = Duration::from_secs(1);
const PAUSE_MOST: Duration = Duration::from_mins(1);

/// A job that is to be asked about again, and the pause before; `None` when it is over.
pub(super) type Again = Option<(RunningJob, Duration)>;

/// What came of a question.
pub(super) enum Asked {
    /// It is asked again, or over.
    Again(Again),
    /// The next part is to be ordered, which nobody may interrupt.
    Step(RunningJob, Step),
}

/// Asks the vendor about a job and acts on the answer.
pub(super) async fn ask(context: &Context, job: RunningJob) -> Asked {
    if job.signals().stop.is_cancelled() {
        let_go(context, &job);
        return Asked::Again(None);
    }
    let Some(work) = &job.work else {
        debug_assert!(false, "no vendor has this job");
        return Asked::Again(None);
    };
    let stop = job.stop();
    if let Some(ticket) = &job.ticket {
        let backend = job.backend();
        let span = question_span(context, &job);
        let parent = span.context().map(TraceContext::header);
        // Some vendors are asked by ordering again what they may have lost; a plain question takes no notice.
        let question = fenced(job.lease(&context.house), backend.poll(work, ticket));
        let question = carrying(parent, Box::pin(question));
        let question = tokio::time::timeout(QUESTION_MOST, question);
        let asked_at = Instant::now();
        let answer = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            answer = question => Some(answer),
        };
        if let Some(Ok(answer)) = &answer {
            let (meters, vendor) = (&context.house.meters, job.slot.vendor());
            let fault = answer.as_ref().err();
            let mark = job.leased.mark(context.house.now_ms());
            meters.called((vendor, QUESTION), asked_at.elapsed(), fault, mark);
            tell(context, span, answer);
        }
        match answer {
            None => {}
            Some(Ok(Ok(Progress::Step(step)))) => return Asked::Step(job, step),
            Some(Ok(answer)) => return Asked::Again(Box::pin(hear(context, job, answer)).await),
            Some(Err(_)) => {
                let fault = Fault::vendor(Class::Retry, "no answer to a question");
                return Asked::Again(Box::pin(hear(context, job, Err(fault))).await);
            }
        }
    } else {
        // By the time at which it is asked, not by that of its answer.
        let early = still_on_its_way(context, &job, work);
        let answer = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            answer = Box::pin(look_up(context, &job, work, early.is_none())) => Some(answer),
        };
        if let Some(answer) = answer {
            return Asked::Again(Box::pin(found(context, job, answer, early)).await);
        }
    }
    let_go(context, &job);
    Asked::Again(None)
}

fn question_span(context: &Context, job: &RunningJob) -> OpenSpan {
    let (house, above) = (&context.house, job.leased.trace);
    let now_ms = house.now_ms();
    let span = house.tracer.open(above, QUESTION, SpanKind::Client, now_ms);
    span.with("atelier.vendor", job.slot.vendor())
}

/// Tells of a question that failed or was the last one: those in between say nothing.
fn tell(context: &Context, span: OpenSpan, answer: &Result<Progress, Fault>) {
    let error = match answer {
        Ok(Progress::Running(_)) => return,
        Ok(Progress::Done(_) | Progress::Step(_)) => None,
        Ok(Progress::Failed(fault)) | Err(fault) => Some(fault.detail.clone()),
    };
    context.house.tracer.close(span, error);
}

/// What the answer to a question means.
async fn hear(context: &Context, mut job: RunningJob, answer: Result<Progress, Fault>) -> Again {
    let (house, pool) = (&context.house, &context.pool);
    match answer {
        Ok(Progress::Running(pause)) => {
            job.errors = 0;
            pool.question_answered(job.worker(), house.steady_ms());
            Some((job, pause))
        }
        Ok(Progress::Done(made)) => {
            let result = (made.clone(), asked(&job));
            let Err(fault) = finish(context, &job, result).await else {
                return None;
            };
            not_stored(context, job, &made, &fault).await
        }
        Ok(Progress::Failed(fault)) => {
            pool.fault(job.worker(), &fault, house.steady_ms());
            house.meters.failed(job.slot.vendor(), &fault);
            ended(context, &job, &fault).await;
            None
        }
        Ok(Progress::Step(_)) => None,
        Err(fault) => {
            // The question failed, not the job: the vendor still has it.
            tracing::debug!(job = %job.id(), detail = %fault.detail, "a question failed");
            pool.question_failed(job.worker(), &fault, house.steady_ms());
            Some(later(job, fault.after))
        }
    }
}

/// The vendor ended a job without a result. What was paid for is not begun anew, and of what was perhaps ordered nobody
/// knows the end.
pub(super) async fn ended(context: &Context, job: &RunningJob, fault: &Fault) {
    let paid = fault.cost.as_ref();
    if fault.taken == Taken::Perhaps {
        tracing::warn!(job = %job.id(), detail = %fault.detail, "the answer to a submit was lost");
        fail_paid(context, job, paid, broken(UNKNOWN)).await;
    } else if paid.is_some() {
        tracing::info!(job = %job.id(), class = fault.class.word(), detail = %fault.detail, "{}", fault.message);
        fail_paid(context, job, paid, refused(fault)).await;
    } else {
        // What this back end found on the way that it cannot do, the next one may.
        not_made(context, &job.leased, job.worker(), fault).await;
    }
}

/// For how long a lost submit may still be on its way; `None` when the vendor is believed that it never had it.
fn still_on_its_way(context: &Context, job: &RunningJob, work: &Work) -> Option<Duration> {
    let limit = job.backend().submit_limit(work) + SUBMIT_MARGIN;
    let limit_ms = i64::try_from(limit.as_millis()).unwrap_or(i64::MAX);
    let until_ms = job.asked_ms.saturating_add(limit_ms);
    let left_ms = until_ms - context.house.steady_ms();
    u64::try_from(left_ms)
        .ok()
        .filter(|left| *left > 0)
        .map(Duration::from_millis)
}

/// Looks for a lost submit. Some vendors are asked by repeating it, which is an order like the first one: it goes out only
/// while the job is this node's.
async fn look_up(
    context: &Context,
    job: &RunningJob,
    work: &Work,
    late: bool,
) -> Result<Option<Started>, Fault> {
    let work = with_inputs(context, work.clone(), &job.leased.account_id, false).await?;
    let (backend, lease) = (job.backend(), job.lease(&context.house));
    fenced(lease, backend.look_up(&work, late)).await
}

/// What became of a lost submit; one that is found becomes a job like any other.
async fn found(
    context: &Context,
    job: RunningJob,
    answer: Result<Option<Started>, Fault>,
    early: Option<Duration>,
) -> Again {
    let (house, pool) = (&context.house, &context.pool);
    match answer {
        Ok(Some(Started::Ticket(ticket))) => {
            pool.accepted(job.worker(), house.steady_ms());
            has_ticket(context, job, ticket).await
        }
        Ok(Some(Started::Done(made))) => {
            let result = (made, asked(&job));
            finish_at_once(context, &job, result).await;
            None
        }
        Ok(None) => match early {
            Some(left) => Some(not_yet(job, left)),
            None => denied(context, &job).await,
        },
        Err(fault) if react(fault.class).job.may_pass() => {
            pool.question_failed(job.worker(), &fault, house.steady_ms());
            Some(later(job, fault.after))
        }
        // It cannot even be asked about, such as without a picture that is gone by now.
        Err(fault) => {
            tracing::warn!(job = %job.id(), detail = %fault.detail, "a lost submit cannot be looked up");
            fail(house, &job.leased, broken(UNKNOWN)).await;
            None
        }
    }
}

async fn has_ticket(context: &Context, mut job: RunningJob, ticket: Value) -> Again {
    let attempt_id = job.work.as_ref().map(|work| work.attempt_id.as_str());
    let attempt_id = attempt_id.unwrap_or_default();
    let written = ticket::write_down(&context.house, &job.leased, attempt_id, &ticket).await;
    job.ticket = Some(ticket);
    if written {
        // The ticket's commit says so.
        job.signals().set_marked();
        context.house.wake_job(job.id());
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
async fn denied(context: &Context, job: &RunningJob) -> Again {
    let (house, leased) = (&context.house, &job.leased);
    if leased.begun >= house.settings.tries_most {
        fail(house, leased, broken(UNKNOWN)).await;
        return None;
    }
    let why = Why::lost("the vendor never had it");
    if let Err(error) = give_back(house, leased, house.steady_ms(), why).await {
        tracing::warn!(%error, job = %leased.id, "a lost submit was not given back; its lease will run out");
    }
    None
}

/// This house could not store a result: the vendor keeps it, so it is fetched again later.
async fn not_stored(context: &Context, job: RunningJob, made: &Made, fault: &Fault) -> Again {
    if react(fault.class).job.may_pass() {
        tracing::warn!(job = %job.id(), detail = %fault.detail, "a result waits at the vendor");
        return Some(later(job, None));
    }
    fail_paid(context, &job, made.cost.as_ref(), refused(fault)).await;
    None
}

pub(super) fn later(mut job: RunningJob, after: Option<Duration>) -> (RunningJob, Duration) {
    let pause = PAUSE_LEAST.saturating_mul(1 << job.errors.min(6));
    job.errors += 1;
    (job, after.unwrap_or(pause).min(PAUSE_MOST))
}

/// How many items the job asks for.
fn asked(job: &RunningJob) -> u32 {
    job.work.as_ref().map_or(1, |work| work.brief.count)
}

/// Nobody wants the job any more, or another node has it. Only the first is the vendor's business, and only for this
/// attempt's own ticket.
fn let_go(context: &Context, job: &RunningJob) {
    if !job.signals().is_unwanted() {
        return;
    }
    if let Some(ticket) = job.ticket.clone() {
        let backend = job.backend();
        let tasks = &context.house.tasks;
        tasks.spawn(async move { backend.cancel(&ticket).await });
    }
}
