//! xAI: Grok Imagine pictures within the call, and videos with first and last frames, references and extensions.

mod bodies;

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backend::{Class, Cost, Fault, Work};
use crate::clock;
use crate::field_error::FieldError;
use crate::http::VendorRequest;
use crate::images::FinishOptions;
use crate::inputs;
use crate::models::{ModelSettings, Models, SupportedTasks, UsualModels};
use crate::task_vendor::{
    AnswerForm, Capabilities, FileSource, ImageRequest, TaskBackend, TaskBase, TaskPlan, TaskReply,
    TaskResult, TaskStatus, TaskVendor, TimingSettings, UsualTiming, VideoRequest, encoded_id,
    is_video_work, prompt_text as words_of,
};
use crate::vendor::{Setup, Vendor, read_flattened, schema_of};
use crate::vendor_errors::{self, ErrorRule, VendorError};
use crate::worker::Worker;

pub(super) const VENDOR: Vendor = Vendor {
    name: "xai",
    about: "xAI: Grok Imagine pictures and videos",
    needs_credential: true,
    address: "https://api.x.ai/v1",
    settings: schema_of::<XaiSettings>,
    ready: "",
    build,
};

const MAKES: SupportedTasks = SupportedTasks::PICTURES_AND_VIDEOS;
const MODELS: UsualModels = UsualModels {
    image: Some("grok-imagine-image-2.0"),
    video: Some("grok-imagine-video-1.5"),
};
const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 5,
    timeout_seconds: 180,
};
const EXTENSION_MODEL: &str = "grok-imagine-video";
/// The vendor keeps a video for a day.
const KEPT_MS: i64 = 23 * 3600 * 1000;
/// So many of the vendor's ticks are a dollar.
const TICKS_A_DOLLAR: f64 = 1e10;

const RULES: &[ErrorRule] = &[
    ErrorRule::words(400, "incorrect api key", Class::Dead),
    ErrorRule::words(400, "moderation", Class::Reject),
    ErrorRule::words(403, "moderation", Class::Reject),
    ErrorRule::words(200, "moderation", Class::Reject),
    ErrorRule::words(403, "credits", Class::Quota),
    ErrorRule::words(403, "spending limit", Class::Quota),
    ErrorRule::words(429, "credits", Class::Quota),
    ErrorRule::code("invalid_argument", Class::BadRequest),
    ErrorRule::code("internal_error", Class::Retry),
];

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct XaiSettings {
    #[serde(flatten)]
    models: ModelSettings,
    /// Videos with sound.
    audio: bool,
    /// The model that extends videos there, usually `grok-imagine-video`. Empty for none: what follows a video then begins
    /// with its last frame, and no video is longer than 15 seconds.
    extension_model: Option<String>,
    #[serde(flatten)]
    timing: TimingSettings,
}

struct Xai {
    base: TaskBase,
    models: Models,
    audio: bool,
    extension_model: Option<String>,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: XaiSettings = read_flattened(setup.settings)?;
    let models = settings.models.checked(MAKES, MODELS)?;
    let http = setup.http.with_bearer(setup.credential.reveal())?;
    Ok(TaskBackend::worker(Xai {
        base: TaskBase::new(http, settings.timing, TIMING),
        models,
        audio: settings.audio,
        extension_model: match settings.extension_model {
            None => Some(EXTENSION_MODEL.to_owned()),
            Some(model) => Some(model).filter(|model| !model.is_empty()),
        },
    }))
}

impl Xai {
    /// The extension of a video that the vendor still has.
    fn extension(&self, work: &Work) -> Option<Value> {
        let (model, Task::Extend(index)) = (self.extension_model.as_ref()?, work.brief.task) else {
            return None;
        };
        let notes = inputs::parent_notes(work);
        let made = notes["videos"].get(usize::from(index))?.as_str()?;
        let finished = work.parent.as_ref()?.finished_ms?;
        let now = clock::seconds() as i64 * 1000;
        let seconds = work.brief.seconds.clamp(1, 10);
        (now - finished < KEPT_MS)
            .then(|| bodies::extension(model, &words_of(&work.brief), made, seconds))
    }
}

/// A review here says nothing: there is no picture, or one that it marked.
fn painted(mut reply: TaskReply) -> Result<TaskStatus, Fault> {
    let body = std::mem::take(&mut reply.body);
    let Some(items) = body["data"].as_array() else {
        return Err(reply.nonsense());
    };
    let mut files = Vec::new();
    for item in items {
        if item["respect_moderation"] == false {
            continue;
        }
        if let Some(bytes) = reply.file(&item["b64_json"]) {
            files.push(FileSource::File(bytes));
        } else if let Some(url) = item["url"].as_str().filter(|url| !url.is_empty()) {
            files.push(FileSource::Address(url.to_owned()));
        }
    }
    if files.is_empty() {
        return Err(vendor_errors::refused_by_review());
    }
    let revised = items
        .iter()
        .find_map(|item| item["revised_prompt"].as_str());
    Ok(TaskStatus::Done(TaskResult {
        files,
        revised_prompt: revised.filter(|text| !text.is_empty()).map(str::to_owned),
        cost: cost(&body),
        ..TaskResult::default()
    }))
}

