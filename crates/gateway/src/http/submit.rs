//! Submits work. What comes back is the table's business: a job id at once, or the result when it is there; or what the caller
//! asks for instead of waiting.

use std::sync::Arc;

use atelier_contract::body::Fields;
use atelier_contract::family::{ASYNC, AnswerMode, AnswerWay, Family, SubmitEndpoint};
use atelier_contract::models::model_of;
use atelier_engine::Call;
use atelier_fairness::share::FairPermit;
use hyper::http::request::Parts;
use serde_json::Value;

use super::admission::{Admission, capacity_denial};
use super::body::UnreadBody;
use super::denial::Denial;
use super::idempotency::idempotency_key;
use super::reply::RefusalShape;
use super::request::{HandlerResult, IncomingRequest};
use super::sync_answer::SyncWait;
use super::{answer, body, form, reply};
use crate::app::App;
use crate::config::Role;

/// Takes a submit of any family.
pub(super) async fn accept(
    app: &Arc<App>,
    received: IncomingRequest,
    body: UnreadBody,
    family: &'static Family,
    entry: &'static SubmitEndpoint,
) -> HandlerResult {
    let caller = received.caller()?.clone();
    let callers = app.engine.admin().callers();
    let idempotency_key = idempotency_key(&received.head.headers)?;
    let IncomingRequest {
        head,
        from,
        admission,
        ..
    } = received;
    let (mut fields, files) = if entry.files.is_empty() {
        let fields = body::fields(app, &head, body, entry.most_bytes).await?;
        (fields, Vec::new())
    } else {
        let form = form::read_either(app, &head, body, entry.files, entry.most_bytes).await?;
        (form.fields, form.files)
    };
    if entry.reads_query {
        fields = entry.merged(body::query(&head)?, fields);
    }
    admission.lap("body");
    let caller = callers.refreshed(&caller).await?;
    let way = answer_way(&head, entry, &mut fields)?;
    let stream = stream_place(app, &admission, way)?;
    let patience = patience_s(app, family, entry, &fields);
    let account_id = caller.account_id.clone();
    let custody = from.role == Role::Custody && family.custody;
    let call = Call {
        caller,
        family,
        submit: entry,
        fields,
        files,
        idempotency_key,
        custody,
        notes: Fields::new(),
        begun: admission.waits_since(),
    };
    let engine = Arc::clone(&app.engine);
    let submitted = admission
        .spend(async move { engine.intake().submit(call).await })
        .await??;
    admission.lap("accepted");
    let AnswerMode::Answer(render) = entry.answers_with else {
        return Ok(reply::json_of(&family.accepted(&submitted.job_id)));
    };
    if way == AnswerWay::Later {
        return Ok(answer::accepted(app, &account_id, &submitted.job_id).await);
    }
    let wait = SyncWait {
        app: Arc::clone(app),
        account_id,
        submitted,
        entry,
        shape: RefusalShape::of(entry.path),
        wants_bytes: entry.wants_bytes,
        render,
        patience_s: patience,
    };
    let answer = match stream {
        Some(place) => wait.stream(&admission, place).await,
        None => wait.answer(&admission).await,
    };
    admission.lap("made");
    answer
}

/// How the answer is wanted. A preference of the head counts as the field of the body, unless that says otherwise.
fn answer_way(
    head: &Parts,
    entry: &SubmitEndpoint,
    fields: &mut Fields,
) -> Result<AnswerWay, Denial> {
    if matches!(entry.answers_with, AnswerMode::Answer(_))
        && answer::prefers_later(&head.headers)
        && fields.get(ASYNC).is_none_or(Value::is_null)
    {
        fields.insert(ASYNC.to_owned(), true.into());
    }
    Ok(entry.answer_wish(fields)?.way)
}

/// The place of a stream among those that are open: whoever finds none is told so before anything is accepted.
fn stream_place(
    app: &App,
    admission: &Admission,
    way: AnswerWay,
) -> Result<Option<FairPermit>, Denial> {
    if !matches!(way, AnswerWay::Stream { .. }) {
        return Ok(None);
    }
    let place = app.event_streams.try_take(admission.holder(), 1);
    let place = place.map_err(|full| capacity_denial(full, "too many streams of this account"))?;
    Ok(Some(place))
}

/// How long a synchronous call may take, by the table: with a model of the operator's as long as with the one it is like.
pub(crate) fn patience_s(
    app: &App,
    family: &Family,
    entry: &SubmitEndpoint,
    fields: &Fields,
) -> u32 {
    let Some(limit) = entry.timeout_s else {
        return family.timeout_s;
    };
    let models = app.models();
    if models.is_empty() {
        return limit(fields);
    }
    let row = model_of(fields).and_then(|name| models.find(name));
    let like = row.and_then(|row| row.definition.like.as_deref());
    let Some(model) = like.and_then(|like| like.rsplit('/').next()) else {
        return limit(fields);
    };
    // Nothing but the model decides how long it takes.
    let mut named = Fields::new();
    named.insert("model".to_owned(), model.into());
    limit(&named)
}
