//! Stability: the stable-image services of the second interface, each answered within its call; the creative upscale is a task.

use atelier_contract::brief::{Brief, Task};
use bytes::Bytes;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::backend::{Class, Cost, Fault, Work};
use crate::field_error::FieldError;
use crate::http::{MultipartForm, VendorRequest, VendorResponse};
use crate::inputs::{self, media_type, unsupported};
use crate::models::{ModelSettings, Models, SupportedTasks, UsualModels};
use crate::seeds;
use crate::task_vendor::{
    AnswerForm, Capabilities, FileSource, ImageCapabilities, ImageRequest, MaskSupport,
    TaskBackend, TaskBase, TaskPlan, TaskReply, TaskResult, TaskStatus, TaskVendor, TimingSettings,
    UsualTiming, encoded_id, nearest_ratio,
};
use crate::vendor::{Setup, Vendor, read_flattened, schema_of};
use crate::vendor_errors::{self, ErrorRule, VendorError};
use crate::worker::Worker;

pub(super) const VENDOR: Vendor = Vendor {
    name: "stability",
    about: "Stability: stable-image generation, edits by mask, background removal and upscales",
    needs_credential: true,
    address: "https://api.stability.ai",
    settings: schema_of::<StabilitySettings>,
    ready: "",
    build,
};

const MAKES: SupportedTasks = SupportedTasks {
    images: &[
        Task::Draw,
        Task::Edit,
        Task::Repaint,
        Task::Restyle,
        Task::ReplaceBackground,
        Task::RemoveBackground,
        Task::CrispUpscale,
        Task::CreativeUpscale,
    ],
    videos: false,
    clips_in_fours: false,
};
const MODELS: UsualModels = UsualModels {
    image: Some("core"),
    video: None,
};
const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 10,
    timeout_seconds: 180,
};
const RATIOS: &[&str] = &[
    "21:9", "16:9", "3:2", "5:4", "1:1", "4:5", "2:3", "9:16", "9:21",
];
/// What stands in place of words where a caller has none.
const NO_WORDS: &str = "high quality";
/// Pictures that are sent have at most 10 MiB.
const MOST_INPUT: usize = 9_500_000;
/// Fast and creative upscales take pictures with at most so many pixels.
const MOST_SMALL_PIXELS: u32 = 1_048_576;

const RULES: &[ErrorRule] = &[
    ErrorRule::code("content_moderation", Class::Reject),
    ErrorRule::code("content_filtered", Class::Reject),
    ErrorRule::code("payment_required", Class::Quota),
    ErrorRule::code("insufficient_balance", Class::Quota),
    ErrorRule::code("rate_limit_exceeded", Class::Rate),
    ErrorRule::code("unauthorized", Class::Dead),
    ErrorRule::code("permission_denied", Class::Dead),
];

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct StabilitySettings {
    #[serde(flatten)]
    models: ModelSettings,
    #[serde(flatten)]
    timing: TimingSettings,
}

struct Stability {
    base: TaskBase,
    models: Models,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: StabilitySettings = read_flattened(setup.settings)?;
    let models = settings.models.checked(MAKES, MODELS)?;
    let http = setup
        .http
        .with_bearer(setup.credential.reveal())?
        .with_header("accept", "credential", "application/json")?;
    Ok(TaskBackend::worker(Stability {
        base: TaskBase::new(http, settings.timing, TIMING),
        models,
    }))
}

/// What it can do for a kind of work: with words alone no pictures are taken, with a mask one.
fn can(brief: &Brief) -> ImageCapabilities {
    ImageCapabilities {
        masks: MaskSupport::White,
        references: match brief.task {
            Task::Draw => 0,
            _ => 1,
        },
        negative: true,
        transparent: false,
        backgrounds: false,
    }
}

