//! Submits work. What comes back is the table's business: a job id at once, or the result when it is there.

use std::sync::Arc;

use atelier_contract::body::Fields;
use atelier_contract::family::{AnswerMode, Family, SubmitEndpoint};
use atelier_engine::Call;

use super::body::UnreadBody;
use super::idempotency::idempotency_key;
use super::request::{HandlerResult, IncomingRequest};
use super::{body, form, reply, sync_answer};
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
    let patience = patience_s(family, entry, &fields);
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
    };
    let engine = Arc::clone(&app.engine);
    let submitted = admission
        .spend(async move { engine.intake().submit(call).await })
        .await??;
    admission.lap("accepted");
    match entry.answers_with {
        AnswerMode::Job => Ok(reply::json_of(&family.accepted(&submitted.job_id))),
        AnswerMode::Answer(render) => {
            let wait = sync_answer::SyncWait {
                entry,
                render,
                patience_s: patience,
            };
            let answer = sync_answer::wait_for_result(app, &account_id, &submitted, &wait).await;
            admission.lap("made");
            answer
        }
    }
}

/// How long a synchronous call may take, by the table.
fn patience_s(family: &Family, entry: &SubmitEndpoint, fields: &Fields) -> u32 {
    entry.timeout_s.map_or(family.timeout_s, |of| of(fields))
}
