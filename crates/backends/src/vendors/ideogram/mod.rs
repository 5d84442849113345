//! Ideogram's second interface: the design family but vectors, as tasks.

mod bodies;

use std::collections::BTreeMap;

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backend::{Class, Cost, Fault, Work};
use crate::field_error::FieldError;
use crate::http::{VendorRequest, VendorResponse, encoded};
use crate::task_vendor::{
    Capabilities, ImageRequest, TaskBackend, TaskBase, TaskPlan, TaskReply, TaskResult, TaskStatus,
    TaskVendor, TimingSettings, UsualTiming, encoded_id, serves_tasks,
};
use crate::vendor::{Setup, Vendor, read_flattened, schema_of};
use crate::vendor_errors::{self, ErrorRule, VendorError};
use crate::worker::Worker;

pub(super) const VENDOR: Vendor = Vendor {
    name: "ideogram",
    about: "Ideogram: pictures with words in them; design but its vectors",
    needs_credential: true,
    address: "https://api.ideogram.ai/v2",
    settings: schema_of::<IdeogramSettings>,
    ready: "",
    build,
};

const RULES: &[ErrorRule] = &[
    ErrorRule::status(402, Class::Quota),
    ErrorRule::code("insufficient_funds", Class::Quota),
    ErrorRule::code("subscription_required", Class::Quota),
    ErrorRule::code("inflight_limit", Class::Rate),
    ErrorRule::code("daily_limit", Class::Rate),
    ErrorRule::status(422, Class::Reject),
    ErrorRule::words(200, "safety", Class::Reject),
];

const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 2,
    timeout_seconds: 120,
};

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct IdeogramSettings {
    /// The vendor's model by operation.
    models: BTreeMap<String, String>,
    /// `TURBO`, `DEFAULT` or `QUALITY`, for the models that have it.
    rendering_speed: Option<String>,
    /// Other users of the vendor do not see what is made.
    private: bool,
    #[serde(flatten)]
    timing: TimingSettings,
}

struct Ideogram {
    base: TaskBase,
    settings: IdeogramSettings,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: IdeogramSettings = read_flattened(setup.settings)?;
    for operation in settings.models.keys() {
        if !serves(operation) {
            return Err(FieldError::not_served("models", operation, serves));
        }
    }
    let http = setup
        .http
        .with_header("api-key", "credential", setup.credential.reveal())?;
    Ok(TaskBackend::worker(Ideogram {
        base: TaskBase::new(http, settings.timing, TIMING),
        settings,
    }))
}

/// What each kind of work is called there, and its usual model.
fn route(task: Task) -> Option<(&'static str, &'static str)> {
    Some(match task {
        Task::Draw => ("generate", "ideogram-4-5"),
        Task::Edit => ("precise-edit", "ideogram-4-5"),
        Task::Restyle => ("remix", "ideogram-3"),
        Task::Repaint => ("inpaint", "ideogram-3"),
        Task::ReplaceBackground => ("replace-background", "ideogram-3"),
        Task::RemoveBackground => ("remove-background", "ideogram-3"),
        Task::CrispUpscale | Task::CreativeUpscale => ("upscale", "ideogram-3"),
        _ => return None,
    })
}

/// An older model edits with a mask only by inpainting.
fn masked(task: Task, has_mask: bool, model: Option<&str>) -> Task {
    match task {
        Task::Edit if has_mask && model.is_some_and(is_older) => Task::Repaint,
        task => task,
    }
}

fn is_older(model: &str) -> bool {
    model.starts_with("ideogram-3")
}

fn serves(operation: &str) -> bool {
    serves_tasks(operation, |task| route(task).is_some())
}