/// The path of a kind of work with a model.
fn route(brief: &Brief, model: &str) -> String {
    let edit = |name: &str| format!("v2beta/stable-image/edit/{name}");
    match brief.task {
        Task::Repaint | Task::ReplaceBackground => edit("inpaint"),
        Task::Edit if brief.mask.is_some() => edit("inpaint"),
        Task::RemoveBackground => edit("remove-background"),
        Task::CrispUpscale => "v2beta/stable-image/upscale/fast".to_owned(),
        Task::CreativeUpscale => "v2beta/stable-image/upscale/creative".to_owned(),
        _ if model.starts_with("sd3") => "v2beta/stable-image/generate/sd3".to_owned(),
        _ => {
            let name = model.strip_prefix("stable-image-").unwrap_or(model);
            format!("v2beta/stable-image/generate/{name}")
        }
    }
}

/// Whether the service of a kind of work takes words, and a seed.
fn takes_words(task: Task) -> bool {
    !matches!(task, Task::RemoveBackground | Task::CrispUpscale)
}

/// What a file in a form is called.
fn file(form: MultipartForm, name: &str, bytes: &Bytes) -> MultipartForm {
    let kind = media_type(bytes);
    let extension = kind.rsplit('/').next().unwrap_or("png");
    form.file(name, &format!("{name}.{extension}"), kind, bytes.clone())
}

/// A review shows by the reason of an end; what it took is paid for.
fn read(mut reply: TaskReply) -> Result<TaskStatus, Fault> {
    let body = std::mem::take(&mut reply.body);
    if body["finish_reason"] == "CONTENT_FILTERED" {
        return Ok(TaskStatus::Failed(Fault {
            detail: "finish_reason CONTENT_FILTERED".to_owned(),
            ..vendor_errors::refused_by_review()
        }));
    }
    let bytes = reply.file(&body["image"]);
    let bytes = bytes.or_else(|| reply.file(&body["result"]));
    let Some(bytes) = bytes else {
        return Err(reply.nonsense());
    };
    Ok(TaskStatus::Done(TaskResult {
        files: vec![FileSource::File(bytes)],
        seed: body["seed"].as_u64(),
        ..TaskResult::default()
    }))
}

impl TaskVendor for Stability {
    fn base(&self) -> &TaskBase {
        &self.base
    }

    fn serves(&self, operation: &str) -> bool {
        self.models.serves(operation)
    }

    fn capabilities(&self, operation: &str, brief: &Brief) -> Result<Capabilities, Fault> {
        self.models.chosen_for(operation, brief)?;
        Ok(Capabilities {
            strength: true,
            ..Capabilities::pictures(can(brief)).seeded(true)
        })
    }

