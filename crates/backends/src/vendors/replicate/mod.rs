//! Replicate: any model there, with a mapping from our fields to its inputs; ready ones come along.

mod files;
mod versions;

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::backend::{Class, Cost, Fault, Work, unknown_model};
use crate::clock;
use crate::field_error::FieldError;
use crate::hooks::{self, WebhookRequest};
use crate::http::{VendorRequest, VendorResponse, encoded};
use crate::mapping::{MappedModelSettings, Mappings};
use crate::task_vendor::{
    Capabilities, TaskBackend, TaskBase, TaskPlan, TaskReply, TaskResult, TaskStatus, TaskVendor,
    TimingSettings, UsualTiming, encoded_id, files_in,
};
use crate::vendor::{Secret, Setup, Vendor, read_flattened, schema_of};
use crate::vendor_errors::{self, ErrorRule, VendorError};
use crate::worker::Worker;
use versions::LatestVersions;

pub(super) const VENDOR: Vendor = Vendor {
    name: "replicate",
    about: "Replicate: any model there by a mapping of fields; face swaps, pictures and videos are ready",
    needs_credential: true,
    address: "https://api.replicate.com/v1",
    settings: schema_of::<ReplicateSettings>,
    ready: include_str!("ready.json"),
    build,
};

const RULES: &[ErrorRule] = &[
    ErrorRule::words(200, "nsfw", Class::Reject),
    ErrorRule::words(200, "sensitive", Class::Reject),
    ErrorRule::words(200, "e005", Class::Reject),
    ErrorRule::words(200, "no face", Class::BadRequest),
    ErrorRule::status(402, Class::Quota),
];

/// The largest answer to a question, with the files that stand in it.
const MOST_INLINE: u64 = 24 * 1024 * 1024;

const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 3,
    timeout_seconds: 60,
};

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct ReplicateSettings {
    #[serde(flatten)]
    models: MappedModelSettings,
    /// Believe a post only when it is signed; the address of a hook is a proof as well.
    check_webhooks: Option<bool>,
    #[serde(flatten)]
    timing: TimingSettings,
}

struct Replicate {
    base: TaskBase,
    mappings: Mappings,
    check_webhooks: bool,
    /// The versions of models that are not run by their names.
    versions: LatestVersions,
    /// What posts are signed with, once it is known.
    secret: Mutex<Secret>,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: ReplicateSettings = read_flattened(setup.settings)?;
    let mappings = Mappings::read(VENDOR.ready, settings.models)?;
    let http = setup.http.with_bearer(setup.credential.reveal())?;
    Ok(TaskBackend::worker(Replicate {
        base: TaskBase::new(http, settings.timing, TIMING),
        mappings,
        check_webhooks: settings.check_webhooks.unwrap_or(true),
        versions: LatestVersions::default(),
        secret: Mutex::default(),
    }))
}

impl Replicate {
    /// Whether a post is signed with the secret that the vendor gave the worker account, which is read once.
    async fn signed(&self, post: &WebhookRequest) -> bool {
        let mut secret = self.secret.lock().await;
        if secret.is_empty() {
            let call = VendorRequest::get("webhooks/default/secret");
            let answer = self.base.http.ask(call).await.ok();
            let body = answer.filter(VendorResponse::is_good);
            let body = body.and_then(|answer| answer.json().ok());
            let task_status = body.and_then(|body| Some(Secret::new(body["key"].as_str()?)));
            *secret = task_status.unwrap_or_default();
        }
        hooks::is_signed(post, secret.reveal(), clock::seconds())
    }

    /// Every model with a mapping exists, and has the inputs that it is sent.
    async fn check_models(&self) -> Result<(), Fault> {
        for (model, names) in self.mappings.models() {
            let (model, _) = model.split_once(':').unwrap_or((model, ""));
            let Some((owner, name)) = model.split_once('/') else {
                continue;
            };
            let path = format!("models/{}/{}", encoded(owner), encoded(name));
            let answer = self.base.http.ask(VendorRequest::get(path)).await?;
            if answer.status == 404 {
                return Err(Fault::unknown_model(unknown_model(model)));
            }
            if !answer.is_good() {
                return Err(self.fault(&answer));
            }
            let body = answer.json()?;
            let schemas = &body["latest_version"]["openapi_schema"]["components"]["schemas"];
            let Some(inputs) = schemas["Input"]["properties"].as_object() else {
                continue;
            };
            let inputs: Vec<_> = inputs.keys().map(String::as_str).collect();
            Mappings::check_inputs(model, &names, &inputs)?;
        }
        Ok(())
    }
}

