//! Recraft: all eight design operations, each answered within its call.

use std::collections::BTreeMap;

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backend::{Class, Cost, Fault, Work};
use crate::field_error::FieldError;
use crate::fit::{self, Size};
use crate::http::{VendorRequest, VendorResponse};
use crate::inputs::{self, data_uri, unsupported};
use crate::task_vendor::{
    Capabilities, ImageCapabilities, ImageRequest, MaskSupport, TaskBackend, TaskBase, TaskPlan,
    TaskReply, TaskResult, TaskStatus, TaskVendor, TimingSettings, UsualTiming, serves_tasks,
};
use crate::vendor::{Setup, Vendor, read_settings, schema_of};
use crate::vendor_errors::ErrorRule;
use crate::worker::Worker;

pub(super) const VENDOR: Vendor = Vendor {
    name: "recraft",
    about: "Recraft: the design family whole, vectors and upscales included",
    needs_credential: true,
    address: "https://external.api.recraft.ai/v1",
    settings: schema_of::<RecraftSettings>,
    ready: "",
    build,
};

const CAN: ImageCapabilities = ImageCapabilities {
    masks: MaskSupport::White,
    references: 1,
    negative: true,
    transparent: false,
    backgrounds: true,
};
/// The sizes of the second and third models; the design family has the same.
const OLDER: &[Size] = &[
    (1024, 1024),
    (1365, 1024),
    (1024, 1365),
    (1536, 1024),
    (1024, 1536),
    (1820, 1024),
    (1024, 1820),
    (1024, 2048),
    (2048, 1024),
    (1434, 1024),
    (1024, 1434),
    (1024, 1280),
    (1280, 1024),
    (1024, 1707),
    (1707, 1024),
];
/// The sizes of the models after them.
const NEWER: &[Size] = &[
    (1024, 1024),
    (1536, 768),
    (768, 1536),
    (1280, 832),
    (832, 1280),
    (1216, 896),
    (896, 1216),
    (1152, 896),
    (896, 1152),
    (832, 1344),
    (1344, 832),
    (1344, 768),
    (768, 1344),
];
/// Input pictures have at most 5 MB.
const MOST_INPUT: usize = 4_800_000;
/// Units of the account that cost a dollar.
const UNITS_A_DOLLAR: f64 = 1000.0;

const RULES: &[ErrorRule] = &[
    ErrorRule::code("nsfw", Class::Reject),
    ErrorRule::words(400, "nsfw", Class::Reject),
    ErrorRule::words(400, "moderation", Class::Reject),
    ErrorRule::words(400, "policy", Class::Reject),
    ErrorRule::words(400, "credits", Class::Quota),
    ErrorRule::words(400, "not enough", Class::Quota),
];

const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 1,
    timeout_seconds: 180,
};

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct RecraftSettings {
    /// Our models, or `*`, to theirs.
    models: BTreeMap<String, String>,
    /// A style of the account, sent with every picture that takes one.
    style_id: Option<String>,
    style: Option<String>,
    timeout_seconds: Option<u64>,
}

struct Recraft {
    base: TaskBase,
    settings: RecraftSettings,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: RecraftSettings = read_settings(setup.settings)?;
    if settings.style.is_some() && settings.style_id.is_some() {
        return Err(FieldError::new("style", "must not stand beside style_id"));
    }
    let http = setup.http.with_bearer(setup.credential.reveal())?;
    let timing = TimingSettings::of_call(settings.timeout_seconds);
    Ok(TaskBackend::worker(Recraft {
        base: TaskBase::new(http, timing, TIMING),
        settings,
    }))
}

/// The path of an operation; `None` for what is none of this vendor's.
fn route(task: Task) -> Option<&'static str> {
    Some(match task {
        Task::Draw => "generations",
        Task::Restyle => "imageToImage",
        Task::Repaint => "inpaint",
        Task::ReplaceBackground => "replaceBackground",
        Task::Vectorize => "vectorize",
        Task::RemoveBackground => "removeBackground",
        Task::CrispUpscale => "crispUpscale",
        Task::CreativeUpscale => "creativeUpscale",
        _ => return None,
    })
}

/// What it can do for a kind of work: what is drawn after words takes no pictures.
fn can(task: Task) -> ImageCapabilities {
    ImageCapabilities {
        references: usize::from(task != Task::Draw),
        ..CAN
    }
}

