//! PiAPI: face swaps.

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backend::{Class, Cost, Fault, Work};
use crate::field_error::FieldError;
use crate::http::{VendorRequest, VendorResponse};
use crate::images::FinishOptions;
use crate::inputs;
use crate::task_vendor::{
    AnswerForm, Capabilities, FileSource, ImageCapabilities, MaskSupport, TaskBackend, TaskBase,
    TaskPlan, TaskReply, TaskResult, TaskStatus, TaskVendor, TimingSettings, UsualTiming,
    encoded_id,
};
use crate::vendor::{Setup, Vendor, read_flattened, schema_of};
use crate::vendor_errors::{self, ErrorRule, VendorError};
use crate::worker::Worker;

pub(super) const VENDOR: Vendor = Vendor {
    name: "piapi",
    about: "PiAPI: face swaps",
    needs_credential: true,
    address: "https://api.piapi.ai",
    settings: schema_of::<PiapiSettings>,
    ready: "",
    build,
};

const MODEL: &str = "Qubico/image-toolkit";
/// The vendor takes pictures with no longer side.
const MOST_SIDE: u32 = 2048;
/// Units of the account that cost a dollar.
const UNITS_A_DOLLAR: f64 = 1e7;

const RULES: &[ErrorRule] = &[
    ErrorRule::words(0, "insufficient credit", Class::Quota),
    ErrorRule::words(0, "not enough credit", Class::Quota),
    ErrorRule::words(0, "no face", Class::BadRequest),
    ErrorRule::words(0, "face not", Class::BadRequest),
    ErrorRule::words(0, "nsfw", Class::Reject),
    ErrorRule::status(402, Class::Quota),
];

const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 3,
    timeout_seconds: 60,
};

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct PiapiSettings {
    model: Option<String>,
    /// `public` or `private`, where the account has both.
    service_mode: Option<String>,
    #[serde(flatten)]
    timing: TimingSettings,
}

/// A picture and a face.
const CAN: ImageCapabilities = ImageCapabilities {
    masks: MaskSupport::None,
    references: 2,
    negative: false,
    transparent: false,
    backgrounds: false,
};

struct Piapi {
    base: TaskBase,
    settings: PiapiSettings,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: PiapiSettings = read_flattened(setup.settings)?;
    let http = setup
        .http
        .with_header("x-api-key", "credential", setup.credential.reveal())?;
    Ok(TaskBackend::worker(Piapi {
        base: TaskBase::new(http, settings.timing, TIMING),
        settings,
    }))
}

/// What a document refuses, in spite of its status: everything has a code, and 200 is the good one.
fn refusal(body: &Value) -> Option<VendorError> {
    let code = body["code"].as_i64().filter(|code| *code != 200)?;
    let raw = body["data"]["error"]["raw_message"].as_str();
    let message = raw
        .filter(|text| !text.is_empty())
        .or(body["message"].as_str())?;
    Some(VendorError::new(code.to_string(), message))
}

/// The fault of a refusal; the code stands for the status that it did not have.
fn refused(reply: &TaskReply) -> Option<Fault> {
    let said = refusal(&reply.body)?;
    let answer = VendorResponse {
        status: said.code.parse().unwrap_or(500),
        ..reply.answer.clone()
    };
    Some(vendor_errors::fault_by(RULES, &answer, Some(said)))
}

impl TaskVendor for Piapi {
    fn base(&self) -> &TaskBase {
        &self.base
    }

    fn serves(&self, operation: &str) -> bool {
        let found = atelier_contract::operation(operation);
        found.is_some_and(|(_, submit)| submit.makes_only(&[Task::SwapFace]))
    }

    fn capabilities(&self, _: &str, _: &Brief) -> Result<Capabilities, Fault> {
        Ok(Capabilities::pictures(CAN))
    }

    fn question_form(&self, _: &Value) -> AnswerForm<'_> {
        AnswerForm::Document(vec!["image_base64"])
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let mut images = Vec::new();
        for index in 0..2 {
            let picture = inputs::source(work, index).await?;
            images.push(inputs::shrink_to_side(picture, MOST_SIDE).await?);
        }
        let own = atelier_media::header(&work.sources[0]).ok();
        let size = own.map(|header| crate::fit::inside((header.width, header.height)));
        let mut config = json!({});
        if let Some(mode) = &self.settings.service_mode {
            config["service_mode"] = json!(mode);
        }
        if let Some(hook) = &work.hook_url {
            config["webhook_config"] = json!({"endpoint": hook, "secret": ""});
        }
        let routed = work.brief.vendor_model.as_deref();
        let model = routed.or(self.settings.model.as_deref());
        let body = json!({
            "model": model.unwrap_or(MODEL),
            "task_type": "face-swap",
            "input": {
                "target_image": inputs::data_uri(&images[0]),
                "swap_image": inputs::data_uri(&images[1]),
            },
            "config": config,
        });
        let finish = FinishOptions {
            size,
            ..FinishOptions::default()
        };
        let call = VendorRequest::post_json("api/v1/task", &body);
        Ok(TaskPlan::alike(work, call, finish))
    }

    fn started(&self, _: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        if let Some(fault) = refused(&reply) {
            return Err(fault);
        }
        TaskStatus::task(&reply, &reply.body["data"]["task_id"])
    }

    fn poll_request(&self, task: &Value) -> VendorRequest {
        VendorRequest::get(format!("api/v1/task/{}", encoded_id(task)))
    }

    fn task_status(&self, _: &Work, _: &Value, mut reply: TaskReply) -> Result<TaskStatus, Fault> {
        if let Some(fault) = refused(&reply) {
            return Err(fault);
        }
        let task = reply.body["data"].take();
        let state = task["status"].as_str().unwrap_or_default().to_lowercase();
        Ok(match &*state {
            "" => return Err(reply.nonsense()),
            "completed" => {
                let output = &task["output"];
                let mut task_result =
                    TaskResult::at(output["image_url"].as_str().filter(|url| !url.is_empty()));
                if let Some(bytes) = reply.file(&output["image_base64"]) {
                    task_result.files = vec![FileSource::File(bytes)];
                }
                let units = task["meta"]["usage"]["consume"].as_f64();
                TaskStatus::Done(TaskResult {
                    cost: units.and_then(|units| Cost::of(units / UNITS_A_DOLLAR, "USD")),
                    ..task_result
                })
            }
            "failed" => {
                let error = &task["error"];
                let text = |name: &str| error[name].as_str().unwrap_or_default();
                let code = error["code"].to_string();
                let message = format!("{} {}", text("message"), text("raw_message"));
                let said = VendorError::new(code, message.trim());
                TaskStatus::Failed(vendor_errors::failed_by(RULES, &said))
            }
            _ => TaskStatus::Running(None),
        })
    }

    fn error_rules(&self) -> &'static [ErrorRule] {
        RULES
    }

    fn read_error(&self, body: &Value) -> Option<VendorError> {
        refusal(body).or_else(|| VendorError::read(body))
    }

    /// A task that cannot be is asked for.
    fn probe(&self) -> VendorRequest {
        VendorRequest::get("api/v1/task/00000000-0000-0000-0000-000000000000")
    }

    fn is_healthy(&self, answer: &VendorResponse) -> bool {
        matches!(answer.status, 400 | 404 | 422 | 500) && answer.json().is_ok()
    }
}
