//! Runway: one key for the video and image models of many makers, all by the same kind of task.

mod models;

use std::collections::BTreeMap;

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backend::{Class, Cost, Fault, Work};
use crate::field_error::FieldError;
use crate::http::{VendorRequest, VendorResponse};
use crate::images::FinishOptions;
use crate::inputs::{self, data_uri, unsupported};
use crate::models::{ModelSettings, Models, SupportedTasks, UsualModels};
use crate::seeds;
use crate::task_vendor::{
    Capabilities, ImageRequest, TaskBackend, TaskBase, TaskPlan, TaskReply, TaskResult, TaskStatus,
    TaskVendor, TimingSettings, UsualTiming, VideoRequest, encoded_id,
};
use crate::vendor::{Setup, Vendor, read_flattened, schema_of};
use crate::vendor_errors::{self, ErrorRule, VendorError};
use crate::worker::Worker;
use models::{ModelRules, ModelTable, RunwayModel};

pub(super) const VENDOR: Vendor = Vendor {
    name: "runway",
    about: "Runway: Gen-4.5, Kling, Seedance, Wan, Hailuo, Veo, and image models of many makers with one key",
    needs_credential: true,
    address: "https://api.dev.runwayml.com/v1",
    settings: schema_of::<RunwaySettings>,
    ready: "",
    build,
};

const MAKES: SupportedTasks = SupportedTasks::PICTURES_AND_VIDEOS;
const MODELS: UsualModels = UsualModels {
    image: Some("gemini_image3.1_flash"),
    video: Some("seedance2_5"),
};
/// The vendor asks for no more than one question in five seconds.
const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 6,
    timeout_seconds: 120,
};
/// The version of the interface that this was written for.
const VERSION: &str = "2024-11-06";
/// Inline data has at most 5 MB as text.
const MOST_INLINE: usize = 3_600_000;

const RULES: &[ErrorRule] = &[
    ErrorRule::code("safety", Class::Reject),
    ErrorRule::code("asset.invalid", Class::BadRequest),
    ErrorRule::code("internal", Class::Retry),
    ErrorRule::words(400, "credits", Class::Quota),
];

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct RunwaySettings {
    #[serde(flatten)]
    models: ModelSettings,
    /// Videos with sound.
    audio: bool,
    /// How models are asked that this program does not know yet.
    rules: BTreeMap<String, ModelRules>,
    #[serde(flatten)]
    timing: TimingSettings,
}

struct Runway {
    base: TaskBase,
    models: Models,
    table: ModelTable,
    audio: bool,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: RunwaySettings = read_flattened(setup.settings)?;
    let models = settings.models.checked(MAKES, MODELS)?;
    let table = ModelTable::read()?.with_rules(settings.rules);
    for name in models.names() {
        table.check(name)?;
    }
    let http = setup
        .http
        .with_bearer(setup.credential.reveal())?
        .with_header("x-runway-version", "settings", VERSION)?;
    Ok(TaskBackend::worker(Runway {
        base: TaskBase::new(http, settings.timing, TIMING),
        models,
        table,
        audio: settings.audio,
    }))
}

impl Runway {
    async fn film<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let name = self.models.chosen(work)?;
        let begins = matches!(work.brief.task, Task::Extend(_)) || !work.brief.sources.is_empty();
        let framed = self.table.image_to_video.get(name);
        let free = self.table.text_to_video.get(name);
        let can = models::films(free, framed);
        let scene = VideoRequest::of(work, &can).await?;
        let (route, model) = match (&scene.first, framed, free) {
            (Some(_), Some(model), _) => ("image_to_video", model),
            (None, _, Some(model)) => ("text_to_video", model),
            (_, None, None) => {
                return Err(unsupported("model", "no back end serves this model"));
            }
            _ if begins => return Err(unsupported("image", "no back end for images is available")),
            _ => {
                return Err(unsupported(
                    "image",
                    "no back end for words alone is available",
                ));
            }
        };
        let mut body = json!({
            "model": name,
            "promptText": scene.prompt,
            "duration": scene.seconds,
        });
        if let Some(ratio) = model.ratio(scene.size) {
            body["ratio"] = json!(ratio);
        }
        if let Some(resolution) = model.resolution(scene.size) {
            body["resolution"] = json!(resolution);
        }
        if model.takes("audio") {
            body["audio"] = json!(self.audio);
        }
        match (&scene.first, &scene.last) {
            (Some(first), None) => body["promptImage"] = json!(data_uri(first)),
            (Some(first), Some(last)) => {
                body["promptImage"] = json!([
                    {"uri": data_uri(first), "position": "first"},
                    {"uri": data_uri(last), "position": "last"},
                ]);
            }
            _ => {}
        }
        if !scene.references.is_empty() {
            let references = lighter(scene.references).await?;
            let references = references
                .iter()
                .map(|bytes| json!({"uri": data_uri(bytes)}));
            body["references"] = references.collect();
        }
        Ok(seeded(work, model, route, body, FinishOptions::default()))
    }

    async fn paint<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let name = self.models.chosen(work)?;
        let model = self.table.text_to_image.get(name);
        let model = model.ok_or_else(|| unsupported("model", "no back end serves this model"))?;
        let sheet = ImageRequest::of(work, &models::pictures(model)).await?;
        let mut body = json!({"model": name, "promptText": sheet.prompt});
        if let Some(ratio) = model.ratio(sheet.size.unwrap_or((1024, 1024))) {
            body["ratio"] = json!(ratio);
        }
        if !sheet.images.is_empty() {
            let images = lighter(sheet.images).await?;
            let images = images.iter().map(|bytes| json!({"uri": data_uri(bytes)}));
            body["referenceImages"] = images.collect();
        }
        if let Some(mask) = &sheet.mask {
            body["maskUri"] = json!(data_uri(mask));
        }
        Ok(seeded(work, model, "text_to_image", body, sheet.finish))
    }
}

