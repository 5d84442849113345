//! PiAPI: face swaps.

use std::time::Duration;

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answers::{self, ErrorWords, Rule};
use crate::backend::{Class, Cost, Fault, Later, Work};
use crate::http::{VendorAnswer, VendorCall, VendorHttp, encoded};
use crate::inputs;
use crate::pictures::Finish;
use crate::tasks::{
    Brought, Desk, Found, Heard, Masks, Pictures, Plan, Skills, Speech, Told, id, patience, pause,
};
use crate::vendor::{Setup, Vendor, read_settings, schema_of};
use crate::worker::Worker;
use crate::wrong::Wrong;

/// The vendor.
pub(super) const VENDOR: Vendor = Vendor {
    name: "piapi",
    about: "PiAPI: face swaps",
    needs_credential: true,
    address: "https://api.piapi.ai",
    settings: schema_of::<Settings>,
    ready: "",
    build,
};

const MODEL: &str = "Qubico/image-toolkit";
/// The vendor takes pictures with no longer side.
const MOST_SIDE: u32 = 2048;
/// Units of the account that cost a dollar.
const UNITS_A_DOLLAR: f64 = 1e7;

const RULES: &[Rule] = &[
    Rule::words(0, "insufficient credit", Class::Quota),
    Rule::words(0, "not enough credit", Class::Quota),
    Rule::words(0, "no face", Class::BadRequest),
    Rule::words(0, "face not", Class::BadRequest),
    Rule::words(0, "nsfw", Class::Reject),
    Rule::status(402, Class::Quota),
];

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    model: Option<String>,
    /// `public` or `private`, where the account has both.
    service_mode: Option<String>,
    poll_seconds: Option<u64>,
    timeout_seconds: Option<u64>,
}

/// A picture and a face.
const CAN: Pictures = Pictures {
    masks: Masks::None,
    references: 2,
    negative: false,
    transparent: false,
    backgrounds: false,
};

/// A worker account.
struct Piapi {
    http: VendorHttp,
    settings: Settings,
}

fn build(setup: Setup) -> Result<Worker, Wrong> {
    let settings: Settings = read_settings(setup.settings)?;
    let http = setup
        .http
        .with_header(("x-api-key", "credential"), setup.credential.reveal())?;
    Ok(Desk::worker(Piapi { http, settings }))
}

impl Piapi {
    async fn order<'a>(&'a self, work: &'a Work) -> Result<Plan<'a>, Fault> {
        let mut images = Vec::new();
        for index in 0..2 {
            let picture = inputs::source(work, index).await?;
            images.push(inputs::within(picture, MOST_SIDE).await?);
        }
        let own = atelier_media::header(&work.sources[0]).ok();
        let size = own.map(|header| crate::fit::inside((header.width, header.height)));
        let mut config = json!({});
        if let Some(mode) = &self.settings.service_mode {
            config["service_mode"] = json!(mode);
        }
        if let Some(hook) = &work.hook_url {
            config["webhook_config"] = json!({"endpoint": hook, "secret": ""});
        }
        let body = json!({
            "model": self.settings.model.as_deref().unwrap_or(MODEL),
            "task_type": "face-swap",
            "input": {
                "target_image": inputs::data_uri(&images[0]),
                "swap_image": inputs::data_uri(&images[1]),
            },
            "config": config,
        });
        let finish = Finish {
            size,
            ..Finish::default()
        };
        let call = VendorCall::post_json("api/v1/task", &body);
        Ok(Plan::alike(work, call, finish))
    }
}

/// What a document refuses, in spite of its status: everything has a code, and 200 is the good one.
fn refusal(body: &Value) -> Option<ErrorWords> {
    let code = body["code"].as_i64().filter(|code| *code != 200)?;
    let raw = body["data"]["error"]["raw_message"].as_str();
    let message = raw
        .filter(|text| !text.is_empty())
        .or(body["message"].as_str())?;
    Some(ErrorWords {
        code: code.to_string(),
        message: message.to_owned(),
    })
}

