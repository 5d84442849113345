//! cog: the server that Replicate puts around a model, run by an operator. A prediction is made in the call, and its files
//! stand in the answer; or it is ordered, and the server posts what came of it. It cannot be asked about one later. A start
//! whose answer was lost is repeated: under the same name, where that is known, it does not begin what has been begun.

use atelier_contract::brief::{Brief, Task};
use bytes::Bytes;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backend::{BoxFuture, Class, Cost, Fault, LostSubmit, Work};
use crate::field_error::FieldError;
use crate::hooks::{WebhookRequest, kept_at};
use crate::http::{VendorRequest, encoded};
use crate::inputs::data_uri;
use crate::mapping::{MappedModelSettings, Mappings};
use crate::task_vendor::{
    AnswerForm, Capabilities, TaskBackend, TaskBase, TaskPlan, TaskReply, TaskResult, TaskStatus,
    TaskVendor, TimingSettings, UsualTiming, encoded_id, files_in,
};
use crate::vendor::{Setup, Vendor, read_flattened, schema_of};
use crate::vendor_errors::{self, ErrorRule, VendorError};
use crate::worker::Worker;

pub(super) const VENDOR: Vendor = Vendor {
    name: "cog",
    about: "cog, Replicate's server for a model of one's own, by a mapping of fields",
    needs_credential: false,
    address: "",
    settings: schema_of::<CogSettings>,
    ready: "",
    build,
};

const RULES: &[ErrorRule] = &[
    ErrorRule::words(200, "nsfw", Class::Reject),
    ErrorRule::words(200, "no face", Class::BadRequest),
    // It works on one thing at a time.
    ErrorRule::status(409, Class::Rate),
];

/// The longest call that an operator does not say otherwise about; how often it is looked for a post whose hint was lost.
const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 10,
    timeout_seconds: 900,
};

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct CogSettings {
    #[serde(flatten)]
    models: MappedModelSettings,
    /// Whether one picture or film is ordered with a webhook that brings it, so that no call lasts as long as the work. It needs
    /// `hook_base_url`, or a public `base_url`, in the configuration of this service; without either it is made in the call.
    webhook: bool,
    timeout_seconds: Option<u64>,
}

/// What is read of a post before it is kept.
#[derive(Deserialize)]
struct PostedPrediction {
    id: String,
    status: String,
}

struct Cog {
    base: TaskBase,
    mappings: Mappings,
    webhook: bool,
}

/// What a server says of a prediction that it has taken and not ended.
const AT_WORK: [&str; 2] = ["starting", "processing"];
/// What it says of one that has ended.
const ENDED: [&str; 3] = ["succeeded", "failed", "canceled"];

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: CogSettings = read_flattened(setup.settings)?;
    // What a model of one's own takes is known to nobody else.
    let mappings = Mappings::read("[]", settings.models)?;
    if mappings.models().is_empty() {
        return Err(FieldError::new("models", "must be given"));
    }
    let credential = setup.credential.reveal();
    let http = match credential {
        "" => setup.http,
        given => setup.http.with_bearer(given)?,
    };
    let timing = TimingSettings::of_call(settings.timeout_seconds);
    Ok(TaskBackend::worker(Cog {
        base: TaskBase::new(http, timing, TIMING),
        mappings,
        webhook: settings.webhook,
    }))
}

/// The name of a prediction: a repeated start is the same one while it is at work.
fn name(attempt_id: &str, place: u32) -> String {
    format!("{attempt_id}-{place}")
}

/// Pictures go along as they are.
fn inline(bytes: Bytes) -> BoxFuture<'static, Result<String, Fault>> {
    Box::pin(async move { Ok(data_uri(&bytes)) })
}

impl Cog {
    /// Where the server posts what came of a piece of work, if it is to. It takes one thing at a time and keeps no queue, so
    /// several are made one after the other in their calls.
    fn hook<'a>(&self, work: &'a Work) -> Option<&'a str> {
        let hook = work.hook_url.as_deref().filter(|_| self.webhook)?;
        (work.brief.count <= 1).then_some(hook)
    }
}

/// What a prediction that has ended says.
fn read(work: &Work, reply: &TaskReply) -> Result<TaskStatus, Fault> {
    let body = &reply.body;
    match body["status"].as_str() {
        Some("succeeded") => {}
        Some("failed") => {
            let said = VendorError::of(&Value::Null, &body["error"]);
            return Ok(TaskStatus::Failed(vendor_errors::failed_by(RULES, &said)));
        }
        Some("canceled" | "aborted") => {
            let why = "the server cancelled the work";
            return Ok(TaskStatus::Failed(Fault::vendor(Class::Retry, why)));
        }
        _ => return Err(reply.nonsense()),
    }
    let files = files_in(&body["output"]);
    if files.is_empty() {
        return Ok(TaskStatus::Failed(match work.brief.task {
            Task::SwapFace => Fault::unusable("no face was found in one of the images"),
            _ => Fault::useless("the model gave no files"),
        }));
    }
    let seconds = body["metrics"]["predict_time"].as_f64();
    Ok(TaskStatus::Done(TaskResult {
        files,
        cost: seconds.and_then(|seconds| Cost::of(seconds, "seconds")),
        ..TaskResult::default()
    }))
}

