//! Luma's Agents interface: Ray videos with first and last frames, loops and extensions, and Uni pictures.

mod bodies;

use std::collections::BTreeMap;
use std::time::Duration;

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answers::{self, ErrorWords, Rule};
use crate::backend::{Class, Fault, Later, Work};
use crate::http::{VendorAnswer, VendorCall, VendorHttp, encoded};
use crate::inputs;
use crate::models::{Makes, Models, Names};
use crate::pictures::Finish;
use crate::tasks::{
    Brought, Desk, Heard, Plan, Scene, Sheet, Skills, Speech, Told, films, id, patience, pause,
};
use crate::vendor::{Setup, Vendor, read_settings, schema_of};
use crate::worker::Worker;
use crate::wrong::Wrong;

/// The vendor.
pub(super) const VENDOR: Vendor = Vendor {
    name: "luma",
    about: "Luma Agents: Ray videos with loops, end frames and extensions, Uni pictures",
    needs_credential: true,
    address: "https://agents.lumalabs.ai/v1",
    settings: schema_of::<Settings>,
    ready: "",
    build,
};

const MAKES: Makes = Makes {
    images: &[Task::Draw, Task::Edit, Task::Restyle],
    videos: true,
    clips_in_fours: true,
};
const VIDEO_MODEL: &str = "ray-3.2";
const IMAGE_MODEL: &str = "uni-1";

const RULES: &[Rule] = &[
    Rule::code("content_moderated", Class::Reject),
    Rule::code("budget_exhausted", Class::Quota),
    Rule::code("rate_limited", Class::Rate),
    Rule::code("generation_failed", Class::Retry),
    Rule::code("output_not_found", Class::Retry),
    Rule::code("image_too_large", Class::BadRequest),
    Rule::code("unsupported_format", Class::BadRequest),
    Rule::code("corrupt_input", Class::BadRequest),
    Rule::code("invalid_request", Class::BadRequest),
];

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    image_model: Option<String>,
    video_model: Option<String>,
    grids: bool,
    models: BTreeMap<String, Names>,
    poll_seconds: Option<u64>,
    timeout_seconds: Option<u64>,
}

/// A worker account.
struct Luma {
    http: VendorHttp,
    models: Models,
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
    Ok(Desk::worker(Luma {
        http: setup
            .http
            .with_header(("authorization", "credential"), &format!("Bearer {key}"))?,
        models,
        pause: pause(settings.poll_seconds, 5),
        patience: patience(settings.timeout_seconds, 60),
    }))
}

impl Luma {
    async fn order<'a>(&'a self, work: &'a Work) -> Result<Plan<'a>, Fault> {
        let model = self.models.chosen(work)?;
        let (body, finish) = if films(work) {
            let notes = inputs::parent_notes(work);
            let earlier = match work.brief.task {
                Task::Extend(index) => {
                    let made = &notes["generations"];
                    made.get(usize::from(index)).and_then(Value::as_str)
                }
                _ => None,
            };
            let scene = Scene::of(work, &bodies::films(work.brief.looped)).await?;
            (bodies::film(model, &scene, earlier)?, Finish::default())
        } else {
            let sheet = Sheet::of(work, &bodies::CAN).await?;
            let changes = work.brief.task != Task::Draw;
            (bodies::picture(model, &sheet, changes), sheet.finish)
        };
        let call = VendorCall::post_json("generations", &body);
        Ok(Plan::alike(work, call, finish))
    }
}

fn path(task: &Value) -> String {
    let number = encoded(task["id"].as_str().unwrap_or_default());
    format!("generations/{number}")
}

impl Speech for Luma {
    fn http(&self) -> &VendorHttp {
        &self.http
    }

    fn serves(&self, operation: &str) -> bool {
        self.models.serves(operation)
    }

    fn skills(&self, operation: &str, brief: &Brief) -> Result<Skills, Fault> {
        self.models.chosen_for(operation, brief)?;
        if !brief.task.is_video() {
            return Ok(Skills::pictures(bodies::CAN));
        }
        Ok(Skills::films(bodies::films(brief.looped)))
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

    fn started(&self, _: &Work, heard: Heard) -> Result<Told, Fault> {
        match id(&heard.body["id"]) {
            Some(id) => Ok(Told::Task(json!({"id": id}))),
            None => Err(heard.nonsense()),
        }
    }

    fn question(&self, task: &Value) -> VendorCall {
        VendorCall::get(path(task))
    }

    fn told(&self, _: &Work, task: &Value, heard: Heard) -> Result<Told, Fault> {
        let body = &heard.body;
        let state = body["state"].as_str().ok_or_else(|| heard.nonsense())?;
        Ok(match state {
            "completed" => {
                let files = body["output"].as_array().into_iter().flatten();
                Told::Done(Brought {
                    notes: json!({"generations": [task["id"]]}),
                    ..Brought::at(files.filter_map(|file| file["url"].as_str()))
                })
            }
            "failed" => Told::Failed(answers::failed_by(
                RULES,
                &ErrorWords {
                    code: body["failure_code"].as_str().unwrap_or_default().to_owned(),
                    message: body["failure_reason"]
                        .as_str()
                        .unwrap_or_default()
                        .to_owned(),
                },
            )),
            _ => Told::Running(None),
        })
    }

    fn fault(&self, answer: &VendorAnswer) -> Fault {
        let said = answer.json().ok().and_then(|body| ErrorWords::read(&body));
        answers::fault_by(RULES, answer, said)
    }

    /// There is no page for it: a generation that cannot be is asked for.
    fn probe(&self) -> VendorCall {
        VendorCall::get("generations/00000000-0000-0000-0000-000000000000")
    }

    fn is_well(&self, answer: &VendorAnswer) -> bool {
        matches!(answer.status, 400 | 404 | 422) && answer.json().is_ok()
    }
}
