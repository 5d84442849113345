//! The beginning of an attempt: the intent is written down where a repeat would cost, then the worker account is asked.

use atelier_backends::backend::{LostSubmit, Started, Taken, Work};
use atelier_backends::http::{carrying, fenced};
use atelier_backends::{Fault, Made};
use atelier_contract::AttemptId;
use atelier_contract::hooks::HOOK_PATH;
use atelier_store::{Began, StartLimits};
use serde_json::Value;
use tokio::time::Instant;

use crate::crash;
use crate::floor::context::Context;
use crate::floor::job::RunningJob;
use crate::floor::prepare::{Unready, prepare, stripped};
use crate::floor::ticket;
use crate::house::House;
use crate::meters::START;
use crate::tracer::{Kind as SpanKind, TraceContext};

/// What came of the beginning of an attempt.
pub(super) enum Begun {
    /// It is done already.
    Done(Made, Box<Work>),
    /// The vendor works on it.
    Ticket(Box<Work>, Value),
    /// The vendor may have it, and can be asked whether it has; when it was asked to begin.
    LookUp(Box<Work>, i64),
    /// The vendor may have it, and nobody will ever know.
    Unknown,
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
pub(super) async fn begin(context: &Context, job: &RunningJob) -> Result<Begun, Fault> {
    let (house, pool, worker) = (&context.house, &context.pool, job.worker());
    let mut work = match Box::pin(prepare(context, job)).await {
        Ok(work) => work,
        Err(Unready::NotHere(why)) => return Ok(Begun::NotHere(why)),
        Err(Unready::Fault(fault)) => return Err(fault),
    };
    let attempt = job.leased.attempt();
    work.hook_url = hook_url(house, job, &attempt);
    if job.slot.recorded() {
        // From here on the vendor may be paid for something that nobody could find again.
        let paid = job.backend().lost_submit() == LostSubmit::Unknown;
        job.signals().set_paid(paid);
        let watched = house.wakes.is_watched(job.id());
        if job.leased.intended && house.stopping.is_cancelled() && !watched {
            // The end of this node may have given the job away already; nobody has asked the vendor, and nobody waits here.
            return Ok(Begun::Full);
        }
        if !job.leased.intended || may_be_lost(house, job) {
            let mut intent = job
                .slot
                .intent(job.id(), job.leased.fence, house.steady_ms());
            if job.leased.intended {
                // It is counted already.
                intent.limits = StartLimits::default();
            }
            let began = house.store.begin_attempt(intent).await;
            match began.map_err(|error| Fault::house(format!("store: {error}")))? {
                Began::Yes => {}
                Began::Lost => return Ok(Begun::Lost),
                Began::Full => {
                    pool.fill(worker);
                    return Ok(Begun::Full);
                }
            }
        }
    }
    job.slot.begin();
    crash::point("runner.before_start");
    // The inputs go with the start; what is kept for polling has none of their bytes.
    let kept = Box::new(stripped(&work));
    let asked_ms = house.steady_ms();
    let started = ask(house, job, work, &attempt).await;
    crash::point("runner.started");
    let fault = match started {
        Ok(Started::Done(made)) => {
            // It was taken and done in one; what is left is to keep it.
            kept.progress.begin();
            pool.accepted(worker, house.steady_ms());
            return Ok(Begun::Done(made, kept));
        }
        Ok(Started::Ticket(ticket)) => {
            pool.accepted(worker, house.steady_ms());
            return Ok(Box::pin(keep_ticket(house, job, kept, ticket)).await);
        }
        Err(fault) => fault,
    };
    pool.fault(worker, &fault, house.steady_ms());
    if fault.taken == Taken::No {
        return Err(fault);
    }
    Ok(match job.backend().lost_submit() {
        LostSubmit::Repeat => Begun::Repeat(fault),
        LostSubmit::LookUp => Begun::LookUp(kept, asked_ms),
        LostSubmit::Unknown => {
            tracing::warn!(job = %job.id(), %worker, detail = %fault.detail, "the answer to a submit was lost");
            Begun::Unknown
        }
    })
}

/// Whether what was intended with the acceptance might be another's by now: a node that stops hands back what it has, somebody
/// may have ended the job, and its lease may have run out.
fn may_be_lost(house: &House, job: &RunningJob) -> bool {
    house.stopping.is_cancelled()
        || job.signals().stop.is_cancelled()
        || house.steady_ms() - job.leased.queued_ms >= house.settings.lease_ms
}

/// Asks the worker account to begin, and takes note of how that went.
async fn ask(
    house: &House,
    job: &RunningJob,
    work: Work,
    attempt: &AttemptId,
) -> Result<Started, Fault> {
    let (leased, vendor) = (&job.leased, job.slot.vendor());
    let (meters, tracer, now_ms) = (&house.meters, &house.tracer, house.now_ms());
    let mark = leased.mark(now_ms);
    meters.began(&leased.operation, (now_ms - leased.created_ms).max(0), mark);
    // How long it waited for a place.
    let wait = tracer.open(leased.trace, "lease", SpanKind::Internal, now_ms);
    if let Some(context) = wait.context() {
        let wait = wait.since(context, leased.created_ms, now_ms);
        tracer.close(wait.with("atelier.node", &house.node), None);
    }
    let span = tracer
        .open(leased.trace, START, SpanKind::Client, now_ms)
        .with("atelier.vendor", vendor)
        .with("atelier.worker", job.worker())
        .with("atelier.attempt", attempt);
    let parent = span.context().map(TraceContext::header);
    let (asked_at, backend) = (Instant::now(), job.backend());
    let ordering = fenced(job.lease(house), backend.start(work));
    let started = carrying(parent, ordering).await;
    let fault = started.as_ref().err();
    let mark = leased.mark(house.now_ms());
    meters.called((vendor, START), asked_at.elapsed(), fault, mark);
    tracer.close(span, fault.map(|fault| fault.detail.clone()));
    started
}

/// Writes the ticket down. Whoever has the job by now cannot know of it, unless the vendor tells; nobody at all wants
/// the ticket of a job that is final.
async fn keep_ticket(house: &House, job: &RunningJob, kept: Box<Work>, ticket: Value) -> Begun {
    let attempt_id = &kept.attempt_id;
    let ours =
        !job.slot.recorded() || ticket::write_down(house, &job.leased, attempt_id, &ticket).await;
    if ours {
        crash::point("runner.ticket_recorded");
        job.signals().progress.begin();
        if job.slot.recorded() {
            // The ticket's commit says so.
            job.signals().set_marked();
            house.wake_job(job.id());
            house.wake_account(&job.leased.account_id);
        }
        return Begun::Ticket(kept, ticket);
    }
    let backend = job.backend();
    if backend.lost_submit() != LostSubmit::LookUp || job.signals().is_unwanted() {
        backend.cancel(&ticket).await;
    }
    Begun::Lost
}

/// Where the vendor may post that this attempt is worth a look.
fn hook_url(house: &House, job: &RunningJob, attempt: &AttemptId) -> Option<String> {
    let base = &house.settings.hook_base_url;
    if base.is_empty() || !job.slot.recorded() {
        return None;
    }
    let backend = job.worker().backend();
    let token = house.keyring.hook_token(backend, attempt);
    Some(format!("{base}{HOOK_PATH}{backend}/{token}"))
}