    fn start_form(&self, _: &Work) -> AnswerForm<'_> {
        AnswerForm::Document(vec!["image"])
    }

    fn question_form(&self, _: &Value) -> AnswerForm<'_> {
        AnswerForm::Document(vec!["image", "result"])
    }

    fn makes_in_call(&self, work: &Work) -> bool {
        work.brief.task != Task::CreativeUpscale
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let brief = &work.brief;
        let model = self.models.chosen(work)?;
        let mut sheet = ImageRequest::of(work, &can(brief)).await?;
        let path = route(brief, model);
        let mut form = MultipartForm::default().text("output_format", "png");
        if takes_words(brief.task) {
            let words = match &*sheet.prompt {
                "" => NO_WORDS,
                words => words,
            };
            form = form.text("prompt", words);
            if !sheet.negative.is_empty() {
                form = form.text("negative_prompt", &*sheet.negative);
            }
        }
        if path.ends_with("/sd3") {
            form = form.text("model", model);
        }
        let image = sheet.images.drain(..).next();
        let draws = image.is_none();
        if let Some(image) = image {
            let image = match (&sheet.mask, brief.task) {
                (Some(_), _) if image.len() > MOST_INPUT => {
                    return Err(unsupported("image", "is too large for the back end"));
                }
                (Some(_), _) => image,
                (None, Task::CrispUpscale | Task::CreativeUpscale) => small(image).await?,
                (None, _) => inputs::shrink_to_bytes(image, MOST_INPUT).await?,
            };
            form = file(form, "image", &image);
        }
        if let Some(mask) = &sheet.mask {
            form = file(form, "mask", mask).text("grow_mask", "0");
        }
        if matches!(brief.task, Task::Restyle | Task::Edit) && sheet.mask.is_none() {
            if path.ends_with("/sd3") {
                form = form.text("mode", "image-to-image");
            }
            // Nothing says how far an edit goes; the services must be told.
            let strength = match brief.task {
                Task::Restyle => brief.strength,
                _ => 0.75,
            };
            form = form.text("strength", strength.to_string());
        } else if let (true, Some(size)) = (draws, sheet.size) {
            form = form.text("aspect_ratio", nearest_ratio(size, RATIOS));
        }
        let seed = brief.seed.filter(|_| takes_words(brief.task));
        Ok(TaskPlan::each(work, sheet.finish, move |place| {
            let mut form = form.clone();
            if let Some(seed) = seed {
                let seed = seeds::member(seed, place as usize) & 0x7fff_ffff;
                form = form.text("seed", seed.to_string());
            }
            let (body, media_type) = form.finish();
            VendorRequest::new(http::Method::POST, path.clone()).body(body, media_type)
        }))
    }

    fn started(&self, work: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        if work.brief.task == Task::CreativeUpscale {
            return TaskStatus::task(&reply, &reply.body["id"]);
        }
        read(reply)
    }

    fn poll_request(&self, task: &Value) -> VendorRequest {
        VendorRequest::get(format!("v2beta/results/{}", encoded_id(task)))
    }

    fn task_status(&self, _: &Work, _: &Value, reply: TaskReply) -> Result<TaskStatus, Fault> {
        if reply.answer.status == 202 {
            return Ok(TaskStatus::Running(None));
        }
        read(reply)
    }

    fn error_rules(&self) -> &[ErrorRule] {
        RULES
    }

    /// The name of an error with a list of reasons.
    fn read_error(&self, body: &Value) -> Option<VendorError> {
        let Some(name) = body["name"].as_str() else {
            return VendorError::read(body);
        };
        let reasons = body["errors"].as_array().into_iter().flatten();
        let reasons: Vec<&str> = reasons.filter_map(Value::as_str).collect();
        let words = if reasons.is_empty() {
            body["message"].as_str().unwrap_or_default().to_owned()
        } else {
            reasons.join("; ")
        };
        Some(VendorError::new(name, words))
    }

    /// A task that failed is answered by its error alone.
    fn ended(&self, _: &Value, answer: &VendorResponse) -> Option<Fault> {
        let about_task = matches!(answer.status, 400 | 403 | 404 | 422);
        let fault = self.fault(answer);
        let over = about_task && !fault.class.may_pass() && fault.class != Class::Dead;
        over.then_some(fault)
    }

    fn probe(&self) -> VendorRequest {
        VendorRequest::get("v1/user/balance")
    }

    fn balance(&self, answer: &VendorResponse) -> Option<Cost> {
        Cost::of(answer.json().ok()?["credits"].as_f64()?, "credits")
    }
}

/// A picture as small as an upscale takes it.
async fn small(image: Bytes) -> Result<Bytes, Fault> {
    let header = atelier_media::header(&image).ok();
    let (width, height) = header.map_or((0, 0), |header| (header.width, header.height));
    if width.saturating_mul(height) <= MOST_SMALL_PIXELS {
        return inputs::shrink_to_bytes(image, MOST_INPUT).await;
    }
    let picture = inputs::decoded(image, "image".to_owned()).await?;
    let shape = f64::from(width.max(height)) / f64::from(width.min(height).max(1));
    let side = (f64::from(MOST_SMALL_PIXELS) * shape).sqrt() as u32;
    inputs::shrink_to_side(picture, side.max(1)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_work_has_its_path() {
        let of = |task: Task, model: &str| route(&Brief::new(task), model);
        assert!(of(Task::Draw, "core").ends_with("generate/core"));
        assert!(of(Task::Draw, "stable-image-ultra").ends_with("generate/ultra"));
        assert!(of(Task::Restyle, "sd3.5-large").ends_with("generate/sd3"));
        assert!(of(Task::Repaint, "core").ends_with("edit/inpaint"));
        assert!(of(Task::CrispUpscale, "core").ends_with("upscale/fast"));
    }
}
