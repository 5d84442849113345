//! Luma's Agents interface: Ray videos with first and last frames, loops and extensions, and Uni pictures.

mod bodies;

use std::collections::BTreeMap;
use std::time::Duration;

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backend::{BoxFuture, Class, Fault, Work};
use crate::field_error::FieldError;
use crate::http::{VendorHttp, VendorRequest, VendorResponse, encoded};
use crate::images::FinishOptions;
use crate::inputs;
use crate::models::{ModelNames, Models, SupportedTasks};
use crate::task_vendor::{
    Capabilities, ImageRequest, TaskBackend, TaskPlan, TaskReply, TaskResult, TaskStatus,
    TaskVendor, VideoRequest, call_timeout, is_video_work, poll_interval,
};
use crate::vendor::{Setup, Vendor, read_settings, schema_of};
use crate::vendor_errors::{self, ErrorRule, VendorError};
use crate::worker::Worker;

/// The vendor.
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
const VIDEO_MODEL: &str = "ray-3.2";
const IMAGE_MODEL: &str = "uni-1";

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
    image_model: Option<String>,
    video_model: Option<String>,
    grids: bool,
    models: BTreeMap<String, ModelNames>,
    poll_seconds: Option<u64>,
    timeout_seconds: Option<u64>,
}

/// A worker account.
struct Luma {
    http: VendorHttp,
    models: Models,
    poll_interval: Duration,
    call_timeout: Duration,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: LumaSettings = read_settings(setup.settings)?;
    let models = Models {
        makes: MAKES,
        image: settings.image_model,
        video: settings.video_model,
        grids: settings.grids,
        named: settings.models,
    };
    let models = models.or_usual(IMAGE_MODEL, VIDEO_MODEL)?;
    let key = setup.credential.reveal();
    Ok(TaskBackend::worker(Luma {
        http: setup
            .http
            .with_header(("authorization", "credential"), &format!("Bearer {key}"))?,
        models,
        poll_interval: poll_interval(settings.poll_seconds, 5),
        call_timeout: call_timeout(settings.timeout_seconds, 60),
    }))
}

impl Luma {
    async fn order<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
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
}

fn path(task: &Value) -> String {
    let number = encoded(task["id"].as_str().unwrap_or_default());
    format!("generations/{number}")
}

impl TaskVendor for Luma {
    fn http(&self) -> &VendorHttp {
        &self.http
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

    fn call_timeout(&self) -> Duration {
        self.call_timeout
    }

    fn poll_interval(&self) -> Duration {
        self.poll_interval
    }

    fn plan<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<TaskPlan<'a>, Fault>> {
        Box::pin(self.order(work))
    }

    fn started(&self, _: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        TaskStatus::task(&reply, &reply.body["id"])
    }

    fn poll_request(&self, task: &Value) -> VendorRequest {
        VendorRequest::get(path(task))
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
                &VendorError {
                    code: body["failure_code"].as_str().unwrap_or_default().to_owned(),
                    message: body["failure_reason"]
                        .as_str()
                        .unwrap_or_default()
                        .to_owned(),
                },
            )),
            _ => TaskStatus::Running(None),
        })
    }

    fn fault(&self, answer: &VendorResponse) -> Fault {
        let said = answer.json().ok().and_then(|body| VendorError::read(&body));
        vendor_errors::fault_by(RULES, answer, said)
    }

    /// There is no page for it: a generation that cannot be is asked for.
    fn probe(&self) -> VendorRequest {
        VendorRequest::get("generations/00000000-0000-0000-0000-000000000000")
    }

    fn is_healthy(&self, answer: &VendorResponse) -> bool {
        matches!(answer.status, 400 | 404 | 422) && answer.json().is_ok()
    }
}