impl TaskVendor for Cog {
    fn base(&self) -> &TaskBase {
        &self.base
    }

    fn serves(&self, operation: &str) -> bool {
        self.mappings.serves(operation)
    }

    fn capabilities(&self, operation: &str, brief: &Brief) -> Result<Capabilities, Fault> {
        self.mappings.capabilities(operation, brief)
    }

    fn makes_in_call(&self, work: &Work) -> bool {
        self.hook(work).is_none()
    }

    /// Files stand in the answer wherever the model puts them, in base64.
    fn start_form(&self, _: &Work) -> AnswerForm<'_> {
        AnswerForm::Whole
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let mapping = self.mappings.of(work)?;
        let values = mapping.values(work, &inline).await?;
        let finish = values.finish.clone();
        let hook = self.hook(work);
        Ok(TaskPlan::each(work, finish, move |place| {
            let path = format!("predictions/{}", encoded(&name(&work.attempt_id, place)));
            let mut body = json!({"input": mapping.filled(&values, place)});
            let Some(hook) = hook else {
                return VendorRequest::put_json(path, &body);
            };
            body["webhook"] = json!(hook);
            body["webhook_events_filter"] = json!(["completed"]);
            VendorRequest::put_json(path, &body).header("prefer", "respond-async")
        }))
    }

    fn started(&self, work: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        let is_at_work = reply.body["status"]
            .as_str()
            .is_some_and(|status| AT_WORK.contains(&status));
        match self.named_task(work) {
            Some(task) if is_at_work && self.hook(work).is_some() => Ok(TaskStatus::Task(task)),
            _ => read(work, &reply),
        }
    }

    fn poll_request(&self, _: &Value) -> VendorRequest {
        self.probe()
    }

    /// Of one that was posted.
    fn task_status(&self, work: &Work, _: &Value, reply: TaskReply) -> Result<TaskStatus, Fault> {
        read(work, &reply)
    }

    fn stop(&self, task: &Value) -> Option<VendorRequest> {
        let path = format!("predictions/{}/cancel", encoded_id(task));
        Some(VendorRequest::post_json(path, &json!({})))
    }

    fn named_task(&self, work: &Work) -> Option<Value> {
        let is_posted = self.hook(work).is_some();
        self.webhook
            .then(|| json!({"id": name(&work.attempt_id, 0), "posted": is_posted}))
    }

    fn posted_at(&self, task: &Value) -> Option<String> {
        let id = task["id"].as_str().filter(|_| task["posted"] == true)?;
        Some(kept_at(id))
    }

    fn keeps_posts(&self) -> bool {
        self.webhook
    }

    /// Only the end of the prediction that an attempt ordered is worth keeping.
    fn kept_post(&self, attempt_id: &str, post: &WebhookRequest) -> Option<String> {
        let said: PostedPrediction = serde_json::from_slice(&post.body).ok()?;
        let is_end = said.id == name(attempt_id, 0) && ENDED.contains(&&*said.status);
        (self.webhook && is_end).then(|| kept_at(&said.id))
    }

    fn error_rules(&self) -> &'static [ErrorRule] {
        RULES
    }

    /// The machine is the operator's. What goes on after the call was lost is found again under its name.
    fn lost_submit(&self) -> LostSubmit {
        if self.webhook {
            LostSubmit::LookUp
        } else {
            LostSubmit::Repeat
        }
    }

    fn currency(&self) -> &'static str {
        "seconds"
    }

    fn probe(&self) -> VendorRequest {
        VendorRequest::get("health-check")
    }

    /// Whether the model was set up, and has the inputs that it is sent, where the server says which it has.
    async fn inspect(&self) -> Result<(), Fault> {
        let health = self.base.http.ask(self.probe()).await?.json()?;
        if let Some(other @ ("STARTING" | "SETUP_FAILED" | "DEFUNCT")) = health["status"].as_str() {
            let detail = format!("the server is {other}");
            return Err(Fault::vendor(Class::Retry, detail));
        }
        let described = self
            .base
            .http
            .ask(VendorRequest::get("openapi.json"))
            .await?;
        let described = described.json().unwrap_or_default();
        let inputs = &described["components"]["schemas"]["Input"]["properties"];
        let Some(inputs) = inputs.as_object() else {
            return Ok(());
        };
        let inputs: Vec<_> = inputs.keys().map(String::as_str).collect();
        for (model, names) in self.mappings.models() {
            Mappings::check_inputs(model, &names, &inputs)?;
        }
        Ok(())
    }
}
