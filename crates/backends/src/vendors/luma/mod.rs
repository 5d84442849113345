//! Luma's Agents interface: Ray videos with first and last frames, loops and extensions, and Uni pictures.

mod bodies;

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backend::{Class, Fault, Work};
use crate::field_error::FieldError;
use crate::http::{VendorRequest, VendorResponse};
use crate::images::FinishOptions;
use crate::inputs;
use crate::models::{ModelSettings, Models, SupportedTasks, UsualModels};
use crate::task_vendor::{
    Capabilities, ImageRequest, TaskBackend, TaskBase, TaskPlan, TaskReply, TaskResult, TaskStatus,
    TaskVendor, TimingSettings, UsualTiming, VideoRequest, encoded_id, is_video_work,
};
use crate::vendor::{Setup, Vendor, read_flattened, schema_of};
use crate::vendor_errors::{self, ErrorRule, VendorError};
use crate::worker::Worker;

pub(super) const VENDOR: Vendor = Vendor {
    name: "luma",
    about: "Luma Agents: Ray videos with loops, end frames and extensions, Uni pictures",
    needs_credential: true,
    address: "https://agents.lumalabs.ai/v1",
    settings: schema_of::<LumaSettings>,
    ready: "",
    build,
};

const MAKES: SupportedTasks = SupportedTasks {
    images: &[Task::Draw, Task::Edit, Task::Restyle],
    videos: true,
    clips_in_fours: true,
};
const MODELS: UsualModels = UsualModels {
    image: Some("uni-1"),
    video: Some("ray-3.2"),
};
const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 5,
    timeout_seconds: 60,
};

const RULES: &[ErrorRule] = &[
    ErrorRule::code("content_moderated", Class::Reject),
    ErrorRule::code("budget_exhausted", Class::Quota),
    ErrorRule::code("rate_limited", Class::Rate),
    ErrorRule::code("generation_failed", Class::Retry),
    ErrorRule::code("output_not_found", Class::Retry),
    ErrorRule::code("image_too_large", Class::BadRequest),
    ErrorRule::code("unsupported_format", Class::BadRequest),
    ErrorRule::code("corrupt_input", Class::BadRequest),
    ErrorRule::code("invalid_request", Class::BadRequest),
];

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct LumaSettings {
    #[serde(flatten)]
    models: ModelSettings,
    #[serde(flatten)]
    timing: TimingSettings,
}

struct Luma {
    base: TaskBase,
    models: Models,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: LumaSettings = read_flattened(setup.settings)?;
    let models = settings.models.checked(MAKES, MODELS)?;
    let http = setup.http.with_bearer(setup.credential.reveal())?;
    Ok(TaskBackend::worker(Luma {
        base: TaskBase::new(http, settings.timing, TIMING),
        models,
    }))
}

impl TaskVendor for Luma {
    fn base(&self) -> &TaskBase {
        &self.base
    }

    fn serves(&self, operation: &str) -> bool {
        self.models.serves(operation)
    }

    fn capabilities(&self, operation: &str, brief: &Brief) -> Result<Capabilities, Fault> {
        self.models.chosen_for(operation, brief)?;
        if !brief.task.is_video() {
            return Ok(Capabilities::pictures(bodies::CAN));
        }
        Ok(Capabilities::films(bodies::films(brief.looped)))
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let model = self.models.chosen(work)?;
        let (body, finish) = if is_video_work(work) {
            let notes = inputs::parent_notes(work);
            let earlier = match work.brief.task {
                Task::Extend(index) => {
                    let made = &notes["generations"];
                    made.get(usize::from(index)).and_then(Value::as_str)
                }
                _ => None,
            };
            let scene = VideoRequest::of(work, &bodies::films(work.brief.looped)).await?;
            (
                bodies::film(model, &scene, earlier)?,
                FinishOptions::default(),
            )
        } else {
            let sheet = ImageRequest::of(work, &bodies::CAN).await?;
            let changes = work.brief.task != Task::Draw;
            (bodies::picture(model, &sheet, changes), sheet.finish)
        };
        let call = VendorRequest::post_json("generations", &body);
        Ok(TaskPlan::alike(work, call, finish))
    }

    fn started(&self, _: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        TaskStatus::task(&reply, &reply.body["id"])
    }

    fn poll_request(&self, task: &Value) -> VendorRequest {
        VendorRequest::get(format!("generations/{}", encoded_id(task)))
    }

    fn task_status(&self, _: &Work, task: &Value, reply: TaskReply) -> Result<TaskStatus, Fault> {
        let body = &reply.body;
        let state = body["state"].as_str().ok_or_else(|| reply.nonsense())?;
        Ok(match state {
            "completed" => {
                let files = body["output"].as_array().into_iter().flatten();
                TaskStatus::Done(TaskResult {
                    notes: json!({"generations": [task["id"]]}),
                    ..TaskResult::at(files.filter_map(|file| file["url"].as_str()))
                })
            }
            "failed" => TaskStatus::Failed(vendor_errors::failed_by(
                RULES,
                &VendorError::of(&body["failure_code"], &body["failure_reason"]),
            )),
            _ => TaskStatus::Running(None),
        })
    }

    fn error_rules(&self) -> &'static [ErrorRule] {
        RULES
    }

    /// There is no page for it: a generation that cannot be is asked for.
    fn probe(&self) -> VendorRequest {
        VendorRequest::get("generations/00000000-0000-0000-0000-000000000000")
    }

    fn is_healthy(&self, answer: &VendorResponse) -> bool {
        vendor_errors::is_unknown_task(answer)
    }
}
