//! xAI: Grok Imagine pictures within the call, and videos with first and last frames, references and extensions.

mod bodies;

use std::collections::BTreeMap;
use std::time::Duration;

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answers::{self, ErrorWords, Rule};
use crate::backend::{Class, Cost, Fault, Later, Work};
use crate::clock;
use crate::http::{VendorAnswer, VendorCall, VendorHttp, encoded};
use crate::inputs;
use crate::models::{Makes, Models, Names};
use crate::pictures::Finish;
use crate::tasks::{
    Brought, Desk, Found, Heard, Plan, Scene, Sheet, Skills, Speech, Told, films, id, patience,
    pause, words as words_of,
};
use crate::vendor::{Setup, Vendor, read_settings, schema_of};
use crate::worker::Worker;
use crate::wrong::Wrong;

/// The vendor.
pub(super) const VENDOR: Vendor = Vendor {
    name: "xai",
    about: "xAI: Grok Imagine pictures and videos",
    needs_credential: true,
    address: "https://api.x.ai/v1",
    settings: schema_of::<Settings>,
    ready: "",
    build,
};

const MAKES: Makes = Makes {
    images: &[
        Task::Draw,
        Task::Edit,
        Task::Repaint,
        Task::Restyle,
        Task::ReplaceBackground,
    ],
    videos: true,
    clips_in_fours: true,
};
const IMAGE_MODEL: &str = "grok-imagine-image-2.0";
const VIDEO_MODEL: &str = "grok-imagine-video-1.5";
const EXTENSION_MODEL: &str = "grok-imagine-video";
/// The vendor keeps a video for a day.
const KEPT_MS: i64 = 23 * 3600 * 1000;
/// So many of the vendor's ticks are a dollar.
const TICKS_A_DOLLAR: f64 = 1e10;

const RULES: &[Rule] = &[
    Rule::words(400, "incorrect api key", Class::Dead),
    Rule::words(400, "moderation", Class::Reject),
    Rule::words(403, "moderation", Class::Reject),
    Rule::words(200, "moderation", Class::Reject),
    Rule::words(403, "credits", Class::Quota),
    Rule::words(403, "spending limit", Class::Quota),
    Rule::words(429, "credits", Class::Quota),
    Rule::code("invalid_argument", Class::BadRequest),
    Rule::code("internal_error", Class::Retry),
];

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    image_model: Option<String>,
    video_model: Option<String>,
    grids: bool,
    models: BTreeMap<String, Names>,
    /// Videos with sound.
    audio: bool,
    /// The model that extends videos there, usually `grok-imagine-video`. Empty for none: what follows a video then begins
    /// with its last frame, and no video is longer than 15 seconds.
    extension_model: Option<String>,
    poll_seconds: Option<u64>,
    timeout_seconds: Option<u64>,
}

/// A worker account.
struct Xai {
    http: VendorHttp,
    models: Models,
    audio: bool,
    extension_model: Option<String>,
    pause: Duration,
    patience: Duration,
}

fn build(setup: Setup) -> Result<Worker, Wrong> {
    let settings: Settings = read_settings(setup.settings)?;
    let models = Models {
        makes: MAKES,
        image: settings.image_model,
        video: settings.video_model,
        grids: settings.grids,
        named: settings.models,
    };
    let models = models.or_usual(IMAGE_MODEL, VIDEO_MODEL)?;
    let key = setup.credential.reveal();
    Ok(Desk::worker(Xai {
        http: setup
            .http
            .with_header(("authorization", "credential"), &format!("Bearer {key}"))?,
        models,
        audio: settings.audio,
        extension_model: match settings.extension_model {
            None => Some(EXTENSION_MODEL.to_owned()),
            Some(model) => Some(model).filter(|model| !model.is_empty()),
        },
        pause: pause(settings.poll_seconds, 5),
        patience: patience(settings.timeout_seconds, 180),
    }))
}

