//! new-api as an upstream, and so every reseller that runs it: images in OpenAI's format, videos as tasks of its own.

use std::collections::BTreeMap;

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::backend::{Class, Cost, Fault, Work};
use crate::field_error::FieldError;
use crate::http::{MultipartForm, VendorRequest};
use crate::images::FinishOptions;
use crate::inputs::{data_uri, media_type};
use crate::models::{ModelSettings, Models, SupportedTasks, UsualModels};
use crate::task_vendor::{
    AnswerForm, Capabilities, FileSource, ImageCapabilities, ImageRequest, Lengths, MaskSupport,
    TaskBackend, TaskBase, TaskPlan, TaskReply, TaskResult, TaskStatus, TaskVendor, TimingSettings,
    UsualTiming, VideoCapabilities, VideoRequest, encoded_id, is_video_work,
};
use crate::vendor::{Setup, Vendor, read_flattened};
use crate::vendor_errors::{self, ErrorRule, VendorError};
use crate::worker::Worker;

pub(super) const VENDOR: Vendor = Vendor {
    name: "new-api",
    about: "new-api and the resellers that run it: images in OpenAI's format, videos as tasks",
    needs_credential: true,
    address: "",
    settings: schema,
    ready: "",
    build,
};

const MAKES: SupportedTasks = SupportedTasks {
    images: &[Task::Draw, Task::Edit, Task::Repaint, Task::Restyle],
    videos: true,
    clips_in_fours: true,
};
const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 10,
    timeout_seconds: 300,
};
/// Units of its quota that are a dollar, unless its operator chose others.
const USUAL_QUOTA: f64 = 500_000.0;
/// What a whole task is at, in percent.
const WHOLE: u8 = 100;

const RULES: &[ErrorRule] = &[
    ErrorRule::code("insufficient_user_quota", Class::Quota),
    ErrorRule::code("insufficient_quota", Class::Quota),
    ErrorRule::code("pre_consume", Class::Quota),
    ErrorRule::words(403, "quota", Class::Quota),
    ErrorRule::code("sensitive_words", Class::Reject),
    ErrorRule::code("prompt_blocked", Class::Reject),
    ErrorRule::code("violation_fee", Class::Reject),
    ErrorRule::code("model_not_found", Class::Model),
    ErrorRule::code("model_price_error", Class::Model),
    ErrorRule::code("invalid_api_platform", Class::Model),
    ErrorRule::code("get_channel_failed", Class::Retry),
    ErrorRule::code("no_available_key", Class::Retry),
    ErrorRule::code("task_not_exist", Class::Gone),
    ErrorRule::code("task_origin_not_exist", Class::Gone),
    ErrorRule::words(401, "token", Class::Dead),
];

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct NewApiSettings {
    #[serde(flatten)]
    models: ModelSettings,
    /// The lengths of videos that the models offer; any when empty.
    video_seconds: Vec<u32>,
    /// More fields for every video, such as `{"metadata": {"audio": false}}`.
    fields: BTreeMap<String, Value>,
    /// Units of its quota that are a dollar; 500000 where its operator did not change it.
    quota_per_dollar: Option<f64>,
    #[serde(flatten)]
    timing: TimingSettings,
}

fn schema() -> Value {
    let mut schema = crate::vendor::schema_of::<NewApiSettings>();
    schema["anyOf"] = Models::one_of_required();
    schema
}

struct NewApi {
    base: TaskBase,
    models: Models,
    video_seconds: Vec<u32>,
    fields: BTreeMap<String, Value>,
    quota_per_dollar: f64,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: NewApiSettings = read_flattened(setup.settings)?;
    let models = settings.models.checked(MAKES, UsualModels::default())?;
    let quota = settings.quota_per_dollar.unwrap_or(USUAL_QUOTA);
    if !(quota.is_finite() && quota >= 1.0) {
        return Err(FieldError::new("quota_per_dollar", "must be 1 or more"));
    }
    let http = setup.http.with_bearer(setup.credential.reveal())?;
    Ok(TaskBackend::worker(NewApi {
        base: TaskBase::new(http, settings.timing, TIMING),
        models,
        video_seconds: settings.video_seconds,
        fields: settings.fields,
        quota_per_dollar: quota,
    }))
}

const CAN: ImageCapabilities = ImageCapabilities {
    masks: MaskSupport::White,
    references: 16,
    negative: false,
    transparent: false,
    backgrounds: true,
};

impl NewApi {
    fn films(&self) -> VideoCapabilities {
        VideoCapabilities {
            lengths: match self.video_seconds.as_slice() {
                [] => Lengths::Between(1, 60),
                some => Lengths::Of(some.to_vec()),
            },
            ends: true,
            loops: false,
            references: 0,
        }
    }

    /// A video: two images are its first and its last frame.
    fn film(&self, model: &str, scene: &VideoRequest) -> VendorRequest {
        let frames = scene.first.iter().chain(&scene.last);
        let images: Vec<String> = frames.map(|bytes| data_uri(bytes)).collect();
        let (width, height) = scene.size;
        let mut body = json!({
            "model": model,
            "prompt": scene.prompt,
            "duration": scene.seconds,
            "seconds": scene.seconds.to_string(),
            "size": format!("{width}x{height}"),
        });
        if let Some(first) = images.first() {
            body["image"] = json!(first);
            body["images"] = json!(images);
        }
        for (name, value) in &self.fields {
            body[name] = value.clone();
        }
        VendorRequest::post_json("v1/video/generations", &body)
    }

