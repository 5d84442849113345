//! Vidu: videos from words, between frames and with references.

use atelier_contract::brief::Brief;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backend::{Class, Cost, Fault, Work};
use crate::field_error::FieldError;
use crate::http::{VendorRequest, VendorResponse};
use crate::images::FinishOptions;
use crate::inputs::data_uri;
use crate::models::{ModelSettings, Models, SupportedTasks, UsualModels};
use crate::seeds;
use crate::task_vendor::{
    Capabilities, Lengths, TaskBackend, TaskBase, TaskPlan, TaskReply, TaskResult, TaskStatus,
    TaskVendor, TimingSettings, UsualTiming, VideoCapabilities, VideoRequest, encoded_id,
    nearest_ratio,
};
use crate::vendor::{Setup, Vendor, read_flattened, schema_of};
use crate::vendor_errors::{self, ErrorRule, VendorError};
use crate::worker::Worker;

pub(super) const VENDOR: Vendor = Vendor {
    name: "vidu",
    about: "Vidu: videos of 1 to 16 seconds with first and last frames, loops and references",
    needs_credential: true,
    address: "https://api.vidu.com",
    settings: schema_of::<ViduSettings>,
    ready: "",
    build,
};

const MAKES: SupportedTasks = SupportedTasks {
    images: &[],
    videos: true,
    clips_in_fours: true,
};
const MODELS: UsualModels = UsualModels {
    image: None,
    video: Some("viduq3-pro"),
};
const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 5,
    timeout_seconds: 120,
};
const RATIOS: &[&str] = &["16:9", "9:16", "1:1", "4:3", "3:4"];
const RESOLUTIONS: &[(&str, u32)] = &[("540p", 540), ("720p", 720), ("1080p", 1080)];

const RULES: &[ErrorRule] = &[
    ErrorRule::code("audit", Class::Reject),
    ErrorRule::code("risk", Class::Reject),
    ErrorRule::code("creditinsufficient", Class::Quota),
    ErrorRule::code("insufficient", Class::Quota),
    ErrorRule::code("quotaexceeded", Class::Rate),
    ErrorRule::code("toomanyrequests", Class::Rate),
    ErrorRule::code("systemthrottling", Class::Rate),
    ErrorRule::code("modelunavailable", Class::Model),
    ErrorRule::code("tasknotfound", Class::Gone),
    ErrorRule::code("field", Class::BadRequest),
    ErrorRule::code("imagedownloadfailure", Class::BadRequest),
    ErrorRule::code("unauthorized", Class::Dead),
];

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct ViduSettings {
    #[serde(flatten)]
    models: ModelSettings,
    /// Videos with sound, by the models that make any.
    audio: bool,
    /// The shortest and the longest video, where the usual bounds of the model are others.
    video_seconds: Option<[u32; 2]>,
    /// Orders at the cheaper price of quiet hours, which may take two days.
    off_peak: bool,
    #[serde(flatten)]
    timing: TimingSettings,
}

struct Vidu {
    base: TaskBase,
    models: Models,
    audio: bool,
    off_peak: bool,
    video_seconds: Option<[u32; 2]>,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: ViduSettings = read_flattened(setup.settings)?;
    let models = settings.models.checked(MAKES, MODELS)?;
    let key = setup.credential.reveal();
    let http = setup
        .http
        .with_header("authorization", "credential", &format!("Token {key}"))?;
    Ok(TaskBackend::worker(Vidu {
        base: TaskBase::new(http, settings.timing, TIMING),
        models,
        audio: settings.audio,
        off_peak: settings.off_peak,
        video_seconds: settings.video_seconds,
    }))
}

/// Whether a model is of the generation with sound.
fn is_third(model: &str) -> bool {
    model.starts_with("viduq3")
}

impl Vidu {
    /// What a model can do. References have models of their own: those that carry no grade in their names.
    fn films(&self, model: &str) -> VideoCapabilities {
        let (from, to) = match (self.video_seconds, model) {
            (Some([from, to]), _) => (from, to),
            (None, model) if is_third(model) => (1, 16),
            (None, model) if model.starts_with("viduq2") => (1, 10),
            (None, _) => (5, 5),
        };
        let graded = ["pro", "turbo", "fast", "classic"];
        VideoCapabilities {
            lengths: Lengths::Between(from, to),
            ends: true,
            loops: false,
            references: if graded.iter().any(|grade| model.contains(grade)) {
                0
            } else {
                7
            },
        }
    }