fn cost(body: &Value) -> Option<Cost> {
    let ticks = body["usage"]["cost_in_usd_ticks"].as_f64()?;
    Cost::of(ticks / TICKS_A_DOLLAR, "USD")
}

/// Errors have three forms; in one of them the code stands beside the words.
fn words(body: &Value) -> Option<VendorError> {
    let said = VendorError::read(body)?;
    match (body["code"].as_str(), body["error"].as_str()) {
        (Some(code), Some(text)) => Some(VendorError::new(code, text)),
        _ => Some(said),
    }
}

impl TaskVendor for Xai {
    fn base(&self) -> &TaskBase {
        &self.base
    }

    fn serves(&self, operation: &str) -> bool {
        self.models.serves(operation)
    }

    fn capabilities(&self, operation: &str, brief: &Brief) -> Result<Capabilities, Fault> {
        let model = self.models.chosen_for(operation, brief)?;
        Ok(if brief.task.is_video() {
            let extends = self.extension_model.is_some();
            Capabilities::films(bodies::films(model, brief, extends))
        } else {
            Capabilities::pictures(bodies::CAN)
        })
    }

    fn start_form(&self, _: &Work) -> AnswerForm<'_> {
        AnswerForm::Document(vec!["b64_json"])
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let model = self.models.chosen(work)?;
        if let Some(body) = self.extension(work) {
            let call = VendorRequest::post_json("videos/extensions", &body);
            return Ok(TaskPlan::alike(work, call, FinishOptions::default()));
        }
        if is_video_work(work) {
            let extends = self.extension_model.is_some();
            let can = bodies::films(model, &work.brief, extends);
            let scene = VideoRequest::of(work, &can).await?;
            let (first, later) = bodies::passes(extends).split(scene.seconds);
            let body = bodies::film(model, &scene, first, self.audio);
            let call = VendorRequest::post_json("videos/generations", &body);
            return Ok(TaskPlan::alike(work, call, FinishOptions::default()).then(later));
        }
        let sheet = ImageRequest::of(work, &bodies::CAN).await?;
        let (path, body) = bodies::picture(model, &sheet);
        let call = VendorRequest::post_json(path, &body);
        Ok(TaskPlan::alike(work, call, sheet.finish))
    }

    fn started(&self, work: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        if !is_video_work(work) {
            return painted(reply);
        }
        TaskStatus::task(&reply, &reply.body["request_id"])
    }

    fn poll_request(&self, task: &Value) -> VendorRequest {
        VendorRequest::get(format!("videos/{}", encoded_id(task)))
    }

    fn task_status(&self, _: &Work, _: &Value, reply: TaskReply) -> Result<TaskStatus, Fault> {
        let body = &reply.body;
        // While it is pending the answer may have no body at all.
        if reply.answer.status == 202 {
            return Ok(TaskStatus::Running(percent(body)));
        }
        let video = &body["video"];
        let address = video["url"].as_str().filter(|url| !url.is_empty());
        Ok(match (body["status"].as_str(), address) {
            (Some("done") | None, Some(address)) if video["respect_moderation"] != false => {
                TaskStatus::Done(TaskResult {
                    cost: cost(body),
                    notes: json!({"videos": [address]}),
                    ..TaskResult::at(Some(address))
                })
            }
            (Some("done"), _) => TaskStatus::Failed(vendor_errors::refused_by_review()),
            (Some("expired"), _) => {
                TaskStatus::Failed(Fault::vendor(Class::Gone, "the vendor let the work expire"))
            }
            (Some("failed"), _) => {
                let said = words(body).unwrap_or_default();
                TaskStatus::Failed(vendor_errors::failed_by(RULES, &said))
            }
            (Some(_), _) => TaskStatus::Running(percent(body)),
            (None, _) => return Err(reply.nonsense()),
        })
    }

    fn next_pass(&self, work: &Work, made: &Value, seconds: u32) -> Result<VendorRequest, Fault> {
        let model = self.extension_model.as_deref().unwrap_or(EXTENSION_MODEL);
        let address = made["videos"][0].as_str();
        let address = address.ok_or_else(|| Fault::ours("a part without an address"))?;
        let body = bodies::extension(model, &words_of(&work.brief), address, seconds);
        Ok(VendorRequest::post_json("videos/extensions", &body))
    }

    fn error_rules(&self) -> &'static [ErrorRule] {
        RULES
    }

    fn read_error(&self, body: &Value) -> Option<VendorError> {
        words(body)
    }

    fn probe(&self) -> VendorRequest {
        VendorRequest::get("models")
    }
}

fn percent(body: &Value) -> Option<u8> {
    let percent = body["progress"].as_f64()?;
    Some(percent.clamp(0.0, 99.0) as u8)
}
