//! fal: any endpoint of its queue, with a mapping from our fields to its inputs; ready ones come along.

mod hooks;
mod outputs;

use atelier_contract::brief::Brief;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backend::{BoxFuture, Class, Fault, Work};
use crate::field_error::FieldError;
use crate::hooks::WebhookRequest;
use crate::http::{VendorRequest, VendorResponse, encoded};
use crate::inputs::data_uri;
use crate::mapping::{MappedModelSettings, Mappings};
use crate::task_vendor::{
    Capabilities, TaskBackend, TaskBase, TaskPlan, TaskReply, TaskStatus, TaskVendor,
    TimingSettings, UsualTiming, id,
};
use crate::vendor::{Setup, Vendor, read_flattened, schema_of};
use crate::vendor_errors::{self, ErrorRule, VendorError};
use crate::worker::Worker;

pub(super) const VENDOR: Vendor = Vendor {
    name: "fal",
    about: "fal: any endpoint there by a mapping of fields; every family but face swaps is ready",
    needs_credential: true,
    address: "https://queue.fal.run",
    settings: schema_of::<FalSettings>,
    ready: include_str!("ready.json"),
    build,
};

const RULES: &[ErrorRule] = &[
    ErrorRule::code("content_policy_violation", Class::Reject),
    ErrorRule::code("timeout", Class::Retry),
    ErrorRule::code("runner_", Class::Retry),
    ErrorRule::words(403, "exhausted balance", Class::Quota),
    ErrorRule::status(402, Class::Quota),
    ErrorRule::status(408, Class::Retry),
];
const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 3,
    timeout_seconds: 60,
};
/// Where endpoints say what inputs they have.
const SCHEMAS: &str = "https://fal.ai/api/openapi/queue/openapi.json?endpoint_id=";
/// The longest such document.
const MOST_SCHEMA: u64 = 4 * 1024 * 1024;
/// A request that cannot be.
const NOBODY: &str = "fal-ai/flux-2/requests/00000000-0000-0000-0000-000000000000/status";

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct FalSettings {
    #[serde(flatten)]
    models: MappedModelSettings,
    /// Where the inputs of an endpoint are described; its name is put at the end. Empty: they are not looked at.
    schema_url: Option<String>,
    /// Where the vendor shows the keys that its posts are signed with. Empty: the address of a hook is proof enough.
    webhook_keys_url: Option<String>,
    #[serde(flatten)]
    timing: TimingSettings,
}

struct Fal {
    base: TaskBase,
    mappings: Mappings,
    schema_url: String,
    keys_url: String,
    keys: hooks::SigningKeys,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: FalSettings = read_flattened(setup.settings)?;
    let key = setup.credential.reveal();
    let mappings = Mappings::read(VENDOR.ready, settings.models)?;
    let http = setup
        .http
        .with_header("authorization", "credential", &format!("Key {key}"))?
        .with_secret(key);
    Ok(TaskBackend::worker(Fal {
        base: TaskBase::new(http, settings.timing, TIMING),
        mappings,
        schema_url: settings.schema_url.unwrap_or_else(|| SCHEMAS.to_owned()),
        keys_url: settings
            .webhook_keys_url
            .unwrap_or_else(|| hooks::KEYS.to_owned()),
        keys: hooks::SigningKeys::default(),
    }))
}

impl Fal {
    /// Every endpoint with a mapping has the inputs that it is sent, as far as it says which it has.
    async fn check_models(&self) -> Result<(), Fault> {
        if self.schema_url.is_empty() {
            return Ok(());
        }
        for (model, names) in self.mappings.models() {
            let address = format!("{}{}", self.schema_url, encoded(model));
            let found = self.base.http.download(&address, MOST_SCHEMA).await;
            let Some(document) = found.ok().filter(VendorResponse::is_good) else {
                tracing::info!(model, "the vendor has no schema of the model's inputs");
                continue;
            };
            let Some(inputs) = document.json().ok().and_then(|body| outputs::inputs(&body)) else {
                continue;
            };
            let inputs: Vec<_> = inputs.iter().map(String::as_str).collect();
            Mappings::check_inputs(model, &names, &inputs)?;
        }
        Ok(())
    }