impl Xai {
    async fn order<'a>(&'a self, work: &'a Work) -> Result<Plan<'a>, Fault> {
        let model = self.models.chosen(work)?;
        if let Some(body) = self.extension(work) {
            let call = VendorCall::post_json("videos/extensions", &body);
            return Ok(Plan::alike(work, call, Finish::default()));
        }
        if films(work) {
            let extends = self.extension_model.is_some();
            let can = bodies::films(model, &work.brief, extends);
            let scene = Scene::of(work, &can).await?;
            let (first, later) = bodies::passes(extends).split(scene.seconds);
            let body = bodies::film(model, &scene, first, self.audio);
            let call = VendorCall::post_json("videos/generations", &body);
            return Ok(Plan::alike(work, call, Finish::default()).then(later));
        }
        let sheet = Sheet::of(work, &bodies::CAN).await?;
        let (path, body) = bodies::picture(model, &sheet);
        let call = VendorCall::post_json(path, &body);
        Ok(Plan::alike(work, call, sheet.finish))
    }

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
fn painted(mut heard: Heard) -> Result<Told, Fault> {
    let body = std::mem::take(&mut heard.body);
    let Some(items) = body["data"].as_array() else {
        return Err(heard.nonsense());
    };
    let mut files = Vec::new();
    for item in items {
        if item["respect_moderation"] == false {
            continue;
        }
        if let Some(bytes) = heard.file(&item["b64_json"]) {
            files.push(Found::File(bytes));
        } else if let Some(url) = item["url"].as_str().filter(|url| !url.is_empty()) {
            files.push(Found::Address(url.to_owned()));
        }
    }
    if files.is_empty() {
        return Err(answers::refused_by_review(""));
    }
    let revised = items
        .iter()
        .find_map(|item| item["revised_prompt"].as_str());
    Ok(Told::Done(Brought {
        files,
        revised_prompt: revised.filter(|text| !text.is_empty()).map(str::to_owned),
        cost: cost(&body),
        ..Brought::default()
    }))
}

fn cost(body: &Value) -> Option<Cost> {
    let ticks = body["usage"]["cost_in_usd_ticks"].as_f64()?;
    Cost::of(ticks / TICKS_A_DOLLAR, "USD")
}

/// Errors have three forms; in one of them the code stands beside the words.
fn words(body: &Value) -> Option<ErrorWords> {
    let said = ErrorWords::read(body)?;
    match (body["code"].as_str(), body["error"].as_str()) {
        (Some(code), Some(text)) => Some(ErrorWords {
            code: code.to_owned(),
            message: text.to_owned(),
        }),
        _ => Some(said),
    }
}

impl Speech for Xai {
    fn http(&self) -> &VendorHttp {
        &self.http
    }

    fn serves(&self, operation: &str) -> bool {
        self.models.serves(operation)
    }

    fn skills(&self, operation: &str, brief: &Brief) -> Result<Skills, Fault> {
        let model = self.models.chosen_for(operation, brief)?;
        Ok(if brief.task.is_video() {
            let extends = self.extension_model.is_some();
            Skills::films(bodies::films(model, brief, extends))
        } else {
            Skills::pictures(bodies::CAN)
        })
    }

    fn blobs(&self) -> &'static [&'static str] {
        &["b64_json"]
    }

    fn patience(&self) -> Duration {
        self.patience
    }

    fn pause(&self) -> Duration {
        self.pause
    }

    fn plan<'a>(&'a self, work: &'a Work) -> Later<'a, Result<Plan<'a>, Fault>> {
        Box::pin(self.order(work))
    }

    fn started(&self, work: &Work, heard: Heard) -> Result<Told, Fault> {
        if !films(work) {
            return painted(heard);
        }
        match id(&heard.body["request_id"]) {
            Some(id) => Ok(Told::Task(json!({"id": id}))),
            None => Err(heard.nonsense()),
        }
    }

    fn question(&self, task: &Value) -> VendorCall {
        let number = encoded(task["id"].as_str().unwrap_or_default());
        VendorCall::get(format!("videos/{number}"))
    }

    fn told(&self, _: &Work, _: &Value, heard: Heard) -> Result<Told, Fault> {
        let body = &heard.body;
        // While it is pending the answer may have no body at all.
        if heard.answer.status == 202 {
            return Ok(Told::Running(percent(body)));
        }
        let video = &body["video"];
        let address = video["url"].as_str().filter(|url| !url.is_empty());
        Ok(match (body["status"].as_str(), address) {
            (Some("done") | None, Some(address)) if video["respect_moderation"] != false => {
                Told::Done(Brought {
                    cost: cost(body),
                    notes: json!({"videos": [address]}),
                    ..Brought::at(Some(address))
                })
            }
            (Some("done"), _) => Told::Failed(answers::refused_by_review("")),
            (Some("expired"), _) => {
                Told::Failed(Fault::vendor(Class::Gone, "the vendor let the work expire"))
            }
            (Some("failed"), _) => {
                let said = words(body).unwrap_or_default();
                Told::Failed(answers::failed_by(RULES, &said))
            }
            (Some(_), _) => Told::Running(percent(body)),
            (None, _) => return Err(heard.nonsense()),
        })
    }

    fn carry_on(&self, work: &Work, made: &Value, seconds: u32) -> Result<VendorCall, Fault> {
        let model = self.extension_model.as_deref().unwrap_or(EXTENSION_MODEL);
        let address = made["videos"][0].as_str();
        let address = address.ok_or_else(|| Fault::ours("a part without an address"))?;
        let body = bodies::extension(model, &words_of(&work.brief), address, seconds);
        Ok(VendorCall::post_json("videos/extensions", &body))
    }

    fn fault(&self, answer: &VendorAnswer) -> Fault {
        let said = answer.json().ok().and_then(|body| words(&body));
        answers::fault_by(RULES, answer, said)
    }

    fn probe(&self) -> VendorCall {
        VendorCall::get("models")
    }
}

fn percent(body: &Value) -> Option<u8> {
    let percent = body["progress"].as_f64()?;
    Some(percent.clamp(0.0, 99.0) as u8)
}