/// The pictures of a finished generation; those that a review took out have no address.
fn finished(body: &Value) -> TaskStatus {
    let items = body["data"].as_array().into_iter().flatten();
    let shown = items.filter(|item| item["is_image_safe"] != false);
    let task_result = TaskResult::at(shown.filter_map(|item| item["url"].as_str()));
    if task_result.files.is_empty() {
        return TaskStatus::Failed(vendor_errors::refused_by_review());
    }
    let micros = body["usage_cost_usd_micros"].as_f64();
    TaskStatus::Done(TaskResult {
        seed: body["seed"].as_u64(),
        cost: micros.and_then(|micros| Cost::of(micros / 1e6, "USD")),
        ..task_result
    })
}

fn words(body: &Value) -> Option<VendorError> {
    let reason = body["reject_reason"].as_str().unwrap_or_default();
    let said =
        VendorError::read(body).or_else(|| (!reason.is_empty()).then(VendorError::default))?;
    Some(VendorError {
        code: format!("{} {reason}", said.code),
        ..said
    })
}

impl TaskVendor for Ideogram {
    fn base(&self) -> &TaskBase {
        &self.base
    }

    fn serves(&self, operation: &str) -> bool {
        serves(operation)
    }

    fn capabilities(&self, operation: &str, brief: &Brief) -> Result<Capabilities, Fault> {
        let routed = brief.vendor_model.as_ref();
        let model = routed.or_else(|| self.settings.models.get(operation));
        let older = match (model, brief.task) {
            (Some(model), _) => is_older(model),
            (None, task) => route(task).is_some_and(|(_, usual)| is_older(usual)),
        };
        Ok(Capabilities {
            seeds: true,
            strength: true,
            ..Capabilities::pictures(bodies::can(older, brief.mask.is_some()))
        })
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let routed = work.brief.vendor_model.as_ref();
        let model = routed.or_else(|| self.settings.models.get(&work.operation));
        let model = model.map(String::as_str);
        let has_mask = work.mask.is_some();
        let route = route(masked(work.brief.task, has_mask, model));
        let (route, usual) =
            route.ok_or_else(|| Fault::ours(format!("{} is not served", work.operation)))?;
        let model = model.unwrap_or(usual);
        let older = is_older(model);
        let sheet = ImageRequest::of(work, &bodies::can(older, has_mask)).await?;
        let mut fields = bodies::fields(work, &sheet, older);
        if let (Some(speed), true) = (&self.settings.rendering_speed, older) {
            fields["rendering_speed"] = json!(speed);
        }
        if self.settings.private {
            fields["private"] = json!(true);
        }
        if let Some(hook) = &work.hook_url {
            fields["webhook_url"] = json!(hook);
        }
        let path = format!("image/{route}/{}", encoded(model));
        let call = bodies::call(path, &fields, &sheet)?;
        Ok(TaskPlan::once(call, sheet.finish))
    }

    fn started(&self, _: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        TaskStatus::task(&reply, &reply.body["generation_id"])
    }

    fn poll_request(&self, task: &Value) -> VendorRequest {
        VendorRequest::get(format!("generations/{}", encoded_id(task)))
    }

    fn task_status(&self, _: &Work, _: &Value, reply: TaskReply) -> Result<TaskStatus, Fault> {
        let body = &reply.body;
        let state = body["status"].as_str().ok_or_else(|| reply.nonsense())?;
        Ok(match state {
            "completed" => finished(body),
            "failed" => TaskStatus::Failed(vendor_errors::failed_by(
                RULES,
                &VendorError::of(&Value::Null, &body["failure_reason"]),
            )),
            _ => TaskStatus::Running(None),
        })
    }

    fn error_rules(&self) -> &'static [ErrorRule] {
        RULES
    }

    fn read_error(&self, body: &Value) -> Option<VendorError> {
        words(body)
    }

    /// A generation that cannot be is asked for.
    fn probe(&self) -> VendorRequest {
        VendorRequest::get("generations/00000000-0000-0000-0000-000000000000")
    }

    fn is_healthy(&self, answer: &VendorResponse) -> bool {
        vendor_errors::is_unknown_task(answer)
    }
}
