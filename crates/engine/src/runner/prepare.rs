//! Before a back end is asked: its work is put together.

use std::sync::Arc;

use atelier_backends::Fault;
use atelier_backends::backend::Work;
use atelier_contract::body::Fields;
use atelier_contract::brief::Brief;
use atelier_contract::kept::UNDERSTOOD;
use atelier_contract::{AccountId, Code, Refusal};
use atelier_fairness::reservation::Reservation;
use serde_json::Value;

use crate::order::{LoadedReferences, ResolvedRequest, resolve_again, resolve_request};
use crate::runner::job::{LeasedJob, RunningJob};
use crate::runner::register::Signals;
use crate::runner::runner_core::RunnerCore;
use crate::tracer::TRACE_FIELD;

/// Why a work could not be put together.
pub(super) enum PrepareError {
    /// This build does not understand what another one accepted.
    NotHere(String),
    /// Anything else.
    Fault(Fault),
}

impl From<Fault> for PrepareError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Everything a back end needs for a new attempt.
pub(super) async fn prepare(core: &RunnerCore, job: &RunningJob) -> Result<Work, PrepareError> {
    let leased = &job.leased;
    let attempt = leased.attempt().to_string();
    let mut work = without_inputs(core, leased, attempt, job.signals()).await?;
    job.follow_route(&mut work.brief);
    work.reserved = job.slot.reserved();
    let looks = job.backend().takes_hints();
    // Inputs may take long to come; there are others to work for meanwhile.
    let inputs = work.brief.inputs().count();
    let unread = if looks { 0 } else { work.brief.hints.len() };
    let has_inputs = inputs > unread || work.brief.video.is_some();
    if !job.slot.recorded() {
        job.signals().progress.rest(true);
        let work = with_inputs(core, work, &leased.account_id, looks).await?;
        job.signals().progress.rest(false);
        return Ok(work);
    }
    if has_inputs {
        job.slot.leave();
        core.context.wakes().work.notify_one();
        work = with_inputs(core, work, &leased.account_id, looks).await?;
        job.slot.come_back(|| core.context.steady_ms()).await;
    }
    Ok(work)
}

/// The work with the bytes of its inputs; a back end that does not look at hints finds their addresses in the words.
pub(super) async fn with_inputs(
    core: &RunnerCore,
    mut work: Work,
    account_id: &AccountId,
    takes_hints: bool,
) -> Result<Work, Fault> {
    let hints = if takes_hints {
        Vec::new()
    } else {
        std::mem::take(&mut work.brief.hints)
    };
    core.assets.read_inputs(account_id, &mut work).await?;
    work.brief.hints.extend(hints);
    Ok(work)
}

/// What is needed to go on with an attempt that a vendor knows already: everything but the inputs.
pub(super) async fn without_inputs(
    core: &RunnerCore,
    leased: &LeasedJob,
    attempt_id: String,
    signals: &Signals,
) -> Result<Work, PrepareError> {
    let mut fields: Fields =
        serde_json::from_str(&leased.request).map_err(|error| Fault::ours(error.to_string()))?;
    fields.remove(TRACE_FIELD);
    let understood = fields.remove(UNDERSTOOD);
    let Some((_, submit)) = atelier_contract::operation(&leased.operation) else {
        let detail = format!("unknown operation {}", leased.operation);
        return Err(PrepareError::NotHere(detail));
    };
    let refused = |refusal: Refusal| match refusal.code {
        Code::Overloaded => Fault::internal(refusal.message),
        _ => Fault::unusable(refusal.message),
    };
    // Whoever accepted it understood it.
    let request = (submit.parse_stored)(fields.clone());
    let request = request.map_err(|refusal| PrepareError::NotHere(refusal.message))?;
    let (context, assets) = (&core.context, &core.assets);
    let (order, LoadedReferences { parent, cited }) = if let Some(known) = &leased.referred {
        let order = resolve_again(request.as_ref(), known).map_err(refused)?;
        (order, known.clone())
    } else {
        let ordered = resolve_request(context, assets, &leased.account_id, request.as_ref()).await;
        let ResolvedRequest {
            order,
            parent,
            cited,
            ..
        } = ordered.map_err(refused)?;
        (order, LoadedReferences { parent, cited })
    };
    let mut brief = order.brief;
    put_english(understood, &mut brief, &mut fields);
    Ok(Work {
        job_id: leased.id.clone(),
        attempt_id,
        whose: leased.account_id.as_str().into(),
        long: leased.long,
        reserved: Reservation::default(),
        operation: leased.operation.clone(),
        request: fields,
        brief: *brief,
        sources: Vec::new(),
        hints: Vec::new(),
        mask: None,
        video: None,
        parent,
        cited,
        read: assets.reader(),
        progress: signals.progress.clone(),
        cancelled: signals.stop.clone(),
        hook_url: None,
    })
}

/// Puts a prompt as it was understood into the place of what was written.
pub(crate) fn put_english(understood: Option<Value>, brief: &mut Brief, fields: &mut Fields) {
    let Some(Value::String(english)) = understood else {
        return;
    };
    let words = std::mem::replace(&mut brief.prompt, english);
    // Some vendors get the request as it came, flags and all.
    if let Some(Value::String(prompt)) = fields.get_mut("prompt") {
        *prompt = prompt.replacen(&words, &brief.prompt, 1);
    }
}

/// A copy of the work without the bytes of its inputs.
pub(super) fn stripped(work: &Work) -> Work {
    Work {
        job_id: work.job_id.clone(),
        attempt_id: work.attempt_id.clone(),
        whose: Arc::clone(&work.whose),
        long: work.long,
        reserved: Reservation::default(),
        operation: work.operation.clone(),
        request: work.request.clone(),
        brief: work.brief.clone(),
        sources: Vec::new(),
        hints: Vec::new(),
        mask: None,
        video: None,
        parent: work.parent.clone(),
        cited: work.cited.clone(),
        read: Arc::clone(&work.read),
        progress: work.progress.clone(),
        cancelled: work.cancelled.clone(),
        hook_url: work.hook_url.clone(),
    }
}
