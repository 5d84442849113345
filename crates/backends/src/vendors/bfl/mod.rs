//! Black Forest Labs: FLUX pictures, and videos with keyframes. A task is asked about where its start said.

mod bodies;

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backend::{Class, Cost, Fault, Work};
use crate::field_error::FieldError;
use crate::http::{VendorRequest, VendorResponse, encoded};
use crate::images::FinishOptions;
use crate::models::{ModelSettings, Models, SupportedTasks, UsualModels};
use crate::seeds;
use crate::task_vendor::{
    Capabilities, ImageRequest, TaskBackend, TaskBase, TaskPlan, TaskReply, TaskResult, TaskStatus,
    TaskVendor, TimingSettings, UsualTiming, VideoRequest, encoded_id, id, is_video_work,
};
use crate::vendor::{Setup, Vendor, read_flattened, schema_of};
use crate::vendor_errors::{self, ErrorRule};
use crate::worker::Worker;

pub(super) const VENDOR: Vendor = Vendor {
    name: "bfl",
    about: "Black Forest Labs: FLUX pictures with references, and FLUX videos with first and last frames",
    needs_credential: true,
    address: "https://api.bfl.ai/v1",
    settings: schema_of::<BflSettings>,
    ready: "",
    build,
};

const MAKES: SupportedTasks = SupportedTasks {
    images: &[Task::Draw, Task::Edit, Task::Restyle, Task::Repaint],
    videos: true,
    clips_in_fours: true,
};
const MODELS: UsualModels = UsualModels {
    image: Some("flux-2-pro"),
    video: Some("flux-3-video"),
};
const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 2,
    timeout_seconds: 60,
};

const RULES: &[ErrorRule] = &[
    ErrorRule::status(402, Class::Quota),
    ErrorRule::status(429, Class::Rate),
];

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct BflSettings {
    #[serde(flatten)]
    models: ModelSettings,
    /// Videos with sound.
    audio: bool,
    /// 0, the strictest, to 5.
    safety_tolerance: Option<u8>,
    #[serde(flatten)]
    timing: TimingSettings,
}

struct Bfl {
    base: TaskBase,
    models: Models,
    audio: bool,
    safety_tolerance: Option<u8>,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: BflSettings = read_flattened(setup.settings)?;
    let models = settings.models.checked(MAKES, MODELS)?;
    let key = setup.credential.reveal();
    let http = setup
        .http
        .with_header("x-key", "credential", key)?
        .with_domain("bfl.ai");
    Ok(TaskBackend::worker(Bfl {
        base: TaskBase::new(http, settings.timing, TIMING),
        models,
        audio: settings.audio,
        safety_tolerance: settings.safety_tolerance,
    }))
}

impl TaskVendor for Bfl {
    fn base(&self) -> &TaskBase {
        &self.base
    }

    fn serves(&self, operation: &str) -> bool {
        self.models.serves(operation)
    }

    fn capabilities(&self, operation: &str, brief: &Brief) -> Result<Capabilities, Fault> {
        let model = self.models.chosen_for(operation, brief)?;
        if brief.task.is_video() {
            return Ok(Capabilities::films(bodies::FILMS));
        }
        let seeds = !model.starts_with("flux-3");
        Ok(Capabilities::pictures(bodies::pictures(model)).seeded(seeds))
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let model = self.models.chosen(work)?;
        let (mut body, finish) = if is_video_work(work) {
            let scene = VideoRequest::of(work, &bodies::FILMS).await?;
            (bodies::film(&scene, self.audio), FinishOptions::default())
        } else {
            let sheet = ImageRequest::of(work, &bodies::pictures(model)).await?;
            (bodies::picture(model, &sheet), sheet.finish)
        };
        if let Some(tolerance) = self.safety_tolerance {
            body["safety_tolerance"] = json!(tolerance);
        }
        let seed = work.brief.seed.filter(|_| !model.starts_with("flux-3"));
        let path = encoded(model);
        Ok(TaskPlan::each(work, finish, move |place| {
            let mut body = body.clone();
            if let Some(seed) = seed {
                body["seed"] = json!(seeds::member(seed, place as usize) & 0x7fff_ffff);
            }
            VendorRequest::post_json(path.clone(), &body)
        }))
    }

    fn started(&self, _: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        let body = &reply.body;
        let number = id(&body["id"]).ok_or_else(|| reply.nonsense())?;
        Ok(TaskStatus::Task(json!({
            "id": number,
            "address": body["polling_url"].as_str(),
            "cost": body["cost"].as_f64(),
        })))
    }

    /// Where the start said; some of the vendor's regions know only their own tasks.
    fn poll_request(&self, task: &Value) -> VendorRequest {
        if let Some(address) = task["address"].as_str() {
            return VendorRequest::get(address);
        }
        VendorRequest::get(format!("get_result?id={}", encoded_id(task)))
    }

    fn task_status(&self, _: &Work, task: &Value, reply: TaskReply) -> Result<TaskStatus, Fault> {
        let body = &reply.body;
        let state = body["status"].as_str().ok_or_else(|| reply.nonsense())?;
        Ok(match state {
            "Ready" => {
                let credits = body["cost"].as_f64().or(task["cost"].as_f64());
                TaskStatus::Done(TaskResult {
                    // A credit is a cent.
                    cost: credits.and_then(|credits| Cost::of(credits / 100.0, "USD")),
                    ..TaskResult::at(body["result"]["sample"].as_str())
                })
            }
            "Request Moderated" | "Content Moderated" => TaskStatus::Failed(Fault {
                detail: state.to_owned(),
                ..vendor_errors::refused_by_review()
            }),
            "Error" | "Failed" => {
                TaskStatus::Failed(Fault::vendor(Class::Retry, reply.answer.start()))
            }
            "Task not found" => TaskStatus::Failed(Fault::vendor(Class::Gone, state)),
            _ => {
                let share = body["progress"].as_f64().unwrap_or(0.0).clamp(0.0, 0.99);
                TaskStatus::Running(Some((share * 100.0) as u8))
            }
        })
    }

    fn error_rules(&self) -> &'static [ErrorRule] {
        RULES
    }

    fn probe(&self) -> VendorRequest {
        VendorRequest::get("credits")
    }

    /// A credit is a cent.
    fn balance(&self, answer: &VendorResponse) -> Option<Cost> {
        let credits = answer.json().ok()?["credits"].as_f64()?;
        Cost::of(credits / 100.0, "USD")
    }
}
