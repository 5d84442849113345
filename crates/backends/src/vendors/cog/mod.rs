//! cog: the server that Replicate puts around a model, run by an operator. A prediction is made in the call, and its files
//! stand in the answer. It has no way to ask about one later, so a start whose answer was lost is repeated.

use atelier_contract::brief::{Brief, Task};
use bytes::Bytes;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backend::{BoxFuture, Class, Cost, Fault, LostSubmit, Work};
use crate::field_error::FieldError;
use crate::http::{VendorRequest, encoded};
use crate::inputs::data_uri;
use crate::mapping::{MappedModelSettings, Mappings};
use crate::task_vendor::{
    Capabilities, TaskBackend, TaskBase, TaskPlan, TaskReply, TaskResult, TaskStatus, TaskVendor,
    TimingSettings, UsualTiming, files_in,
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

/// The longest call that an operator does not say otherwise about; nothing is polled.
const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 1,
    timeout_seconds: 900,
};

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct CogSettings {
    #[serde(flatten)]
    models: MappedModelSettings,
    timeout_seconds: Option<u64>,
}

struct Cog {
    base: TaskBase,
    mappings: Mappings,
}

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
    }))
}

/// Pictures go along as they are.
fn inline(bytes: Bytes) -> BoxFuture<'static, Result<String, Fault>> {
    Box::pin(async move { Ok(data_uri(&bytes)) })
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

    fn makes_in_call(&self) -> bool {
        true
    }

    /// A name of its own makes a repeated start the same one while it is at work.
    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let mapping = self.mappings.of(work)?;
        let values = mapping.values(work, &inline).await?;
        let finish = values.finish.clone();
        Ok(TaskPlan::each(work, finish, move |place| {
            let path = format!(
                "predictions/{}",
                encoded(&format!("{}-{place}", work.attempt_id))
            );
            let body = json!({"input": mapping.filled(&values, place)});
            VendorRequest::put_json(path, &body)
        }))
    }

    fn started(&self, work: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
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

    fn poll_request(&self, _: &Value) -> VendorRequest {
        self.probe()
    }

    fn task_status(&self, _: &Work, _: &Value, _: TaskReply) -> Result<TaskStatus, Fault> {
        Err(Fault::ours("a task where there are none"))
    }

    fn error_rules(&self) -> &'static [ErrorRule] {
        RULES
    }

    /// The machine is the operator's.
    fn lost_submit(&self) -> LostSubmit {
        LostSubmit::Repeat
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
