//! Many requests at once: submitted, and how far they are.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use atelier_contract::body::{self, Fields};
use atelier_contract::family::{IMAGE_BODY, RefusedData, refusal_body};
use atelier_contract::pages::batches::{BatchAnswers, BatchCounts, BatchItem, BatchView, NewBatch};
use atelier_contract::time::timestamp;
use atelier_contract::{JobState, Quota, hex, operation};
use atelier_engine::records::JobSummary;
use atelier_engine::{BulkAnswer, BulkCall, BulkView};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::app::App;
use crate::config::Role;
use crate::http::denial::Denial;
use crate::http::idempotency::idempotency_key;
use crate::http::page::{Data, RawBody};
use crate::http::request::IncomingRequest;

/// How long a batch waits for the one before it, of the time within which its caller is answered.
const TURN_WITHIN: Duration = Duration::from_secs(5);

pub(super) async fn submit(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawBody<NewBatch, IMAGE_BODY>,
) -> Result<Data<BatchAnswers>, Denial> {
    let key = idempotency_key(&received.head.headers)?;
    let caller = received.caller()?.clone();
    let custody = received.from.role == Role::Custody;
    let begun = received.admission.waits_since();
    // A thousand requests are as much work as a thousand calls, and would hold up everybody else's.
    received.admission.burden(&app.batches, TURN_WITHIN).await?;
    let admission = Arc::clone(&received.admission);
    let accepted = async move {
        let caller = app.engine.admin().callers().refreshed(&caller).await?;
        let idempotency = key.map(|key| (key, fingerprint(&fields)));
        let batch: NewBatch = body::read(fields)?;
        let requests = batch.requests.into_iter();
        let call = BulkCall {
            within_rate: admission.submits(&app.rates, &caller, requests.len()),
            caller,
            requests: requests
                .map(|one| (one.operation.to_string(), one.request))
                .collect(),
            idempotency,
            custody,
            begun,
        };
        app.engine.intake().submit_bulk(call).await
    };
    let accepted = received.admission.spend(accepted).await??;
    Ok(Data(answers(&accepted)))
}

/// What a repetition has in common with the first call.
fn fingerprint(fields: &Fields) -> String {
    let mut hasher = Sha256::new();
    hasher.update(b"jobs.batch\0");
    // In order, whatever order they came in: a build may keep that.
    let mut fields = Value::Object(fields.clone());
    fields.sort_all_objects();
    hasher.update(fields.to_string().as_bytes());
    hex(&hasher.finalize())
}

fn answers(bulk: &BulkView) -> BatchAnswers {
    let accepted = bulk.answers.iter().filter(|one| one.answer.is_ok()).count();
    BatchAnswers {
        batch_id: bulk.id.clone(),
        accepted,
        refused: bulk.answers.len() - accepted,
        answers: bulk.answers.iter().map(answer).collect(),
    }
}

/// What a submit of its own would have answered.
fn answer(one: &BulkAnswer) -> Fields {
    let family = operation(&one.operation).map(|(family, _)| family);
    match (&one.answer, family) {
        (Ok(id), Some(family)) => match family.accepted(id) {
            Value::Object(body) => body,
            _ => Fields::new(),
        },
        (Ok(_), None) => Fields::new(),
        (Err(refusal), family) => {
            let data = family.map_or(RefusedData::Null, |family| family.refused_data);
            refusal_body(data, refusal)
        }
    }
}

/// Shows how far a batch is.
pub(super) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<BatchView>, Denial> {
    let account = received.account()?;
    let bulk = app.engine.intake().bulk(account, received.param(0)).await?;
    let summaries = app
        .engine
        .jobs()
        .summaries_of(account, &job_ids(&bulk))
        .await?;
    Ok(Data(view(bulk, summaries)))
}

/// The jobs of a batch.
pub(super) fn job_ids(bulk: &BulkView) -> Vec<String> {
    let answers = bulk.answers.iter();
    let jobs = answers.filter_map(|one| one.answer.as_ref().ok());
    jobs.map(ToString::to_string).collect()
}

/// A batch with its jobs as they are.
pub(super) fn view(bulk: BulkView, summaries: Vec<JobSummary>) -> BatchView {
    let summaries = summaries
        .into_iter()
        .map(|summary| (summary.id.clone(), summary));
    let summaries: HashMap<String, JobSummary> = summaries.collect();
    let mut counts = BatchCounts::default();
    let (mut quota, mut held) = (Quota::ZERO, Quota::ZERO);
    for summary in summaries.values() {
        quota = quota + summary.quota;
        if !summary.state.is_final() {
            held = held + summary.price;
        }
    }
    let items: Vec<BatchItem> = bulk
        .answers
        .into_iter()
        .map(|one| item(one, &summaries, &mut counts))
        .collect();
    BatchView {
        batch_id: bulk.id,
        created_at: timestamp(bulk.created_ms),
        done: counts.waiting + counts.running == 0,
        counts,
        quota,
        held,
        items,
    }
}

fn item(
    one: BulkAnswer,
    summaries: &HashMap<String, JobSummary>,
    counts: &mut BatchCounts,
) -> BatchItem {
    counts.total += 1;
    let mut item = BatchItem {
        operation: one.operation,
        job_id: None,
        status: "REFUSED",
        progress: 0,
        message: None,
        code: None,
    };
    match one.answer {
        Err(refusal) => {
            counts.refused += 1;
            item.code = Some(refusal.code.word());
            item.message = Some(refusal.message);
        }
        Ok(id) => {
            if let Some(summary) = summaries.get(id.as_str()) {
                *match summary.state {
                    JobState::Waiting => &mut counts.waiting,
                    JobState::Running => &mut counts.running,
                    JobState::Succeeded => &mut counts.succeeded,
                    JobState::Failed => &mut counts.failed,
                } += 1;
                item.status = summary.state.word();
                item.progress = summary.progress;
            } else {
                counts.deleted += 1;
                item.status = "DELETED";
            }
            item.job_id = Some(id);
        }
    }
    item
}