impl Recraft {
    fn model<'a>(&'a self, work: &'a Work) -> &'a str {
        let ours = &*work.brief.model;
        let named = work.brief.vendor_model.as_ref();
        let named = named.or_else(|| self.settings.models.get(ours));
        match (named.or_else(|| self.settings.models.get("*")), ours) {
            (Some(name), _) => name,
            (None, "designv2") => "recraftv2",
            (None, _) => "recraftv3",
        }
    }
}

impl TaskVendor for Recraft {
    fn base(&self) -> &TaskBase {
        &self.base
    }

    fn serves(&self, operation: &str) -> bool {
        serves_tasks(operation, |task| route(task).is_some())
    }

    fn capabilities(&self, _: &str, brief: &Brief) -> Result<Capabilities, Fault> {
        Ok(Capabilities {
            seeds: true,
            strength: true,
            ..Capabilities::pictures(can(brief.task))
        })
    }

    fn makes_in_call(&self, _: &Work) -> bool {
        true
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let brief = &work.brief;
        let route = route(brief.task);
        let route =
            route.ok_or_else(|| Fault::ours(format!("{} is not served", work.operation)))?;
        let sheet = ImageRequest::of(work, &can(brief.task)).await?;
        let mut body = json!({"response_format": "url"});
        let single = matches!(
            brief.task,
            Task::Vectorize | Task::RemoveBackground | Task::CrispUpscale | Task::CreativeUpscale
        );
        if !single {
            let model = self.model(work);
            let older = model.starts_with("recraftv3") || model.starts_with("recraftv2");
            body["prompt"] = json!(sheet.prompt);
            body["model"] = json!(model);
            body["n"] = json!(brief.count.clamp(1, 6));
            if !older && !sheet.negative.is_empty() {
                body["prompt"] = json!(format!("{}\nAvoid: {}", sheet.prompt, sheet.negative));
            } else if !sheet.negative.is_empty() {
                body["negative_prompt"] = json!(sheet.negative);
            }
            if let (Task::Draw, Some(size)) = (brief.task, sheet.size) {
                let (width, height) = fit::nearest(size, if older { OLDER } else { NEWER });
                body["size"] = json!(format!("{width}x{height}"));
            }
            if let Some(seed) = brief.seed {
                body["random_seed"] = json!(seed & 0x7fff_ffff);
            }
            if let (Some(style), true) = (&self.settings.style, older) {
                body["style"] = json!(style);
            }
            if let (Some(style), true) = (&self.settings.style_id, older) {
                body["style_id"] = json!(style);
            }
        }
        if brief.task == Task::Restyle {
            body["strength"] = json!(brief.strength);
        }
        if brief.task != Task::Vectorize {
            body["image_format"] = json!("png");
        }
        if let Some(image) = sheet.images.into_iter().next() {
            let image = match sheet.mask {
                // A mask must have the size of its picture.
                Some(_) if image.len() > MOST_INPUT => {
                    return Err(unsupported("image", "is too large for the back end"));
                }
                Some(_) => image,
                None => inputs::shrink_to_bytes(image, MOST_INPUT).await?,
            };
            body["image_url"] = json!(data_uri(&image));
        }
        if let Some(mask) = &sheet.mask {
            body["mask_url"] = json!(data_uri(mask));
        }
        let call = VendorRequest::post_json(format!("images/{route}"), &body);
        Ok(TaskPlan::once(call, sheet.finish))
    }

    fn started(&self, _: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        let body = &reply.body;
        let list = body["data"].as_array().into_iter().flatten();
        let all = list.chain(std::iter::once(&body["image"]));
        let task_result = TaskResult::at(all.filter_map(|item| item["url"].as_str()));
        if task_result.files.is_empty() {
            return Err(reply.nonsense());
        }
        let units = body["credits"].as_f64();
        Ok(TaskStatus::Done(TaskResult {
            cost: units.and_then(|units| Cost::of(units / UNITS_A_DOLLAR, "USD")),
            ..task_result
        }))
    }

    /// There are no tasks; the question is never asked.
    fn poll_request(&self, _: &Value) -> VendorRequest {
        VendorRequest::get("users/me")
    }

    fn task_status(&self, _: &Work, _: &Value, reply: TaskReply) -> Result<TaskStatus, Fault> {
        Err(reply.nonsense())
    }

    fn error_rules(&self) -> &'static [ErrorRule] {
        RULES
    }

    fn probe(&self) -> VendorRequest {
        VendorRequest::get("users/me")
    }

    fn balance(&self, answer: &VendorResponse) -> Option<Cost> {
        let units = answer.json().ok()?["credits"].as_f64()?;
        Cost::of(units / UNITS_A_DOLLAR, "USD")
    }
}
