//! Another Atelier, or any service with the same interface, as a back end for every family. Paths, forms and result
//! fields come from the contract's table; the remote's states, progress and refusals are passed on.

mod errors;
mod notes;
mod request;
mod result;
mod shape;

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::brief::Brief;
use atelier_contract::family::{AnswerMode, Family, SubmitEndpoint};
use atelier_contract::{ACCOUNT_PATH, JobState, operation};
use atelier_fairness::reservation::Reservation;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backend::{
    Backend, BoxFuture, Class, Cost, Fault, LostSubmit, PollOutcome, StartOutcome, Work,
};
use crate::field_error::FieldError;
use crate::hooks::WebhookRequest;
use crate::http::{VendorHttp, VendorRequest, VendorResponse, segment};
use crate::support::FieldSupport;
use crate::task_vendor::Capabilities;
use crate::vendor::{Setup, Vendor, read_settings, schema_of};
use crate::vendor_errors::unexpected;
use crate::worker::Worker;
use shape::ResultShape;

/// The vendor's line in the table.
pub(super) const VENDOR: Vendor = Vendor {
    name: "relay",
    about: "Another Atelier, or any service with the same interface; every family.",
    needs_credential: true,
    address: "",
    settings: schema_of::<RelaySettings>,
    ready: "",
    build: |setup| {
        let relay = Relay::new(setup)?;
        Ok(Worker::new(&relay.http.clone(), relay))
    },
};

/// How long a submit may take, its files included.
const SUBMIT: Duration = Duration::from_mins(2);
/// What a synchronous answer may take beyond the time limit of its operation.
const SLACK: Duration = Duration::from_secs(15);
/// The largest synchronous answer: ten large pictures in base64.
const MOST_ANSWER: u64 = 512 * 1024 * 1024;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct RelaySettings {
    /// Milliseconds between two questions about a job.
    poll_ms: Option<u64>,
}

/// One account at a remote service.
struct Relay {
    http: VendorHttp,
    poll_interval: Duration,
}

impl Relay {
    fn new(setup: Setup) -> Result<Self, FieldError> {
        let settings: RelaySettings = read_settings(setup.settings)?;
        let http =
            setup
                .http
                .with_header("svc-api-key", "credential", setup.credential.reveal())?;
        Ok(Self {
            http,
            poll_interval: Duration::from_millis(settings.poll_ms.unwrap_or(1000).max(10)),
        })
    }

    async fn submit(&self, work: &Work) -> Result<StartOutcome, Fault> {
        let (family, submit) = entry(work)?;
        // Whoever repeats it under the job's own key, in whatever attempt, gets the first answer again.
        let call = request::call(submit, work)?;
        let call = call.header("idempotency-key", work.job_id.as_str());
        if let AnswerMode::Answer(_) = submit.answers_with {
            return self.answered(family, submit, work, call).await;
        }
        let call = call.within(call_timeout(family, submit, work));
        let answer = self.http.submit(call).await?;
        let body = errors::body_of_start(&answer, work)?;
        let id = match &body["data"]["jobId"] {
            Value::String(id) if !id.is_empty() => id.clone(),
            Value::Number(id) => id.to_string(),
            _ => return Err(unexpected(&answer)),
        };
        Ok(StartOutcome::Ticket(json!({ "jobId": id })))
    }

    /// A synchronous family: the answer is the result. Bytes are taken at once; addresses become the ticket, so that
    /// a result that was paid for is fetched again when fetching it failed.
    async fn answered(
        &self,
        family: &Family,
        submit: &SubmitEndpoint,
        work: &Work,
        call: VendorRequest,
    ) -> Result<StartOutcome, Fault> {
        let call = call.within(call_timeout(family, submit, work));
        let call = call.at_most(MOST_ANSWER);
        // Nobody is told that it was taken before it is done.
        work.progress.begin();
        let answer = work.unless_cancelled(self.http.submit(call)).await?;
        let body = errors::body_of_start(&answer, work)?;
        let shape = ResultShape::of(family, submit, &work.request);
        if shape.read(&body, shape::ResultPart::Bytes).is_empty() {
            return Ok(StartOutcome::Ticket(json!({ "answer": body })));
        }
        result::made(&self.http, work, &shape, &body, "")
            .await
            .map(StartOutcome::Done)
    }

    /// Repeats a submit whose answer was lost: the remote gives the first answer again.
    async fn find(&self, work: &Work) -> Result<Option<StartOutcome>, Fault> {
        match self.submit(work).await {
            Ok(started) => Ok(Some(started)),
            Err(fault) if fault.class.may_pass() && fault.class != Class::Quota => Err(fault),
            Err(fault) if fault.class == Class::Bug => Err(fault),
            // A refusal of the request itself says that the remote never had it.
            Err(_) => Ok(None),
        }
    }