    fn body(&self, work: &Work, model: &str, scene: &VideoRequest) -> Value {
        let frames = scene.first.iter().chain(&scene.last);
        let images: Vec<String> = frames
            .chain(&scene.references)
            .map(|bytes| data_uri(bytes))
            .collect();
        let mut body = json!({
            "model": model,
            "prompt": scene.prompt,
            "duration": scene.seconds,
            "resolution": scene.resolution(RESOLUTIONS),
            "off_peak": self.off_peak,
        });
        if is_third(model) {
            body["audio"] = json!(self.audio);
        }
        if !images.is_empty() {
            body["images"] = json!(images);
        }
        // With frames a video has their shape.
        if scene.first.is_none() {
            body["aspect_ratio"] = json!(nearest_ratio(scene.size, RATIOS));
        }
        if let Some(hook) = &work.hook_url {
            body["callback_url"] = json!(hook);
        }
        body
    }
}

/// The path by what a video begins with.
fn route(scene: &VideoRequest) -> &'static str {
    match (&scene.first, &scene.last) {
        (Some(_), Some(_)) => "start-end2video",
        (Some(_), None) => "img2video",
        _ if scene.references.is_empty() => "text2video",
        _ => "reference2video",
    }
}

impl TaskVendor for Vidu {
    fn base(&self) -> &TaskBase {
        &self.base
    }

    fn serves(&self, operation: &str) -> bool {
        self.models.serves(operation)
    }

    fn capabilities(&self, operation: &str, brief: &Brief) -> Result<Capabilities, Fault> {
        let model = self.models.chosen_for(operation, brief)?;
        Ok(Capabilities::films(self.films(model)).seeded(true))
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let model = self.models.chosen(work)?;
        let scene = VideoRequest::of(work, &self.films(model)).await?;
        let path = format!("ent/v2/{}", route(&scene));
        let body = self.body(work, model, &scene);
        let seed = work.brief.seed;
        Ok(TaskPlan::each(
            work,
            FinishOptions::default(),
            move |place| {
                let mut body = body.clone();
                if let Some(seed) = seed {
                    body["seed"] = json!(seeds::member(seed, place as usize) & 0x7fff_ffff);
                }
                VendorRequest::post_json(path.clone(), &body)
            },
        ))
    }

    fn started(&self, _: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        TaskStatus::task(&reply, &reply.body["task_id"])
    }

    fn poll_request(&self, task: &Value) -> VendorRequest {
        VendorRequest::get(format!("ent/v2/tasks/{}/creations", encoded_id(task)))
    }

    fn task_status(&self, _: &Work, _: &Value, reply: TaskReply) -> Result<TaskStatus, Fault> {
        let body = &reply.body;
        let cost = body["credits"]
            .as_f64()
            .and_then(|credits| Cost::of(credits, "credits"));
        Ok(match body["state"].as_str() {
            None => return Err(reply.nonsense()),
            Some("success") => {
                let files = body["creations"].as_array().into_iter().flatten();
                TaskStatus::Done(TaskResult {
                    cost,
                    ..TaskResult::at(files.filter_map(|file| file["url"].as_str()))
                })
            }
            Some("failed") => {
                let said = VendorError::of(&body["err_code"], &body["err_msg"]);
                TaskStatus::Failed(vendor_errors::failed_by(RULES, &said))
            }
            Some("canceled" | "cancelled") => {
                TaskStatus::Failed(Fault::vendor(Class::Gone, "the vendor cancelled the work"))
            }
            Some(_) => TaskStatus::Running(None),
        })
    }

    fn error_rules(&self) -> &[ErrorRule] {
        RULES
    }

    /// The word for programs is the reason.
    fn read_error(&self, body: &Value) -> Option<VendorError> {
        let reason = body["reason"].as_str();
        match reason {
            Some(reason) => Some(VendorError::new(
                reason,
                body["message"].as_str().unwrap_or_default(),
            )),
            None => VendorError::read(body),
        }
    }

    fn stop(&self, task: &Value) -> Option<VendorRequest> {
        let path = format!("ent/v2/tasks/{}/cancel", encoded_id(task));
        Some(VendorRequest::post_json(path, &json!({"id": task["id"]})))
    }

    fn probe(&self) -> VendorRequest {
        VendorRequest::get("ent/v2/credits?show_detail=false")
    }

    fn balance(&self, answer: &VendorResponse) -> Option<Cost> {
        let body = answer.json().ok()?;
        let packs = body["remains"].as_array()?.iter();
        let left = packs.filter_map(|pack| pack["credit_remain"].as_f64());
        Cost::of(left.reduce(|one, other| one + other)?, "credits")
    }
}
