//! Black Forest Labs: FLUX pictures, and videos with keyframes. A task is asked about where its start said.

mod bodies;

use std::collections::BTreeMap;
use std::time::Duration;

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answers::{self, Rule};
use crate::backend::{Class, Cost, Fault, Later, Work};
use crate::http::{VendorAnswer, VendorCall, VendorHttp, encoded};
use crate::models::{Makes, Models, Names};
use crate::pictures::Finish;
use crate::seeds;
use crate::tasks::{
    Brought, Desk, Heard, Plan, Scene, Sheet, Skills, Speech, Told, films, id, patience, pause,
};
use crate::vendor::{Setup, Vendor, read_settings, schema_of};
use crate::worker::Worker;
use crate::wrong::Wrong;

/// The vendor.
pub(super) const VENDOR: Vendor = Vendor {
    name: "bfl",
    about: "Black Forest Labs: FLUX pictures with references, and FLUX videos with first and last frames",
    needs_credential: true,
    address: "https://api.bfl.ai/v1",
    settings: schema_of::<Settings>,
    ready: "",
    build,
};

const MAKES: Makes = Makes {
    images: &[Task::Draw, Task::Edit, Task::Restyle, Task::Repaint],
    videos: true,
    clips_in_fours: true,
};
const IMAGE_MODEL: &str = "flux-2-pro";
const VIDEO_MODEL: &str = "flux-3-video";

const RULES: &[Rule] = &[
    Rule::status(402, Class::Quota),
    Rule::status(429, Class::Rate),
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
    /// 0, the strictest, to 5.
    safety_tolerance: Option<u8>,
    poll_seconds: Option<u64>,
    timeout_seconds: Option<u64>,
}

/// A worker account.
struct Bfl {
    http: VendorHttp,
    models: Models,
    audio: bool,
    safety_tolerance: Option<u8>,
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
    Ok(Desk::worker(Bfl {
        http: setup
            .http
            .with_header(("x-key", "credential"), key)?
            .with_domain("bfl.ai"),
        models,
        audio: settings.audio,
        safety_tolerance: settings.safety_tolerance,
        pause: pause(settings.poll_seconds, 2),
        patience: patience(settings.timeout_seconds, 60),
    }))
}

impl Bfl {
    async fn order<'a>(&'a self, work: &'a Work) -> Result<Plan<'a>, Fault> {
        let model = self.models.chosen(work)?;
        let (mut body, finish) = if films(work) {
            let scene = Scene::of(work, &bodies::FILMS).await?;
            (bodies::film(&scene, self.audio), Finish::default())
        } else {
            let sheet = Sheet::of(work, &bodies::pictures(model)).await?;
            (bodies::picture(model, &sheet), sheet.finish)
        };
        if let Some(tolerance) = self.safety_tolerance {
            body["safety_tolerance"] = json!(tolerance);
        }
        let seed = work.brief.seed.filter(|_| !model.starts_with("flux-3"));
        let path = encoded(model);
        Ok(Plan::each(work, finish, move |place| {
            let mut body = body.clone();
            if let Some(seed) = seed {
                body["seed"] = json!(seeds::member(seed, place as usize) & 0x7fff_ffff);
            }
            VendorCall::post_json(path.clone(), &body)
        }))
    }
}

impl Speech for Bfl {
    fn http(&self) -> &VendorHttp {
        &self.http
    }

    fn serves(&self, operation: &str) -> bool {
        self.models.serves(operation)
    }

    fn skills(&self, operation: &str, brief: &Brief) -> Result<Skills, Fault> {
        let model = self.models.chosen_for(operation, brief)?;
        if brief.task.is_video() {
            return Ok(Skills::films(bodies::FILMS));
        }
        let seeds = !model.starts_with("flux-3");
        Ok(Skills::pictures(bodies::pictures(model)).seeded(seeds))
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
        let body = &heard.body;
        let number = id(&body["id"]).ok_or_else(|| heard.nonsense())?;
        Ok(Told::Task(json!({
            "id": number,
            "address": body["polling_url"].as_str(),
            "cost": body["cost"].as_f64(),
        })))
    }

    /// Where the start said; some of the vendor's regions know only their own tasks.
    fn question(&self, task: &Value) -> VendorCall {
        if let Some(address) = task["address"].as_str() {
            return VendorCall::get(address);
        }
        let number = encoded(task["id"].as_str().unwrap_or_default());
        VendorCall::get(format!("get_result?id={number}"))
    }

    fn told(&self, _: &Work, task: &Value, heard: Heard) -> Result<Told, Fault> {
        let body = &heard.body;
        let state = body["status"].as_str().ok_or_else(|| heard.nonsense())?;
        Ok(match state {
            "Ready" => {
                let credits = body["cost"].as_f64().or(task["cost"].as_f64());
                Told::Done(Brought {
                    // A credit is a cent.
                    cost: credits.and_then(|credits| Cost::of(credits / 100.0, "USD")),
                    ..Brought::at(body["result"]["sample"].as_str())
                })
            }
            "Request Moderated" | "Content Moderated" => {
                Told::Failed(answers::refused_by_review(""))
            }
            "Error" | "Failed" => Told::Failed(Fault::vendor(Class::Retry, heard.answer.start())),
            "Task not found" => Told::Failed(Fault::vendor(
                Class::Gone,
                "the vendor does not know the task",
            )),
            _ => {
                let share = body["progress"].as_f64().unwrap_or(0.0).clamp(0.0, 0.99);
                Told::Running(Some((share * 100.0) as u8))
            }
        })
    }

    fn fault(&self, answer: &VendorAnswer) -> Fault {
        let said = answer
            .json()
            .ok()
            .and_then(|body| answers::ErrorWords::read(&body));
        answers::fault_by(RULES, answer, said)
    }

    fn probe(&self) -> VendorCall {
        VendorCall::get("credits")
    }

    /// A credit is a cent.
    fn balance(&self, answer: &VendorAnswer) -> Option<Cost> {
        let credits = answer.json().ok()?["credits"].as_f64()?;
        Cost::of(credits / 100.0, "USD")
    }
}