/// The fault of a refusal; the code stands for the status that it did not have.
fn refused(heard: &Heard) -> Option<Fault> {
    let said = refusal(&heard.body)?;
    let answer = VendorAnswer {
        status: said.code.parse().unwrap_or(500),
        ..heard.answer.clone()
    };
    Some(answers::fault_by(RULES, &answer, Some(said)))
}

impl Speech for Piapi {
    fn http(&self) -> &VendorHttp {
        &self.http
    }

    fn serves(&self, operation: &str) -> bool {
        let found = atelier_contract::operation(operation);
        found.is_some_and(|(_, submit)| submit.makes_only(&[Task::SwapFace]))
    }

    fn skills(&self, _: &str, _: &Brief) -> Result<Skills, Fault> {
        Ok(Skills::pictures(CAN))
    }

    fn blobs(&self) -> &'static [&'static str] {
        &["image_base64"]
    }

    fn patience(&self) -> Duration {
        patience(self.settings.timeout_seconds, 60)
    }

    fn pause(&self) -> Duration {
        pause(self.settings.poll_seconds, 3)
    }

    fn plan<'a>(&'a self, work: &'a Work) -> Later<'a, Result<Plan<'a>, Fault>> {
        Box::pin(self.order(work))
    }

    fn started(&self, _: &Work, heard: Heard) -> Result<Told, Fault> {
        if let Some(fault) = refused(&heard) {
            return Err(fault);
        }
        match id(&heard.body["data"]["task_id"]) {
            Some(id) => Ok(Told::Task(json!({"id": id}))),
            None => Err(heard.nonsense()),
        }
    }

    fn question(&self, task: &Value) -> VendorCall {
        let number = encoded(task["id"].as_str().unwrap_or_default());
        VendorCall::get(format!("api/v1/task/{number}"))
    }

    fn told(&self, _: &Work, _: &Value, mut heard: Heard) -> Result<Told, Fault> {
        if let Some(fault) = refused(&heard) {
            return Err(fault);
        }
        let task = heard.body["data"].take();
        let state = task["status"].as_str().unwrap_or_default().to_lowercase();
        Ok(match &*state {
            "" => return Err(heard.nonsense()),
            "completed" => {
                let output = &task["output"];
                let mut brought =
                    Brought::at(output["image_url"].as_str().filter(|url| !url.is_empty()));
                if let Some(bytes) = heard.file(&output["image_base64"]) {
                    brought.files = vec![Found::File(bytes)];
                }
                let units = task["meta"]["usage"]["consume"].as_f64();
                Told::Done(Brought {
                    cost: units.and_then(|units| Cost::of(units / UNITS_A_DOLLAR, "USD")),
                    ..brought
                })
            }
            "failed" => {
                let error = &task["error"];
                let text = |name: &str| error[name].as_str().unwrap_or_default();
                Told::Failed(answers::failed_by(
                    RULES,
                    &ErrorWords {
                        code: error["code"].to_string(),
                        message: format!("{} {}", text("message"), text("raw_message"))
                            .trim()
                            .to_owned(),
                    },
                ))
            }
            _ => Told::Running(None),
        })
    }

    fn fault(&self, answer: &VendorAnswer) -> Fault {
        let said = answer
            .json()
            .ok()
            .and_then(|body| refusal(&body).or_else(|| ErrorWords::read(&body)));
        answers::fault_by(RULES, answer, said)
    }

    /// A task that cannot be is asked for.
    fn probe(&self) -> VendorCall {
        VendorCall::get("api/v1/task/00000000-0000-0000-0000-000000000000")
    }

    fn is_well(&self, answer: &VendorAnswer) -> bool {
        matches!(answer.status, 400 | 404 | 422 | 500) && answer.json().is_ok()
    }
}