    /// Images from words, or a form with images to change.
    fn picture(work: &Work, model: &str, sheet: &ImageRequest) -> VendorRequest {
        let mut fields = Map::new();
        fields.insert("model".to_owned(), json!(model));
        fields.insert("prompt".to_owned(), json!(sheet.prompt));
        fields.insert("n".to_owned(), json!(1));
        if let Some((width, height)) = sheet.size {
            fields.insert("size".to_owned(), json!(format!("{width}x{height}")));
        }
        if let Some(quality) = work.brief.model_words.get("quality") {
            fields.insert("quality".to_owned(), quality.clone());
        }
        if sheet.images.is_empty() {
            return VendorRequest::post_json("v1/images/generations", &Value::Object(fields));
        }
        let field = if sheet.images.len() == 1 {
            "image"
        } else {
            "image[]"
        };
        let form = sheet.images.iter().enumerate();
        let mut form = form.fold(MultipartForm::of(&fields), |form, (index, bytes)| {
            let kind = media_type(bytes);
            let extension = kind.rsplit('/').next().unwrap_or("png");
            form.file(
                field,
                &format!("image-{index}.{extension}"),
                kind,
                bytes.clone(),
            )
        });
        if let Some(mask) = &sheet.mask {
            form = form.file("mask", "mask.png", "image/png", mask.clone());
        }
        let (body, media_type) = form.finish();
        VendorRequest::new(http::Method::POST, "v1/images/edits").body(body, media_type)
    }

    /// What a task took, in dollars.
    fn cost(&self, task: &Value) -> Option<Cost> {
        let quota = task["quota"].as_f64().filter(|quota| *quota > 0.0)?;
        Cost::of(quota / self.quota_per_dollar, "USD")
    }
}

/// The files of an answer in OpenAI's format.
fn painted(mut reply: TaskReply) -> Result<TaskStatus, Fault> {
    let body = std::mem::take(&mut reply.body);
    let items = body["data"].as_array().into_iter().flatten();
    let mut files = Vec::new();
    for item in items {
        if let Some(bytes) = reply.file(&item["b64_json"]) {
            files.push(FileSource::File(bytes));
        } else if let Some(url) = item["url"].as_str().filter(|url| !url.is_empty()) {
            files.push(FileSource::Address(url.to_owned()));
        }
    }
    if files.is_empty() {
        return Err(reply.nonsense());
    }
    let revised = body["data"][0]["revised_prompt"].as_str();
    Ok(TaskStatus::Done(TaskResult {
        files,
        revised_prompt: revised.filter(|text| !text.is_empty()).map(str::to_owned),
        ..TaskResult::default()
    }))
}

/// A percentage such as `30%`.
fn percent(value: &Value) -> Option<u8> {
    let text = value.as_str()?.trim_end_matches('%');
    let percent: f64 = text.trim().parse().ok()?;
    Some(percent.clamp(0.0, f64::from(WHOLE - 1)) as u8)
}

impl TaskVendor for NewApi {
    fn base(&self) -> &TaskBase {
        &self.base
    }

    fn serves(&self, operation: &str) -> bool {
        self.models.serves(operation)
    }

    fn capabilities(&self, operation: &str, brief: &Brief) -> Result<Capabilities, Fault> {
        self.models.chosen_for(operation, brief)?;
        Ok(if brief.task.is_video() {
            Capabilities::films(self.films())
        } else {
            Capabilities {
                words: vec!["quality"],
                ..Capabilities::pictures(CAN)
            }
        })
    }

    fn start_form(&self, work: &Work) -> AnswerForm<'_> {
        if is_video_work(work) {
            AnswerForm::PLAIN
        } else {
            AnswerForm::Document(vec!["b64_json"])
        }
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let model = self.models.chosen(work)?;
        if is_video_work(work) {
            let scene = VideoRequest::of(work, &self.films()).await?;
            let call = self.film(model, &scene);
            return Ok(TaskPlan::alike(work, call, FinishOptions::default()));
        }
        let sheet = ImageRequest::of(work, &CAN).await?;
        let call = Self::picture(work, model, &sheet);
        Ok(TaskPlan::alike(work, call, sheet.finish))
    }

    /// Newer releases answer in OpenAI's format, with the name of the task in two places.
    fn started(&self, work: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        if !is_video_work(work) {
            return painted(reply);
        }
        let body = &reply.body;
        let named = [&body["task_id"], &body["id"], &body["data"]];
        let named = named.into_iter().find(|name| name.is_string());
        TaskStatus::task(&reply, named.unwrap_or(&Value::Null))
    }

    fn poll_request(&self, task: &Value) -> VendorRequest {
        VendorRequest::get(format!("v1/video/generations/{}", encoded_id(task)))
    }

    fn task_status(&self, _: &Work, _: &Value, reply: TaskReply) -> Result<TaskStatus, Fault> {
        let task = &reply.body["data"];
        let state = task["status"].as_str().unwrap_or_default().to_uppercase();
        let cost = self.cost(task);
        Ok(match &*state {
            "" => return Err(reply.nonsense()),
            "SUCCESS" => {
                // Older releases have the address where the reason of a failure is.
                let places = [&task["result_url"], &task["url"], &task["fail_reason"]];
                let address = places.into_iter().filter_map(Value::as_str);
                let mut address = address.filter(|text| text.starts_with("http"));
                TaskStatus::Done(TaskResult {
                    cost,
                    ..TaskResult::at(address.next())
                })
            }
            "FAILURE" => {
                let said = VendorError::of(&Value::Null, &task["fail_reason"]);
                // Its own quota goes back for what failed.
                TaskStatus::Failed(vendor_errors::failed_by(RULES, &said))
            }
            _ => TaskStatus::Running(percent(&task["progress"])),
        })
    }

    fn error_rules(&self) -> &[ErrorRule] {
        RULES
    }

    fn probe(&self) -> VendorRequest {
        VendorRequest::get("v1/models")
    }
}