/// What a prediction says.
fn read(work: &Work, reply: &TaskReply) -> Result<TaskStatus, Fault> {
    let body = &reply.body;
    let state = body["status"].as_str().ok_or_else(|| reply.nonsense())?;
    Ok(match state {
        "succeeded" => succeeded(work, body),
        "failed" => {
            let said = VendorError::of(&Value::Null, &body["error"]);
            TaskStatus::Failed(vendor_errors::failed_by(RULES, &said).paid(taken(body)))
        }
        "canceled" | "aborted" => {
            let fault = Fault::vendor(Class::Gone, "the vendor cancelled the work");
            TaskStatus::Failed(fault.paid(taken(body)))
        }
        _ => TaskStatus::Running(percent(body["logs"].as_str().unwrap_or_default())),
    })
}

fn succeeded(work: &Work, body: &Value) -> TaskStatus {
    let files = files_in(&body["output"]);
    if files.is_empty() {
        let fault = match work.brief.task {
            Task::SwapFace => Fault::unusable("no face was found in one of the images"),
            _ => Fault::useless("the model gave no files"),
        };
        return TaskStatus::Failed(fault.paid(taken(body)));
    }
    TaskStatus::Done(TaskResult {
        files,
        cost: seconds(body),
        ..TaskResult::default()
    })
}

/// How long the machine worked, which is paid for however it ends.
fn seconds(body: &Value) -> Option<Cost> {
    Cost::of(body["metrics"]["predict_time"].as_f64()?, "seconds")
}

/// What was taken for a prediction without a result: one that never ran took nothing.
fn taken(body: &Value) -> Option<Cost> {
    seconds(body).filter(|cost| cost.micros > 0)
}

/// The last percentage of a log.
fn percent(logs: &str) -> Option<u8> {
    let (before, _) = logs.rsplit_once('%')?;
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|percent| *percent <= 100)
}

impl TaskVendor for Replicate {
    fn base(&self) -> &TaskBase {
        &self.base
    }

    fn serves(&self, operation: &str) -> bool {
        self.mappings.serves(operation)
    }

    fn capabilities(&self, operation: &str, brief: &Brief) -> Result<Capabilities, Fault> {
        self.mappings.capabilities(operation, brief)
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let mapping = self.mappings.of(work)?;
        let placed = |bytes| files::placed(&self.base.http, bytes);
        let values = mapping.values(work, &placed).await?;
        let model = mapping.model_for(&work.brief);
        let version = match model.split_once(':') {
            Some((_, version)) => version.to_owned(),
            None => self.versions.of(model),
        };
        let finish = values.finish.clone();
        Ok(TaskPlan::each(work, finish, move |place| {
            let mut body = json!({"version": version, "input": mapping.filled(&values, place)});
            if let Some(hook) = &work.hook_url {
                body["webhook"] = json!(hook);
                body["webhook_events_filter"] = json!(["completed"]);
            }
            VendorRequest::post_json("predictions", &body)
        }))
    }

    fn started(&self, _: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        TaskStatus::task(&reply, &reply.body["id"])
    }

    /// Only official models are run by their names, others by a version: the latest one.
    async fn instead(
        &self,
        call: VendorRequest,
        answer: &VendorResponse,
    ) -> Result<Option<VendorRequest>, Fault> {
        let refused = answer.status == 422 && answer.start().to_lowercase().contains("version");
        let Some(mut body) = call.json().filter(|_| refused) else {
            return Ok(None);
        };
        let sent = body["version"].as_str().unwrap_or_default();
        let latest = self.versions.latest(&self.base.http, sent).await?;
        Ok(latest.map(|latest| {
            body["version"] = json!(latest);
            call.with_json(&body)
        }))
    }

    /// A result may stand in the answer itself.
    fn poll_request(&self, task: &Value) -> VendorRequest {
        VendorRequest::get(path(task)).at_most(MOST_INLINE)
    }

    fn task_status(&self, work: &Work, _: &Value, reply: TaskReply) -> Result<TaskStatus, Fault> {
        read(work, &reply)
    }

    fn error_rules(&self) -> &'static [ErrorRule] {
        RULES
    }

    fn stop(&self, task: &Value) -> Option<VendorRequest> {
        let path = format!("{}/cancel", path(task));
        Some(VendorRequest::post_json(path, &json!({})))
    }

    fn probe(&self) -> VendorRequest {
        VendorRequest::get("account")
    }

    async fn verify_webhook(&self, post: &WebhookRequest) -> bool {
        !self.check_webhooks || self.signed(post).await
    }

    async fn inspect(&self) -> Result<(), Fault> {
        self.check_models().await
    }
}

fn path(task: &Value) -> String {
    format!("predictions/{}", encoded_id(task))
}