    fn words(answer: &VendorResponse) -> Option<VendorError> {
        let body = answer.json().ok()?;
        let said = VendorError::read(&body)?;
        let kind = body["detail"][0]["type"].as_str().unwrap_or_default();
        let header = answer.headers.get("x-fal-error-type");
        let header = header
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        Some(VendorError {
            code: format!("{} {kind} {header}", said.code),
            ..said
        })
    }
}

/// Whether an application does not have the endpoint: its queue takes everything, and says so only in the end.
fn is_no_path(words: &str) -> bool {
    let words = words.to_lowercase();
    words.starts_with("path ") && words.contains("not found")
}

/// The addresses that a start gave; those of older answers follow from the endpoint and the number.
fn task(body: &Value) -> Option<Value> {
    let number = id(&body["request_id"])?;
    let given = |name: &str| body[name].as_str().map(str::to_owned);
    Some(json!({
        "id": number,
        "status": given("status_url")?,
        "response": given("response_url")?,
        "cancel": given("cancel_url"),
    }))
}

impl TaskVendor for Fal {
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
        let inline = |bytes: bytes::Bytes| -> BoxFuture<'_, Result<String, Fault>> {
            Box::pin(async move { Ok(data_uri(&bytes)) })
        };
        let values = mapping.values(work, &inline).await?;
        let model = mapping.model_for(&work.brief);
        let segments: Vec<_> = model.split('/').map(encoded).collect();
        let mut path = segments.join("/");
        if let Some(hook) = &work.hook_url {
            path = format!("{path}?fal_webhook={}", encoded(hook));
        }
        let finish = values.finish.clone();
        Ok(TaskPlan::each(work, finish, move |place| {
            VendorRequest::post_json(path.clone(), &mapping.filled(&values, place))
        }))
    }

    fn started(&self, _: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        let task = task(&reply.body);
        task.map(TaskStatus::Task).ok_or_else(|| reply.nonsense())
    }

    fn poll_request(&self, task: &Value) -> VendorRequest {
        let address = match task["done"].as_bool() {
            Some(true) => &task["response"],
            _ => &task["status"],
        };
        VendorRequest::get(address.as_str().unwrap_or_default())
    }

    fn task_status(
        &self,
        work: &Work,
        task: &Value,
        reply: TaskReply,
    ) -> Result<TaskStatus, Fault> {
        if task["done"] == true {
            return outputs::read(work, &reply);
        }
        match reply.body["status"].as_str() {
            Some("COMPLETED") => {
                let mut task = task.clone();
                task["done"] = json!(true);
                Ok(TaskStatus::Task(task))
            }
            Some(_) => Ok(TaskStatus::Running(None)),
            None => Err(reply.nonsense()),
        }
    }

    fn fault(&self, answer: &VendorResponse) -> Fault {
        vendor_errors::fault_by(RULES, answer, Self::words(answer))
    }

    /// The answer of a request that failed is the failure itself.
    fn ended(&self, task: &Value, answer: &VendorResponse) -> Option<Fault> {
        let said = Self::words(answer)?;
        if task["done"] == true && answer.status == 404 && is_no_path(&said.message) {
            return Some(Fault::unknown_model(vendor_errors::detail_of(
                answer, &said,
            )));
        }
        let about_us = matches!(answer.status, 401 | 403 | 404 | 408 | 429);
        (task["done"] == true && !about_us).then(|| match answer.status {
            500.. => vendor_errors::failed_by(RULES, &said),
            _ => self.fault(answer),
        })
    }

    fn stop(&self, task: &Value) -> Option<VendorRequest> {
        let address = task["cancel"].as_str()?;
        Some(VendorRequest::new(http::Method::PUT, address))
    }

    fn probe(&self) -> VendorRequest {
        VendorRequest::get(NOBODY)
    }

    /// That a request which cannot be is not there is a good answer.
    fn is_healthy(&self, answer: &VendorResponse) -> bool {
        vendor_errors::is_unknown_task(answer)
    }

    async fn verify_webhook(&self, post: &WebhookRequest) -> bool {
        let unchecked = self.keys_url.is_empty();
        unchecked || self.keys.fit(&self.base.http, &self.keys_url, post).await
    }

    async fn inspect(&self) -> Result<(), Fault> {
        self.check_models().await
    }
}