/// The calls, each with a seed of its own where the model takes one.
fn seeded<'a>(
    work: &'a Work,
    model: &RunwayModel,
    route: &'static str,
    body: Value,
    finish: FinishOptions,
) -> TaskPlan<'a> {
    let seed = work.brief.seed.filter(|_| model.takes("seed"));
    TaskPlan::each(work, finish, move |place| {
        let mut body = body.clone();
        if let Some(seed) = seed {
            body["seed"] = json!(seeds::member(seed, place as usize) & 0xffff_ffff);
        }
        VendorRequest::post_json(route, &body)
    })
}

/// Pictures that fit into a request.
async fn lighter(all: Vec<bytes::Bytes>) -> Result<Vec<bytes::Bytes>, Fault> {
    let mut lighter = Vec::new();
    for bytes in all {
        lighter.push(inputs::shrink_to_bytes(bytes, MOST_INLINE).await?);
    }
    Ok(lighter)
}

/// The price of a task that has ended; a credit is a cent.
fn price(cost: &Value) -> Option<Cost> {
    Cost::of(cost["credits"].as_f64()? / 100.0, "USD")
}

fn path(task: &Value) -> String {
    format!("tasks/{}", encoded_id(task))
}

impl TaskVendor for Runway {
    fn base(&self) -> &TaskBase {
        &self.base
    }

    fn serves(&self, operation: &str) -> bool {
        self.models.serves(operation)
    }

    fn capabilities(&self, operation: &str, brief: &Brief) -> Result<Capabilities, Fault> {
        let name = self.models.chosen_for(operation, brief)?;
        let (framed, free) = (
            self.table.image_to_video.get(name),
            self.table.text_to_video.get(name),
        );
        if brief.task.is_video() {
            let model = framed.or(free);
            let seeds = model.is_some_and(|model| model.takes("seed"));
            return Ok(Capabilities::films(models::films(free, framed)).seeded(seeds));
        }
        let model = self.table.text_to_image.get(name);
        let model = model.ok_or_else(|| unsupported("model", "no back end serves this model"))?;
        Ok(Capabilities::pictures(models::pictures(model)).seeded(model.takes("seed")))
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        match work.brief.task {
            Task::Animate | Task::Extend(_) => self.film(work).await,
            _ => self.paint(work).await,
        }
    }

    fn started(&self, _: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        TaskStatus::task(&reply, &reply.body["id"])
    }

    fn poll_request(&self, task: &Value) -> VendorRequest {
        VendorRequest::get(path(task))
    }

    fn task_status(&self, _: &Work, _: &Value, reply: TaskReply) -> Result<TaskStatus, Fault> {
        let body = &reply.body;
        let state = body["status"].as_str().ok_or_else(|| reply.nonsense())?;
        let cost = price(&body["cost"]);
        // What did not come to an end may have been paid for all the same.
        let paid = |fault| Fault {
            cost: cost.clone().filter(|cost| cost.micros > 0),
            ..fault
        };
        Ok(match state {
            "SUCCEEDED" => {
                let files = body["output"].as_array().into_iter().flatten();
                TaskStatus::Done(TaskResult {
                    cost,
                    ..TaskResult::at(files.filter_map(Value::as_str))
                })
            }
            "FAILED" => TaskStatus::Failed(paid(vendor_errors::failed_by(
                RULES,
                &VendorError::of(&body["failureCode"], &body["failure"]),
            ))),
            "CANCELLED" => TaskStatus::Failed(paid(Fault::vendor(
                Class::Gone,
                "the vendor cancelled the work",
            ))),
            "RUNNING" => {
                let share = body["progress"].as_f64().unwrap_or(0.0).clamp(0.0, 0.99);
                TaskStatus::Running(Some((share * 100.0) as u8))
            }
            _ => TaskStatus::Running(None),
        })
    }

    fn error_rules(&self) -> &'static [ErrorRule] {
        RULES
    }

    fn stop(&self, task: &Value) -> Option<VendorRequest> {
        Some(VendorRequest::new(http::Method::DELETE, path(task)))
    }

    fn probe(&self) -> VendorRequest {
        VendorRequest::get("organization")
    }

    /// A credit is a cent.
    fn balance(&self, answer: &VendorResponse) -> Option<Cost> {
        let credits = answer.json().ok()?["creditBalance"].as_f64()?;
        Cost::of(credits / 100.0, "USD")
    }
}