    async fn poll_task(&self, work: &Work, ticket: &Value) -> Result<PollOutcome, Fault> {
        let (family, submit) = entry(work)?;
        if let Some(body) = ticket.get("answer") {
            return self.take(work, family, submit, body, "").await;
        }
        let id = ticket["jobId"].as_str().unwrap_or_default();
        let body = errors::body_of_job(&self.fetch(family, id).await?)?;
        let status = body["status"].as_str().unwrap_or_default();
        let is = |state: JobState| status == state.word();
        if is(JobState::Succeeded) {
            return self.take(work, family, submit, &body, id).await;
        }
        if is(JobState::Failed) {
            let message = body["message"].as_str().unwrap_or_default();
            return Ok(PollOutcome::Failed(errors::failed(message)));
        }
        for progress in [&body["progress"], &body["data"]["progress"]] {
            if let Some(percent) = percent(progress) {
                work.progress.set(percent);
            }
        }
        Ok(PollOutcome::Running(self.poll_interval))
    }

    async fn fetch(&self, family: &Family, id: &str) -> Result<VendorResponse, Fault> {
        let fetch = family
            .fetches
            .first()
            .ok_or_else(|| Fault::ours(format!("{} has no fetch", family.name)))?;
        let query: String = url::form_urlencoded::Serializer::new(String::new())
            .append_pair(fetch.param, id)
            .finish();
        let path = format!("{}?{query}", fetch.path);
        let answer = self.http.ask(VendorRequest::get(path)).await?;
        if !matches!(answer.status, 404 | 405) {
            return Ok(answer);
        }
        // The interface documents some of the fetches as POST alone.
        let body = json!({ fetch.param: id });
        self.http
            .ask(VendorRequest::post_json(fetch.path, &body))
            .await
    }

    async fn take(
        &self,
        work: &Work,
        family: &Family,
        submit: &SubmitEndpoint,
        body: &Value,
        id: &str,
    ) -> Result<PollOutcome, Fault> {
        let shape = ResultShape::of(family, submit, &work.request);
        let made = result::made(&self.http, work, &shape, body, id).await?;
        Ok(PollOutcome::Done(made))
    }
}

/// How long the answer to a submit may take.
fn call_timeout(family: &Family, submit: &SubmitEndpoint, work: &Work) -> Duration {
    let AnswerMode::Answer(_) = submit.answers_with else {
        return SUBMIT;
    };
    let seconds = submit
        .timeout_s
        .map_or(family.timeout_s, |seconds| seconds(&work.request));
    Duration::from_secs(u64::from(seconds)) + SLACK
}

fn entry(work: &Work) -> Result<(&'static Family, &'static SubmitEndpoint), Fault> {
    let unknown = || Fault::ours(format!("unknown operation {}", work.operation));
    operation(&work.operation).ok_or_else(unknown)
}

/// Progress as a number or as text.
fn percent(value: &Value) -> Option<u8> {
    let text = value.as_str().map(|text| text.trim_end_matches('%'));
    let number = value.as_f64().or_else(|| text?.trim().parse().ok())?;
    Some(number.clamp(0.0, 100.0) as u8)
}

impl Backend for Relay {
    fn serves(&self, name: &str) -> bool {
        operation(name).is_some()
    }

    /// Looked up by repeating it under its key, at the same account: another account would pay again.
    fn lost_submit(&self) -> LostSubmit {
        LostSubmit::LookUp
    }

    fn submit_limit(&self, work: &Work) -> Duration {
        entry(work).map_or(SUBMIT, |(family, submit)| {
            call_timeout(family, submit, work)
        })
    }

    fn takes_hints(&self) -> bool {
        false
    }

    fn support(&self, operation: &str, brief: &Brief) -> Vec<FieldSupport> {
        Capabilities::all().support(operation, brief)
    }

    fn reserve(&self, _: &Arc<str>, _: &Brief, _: bool) -> Option<Reservation> {
        None
    }

    fn start(&self, work: Work) -> BoxFuture<'_, Result<StartOutcome, Fault>> {
        Box::pin(async move { self.submit(&work).await })
    }

    fn poll<'a>(
        &'a self,
        work: &'a Work,
        ticket: &'a Value,
    ) -> BoxFuture<'a, Result<PollOutcome, Fault>> {
        Box::pin(self.poll_task(work, ticket))
    }

    fn cancel<'a>(&'a self, ticket: &'a Value) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let Some(id) = ticket["jobId"].as_str() else {
                return;
            };
            let path = format!("/jobs/v1/{}/cancel", segment(id));
            let call = VendorRequest::post_json(path, &json!({}));
            if let Err(fault) = self.http.ask(call).await {
                tracing::info!(detail = %fault.detail, "the remote service could not be told to cancel a job");
            }
        })
    }

    fn look_up<'a>(
        &'a self,
        work: &'a Work,
        _: bool,
    ) -> BoxFuture<'a, Result<Option<StartOutcome>, Fault>> {
        Box::pin(self.find(work))
    }

    fn probe(&self) -> BoxFuture<'_, Result<Option<Cost>, Fault>> {
        Box::pin(async move {
            let answer = self.http.ask(VendorRequest::get(ACCOUNT_PATH)).await?;
            let body = errors::body_of(&answer)?;
            match body["data"]["balance"].as_f64() {
                Some(balance) if balance <= 0.0 => {
                    Err(Fault::vendor(Class::Quota, "the remote account is empty"))
                }
                left => Ok(left.and_then(|left| Cost::of(left, "quota"))),
            }
        })
    }

    /// Nothing is signed here; the address of the hook is the proof.
    fn verify_webhook<'a>(&'a self, _: &'a WebhookRequest) -> BoxFuture<'a, bool> {
        Box::pin(async { true })
    }
}
