//! Google's Gemini API with a key: pictures, drawn and edited within the call, and videos by the Interactions interface,
//! with first and last frames, loops, references and extensions.

mod faults;
mod pictures;
mod videos;

use std::collections::BTreeMap;
use std::time::Duration;

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::backend::{Fault, Later, Work};
use crate::http::{VendorAnswer, VendorCall, VendorHttp, encoded};
use crate::models::{Makes, Models, Names};
use crate::tasks::{Desk, Heard, Plan, Skills, Speech, Told, films, patience, pause};
use crate::vendor::{Setup, Vendor, read_settings, schema_of};
use crate::worker::Worker;
use crate::wrong::Wrong;
use videos::Most;

/// The vendor.
pub(super) const VENDOR: Vendor = Vendor {
    name: "google",
    about: "Google Gemini: pictures with references, and videos with loops, end frames and extensions",
    needs_credential: true,
    address: "https://generativelanguage.googleapis.com/v1",
    settings: schema_of::<Settings>,
    ready: "",
    build,
};

/// What it makes.
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
const IMAGE_MODEL: &str = "gemini-3.1-flash-image";
const VIDEO_MODEL: &str = "gemini-omni-1.2-flash";

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    image_model: Option<String>,
    video_model: Option<String>,
    grids: bool,
    models: BTreeMap<String, Names>,
    /// The longest video of one pass in seconds; usually that of the model. Longer ones are extended.
    most_seconds: Option<u32>,
    /// The longest video of all in seconds, with its extensions; usually that of the model.
    total_seconds: Option<u32>,
    poll_seconds: Option<u64>,
    timeout_seconds: Option<u64>,
}

/// A worker account.
struct Google {
    http: VendorHttp,
    models: Models,
    most: Most,
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
    Ok(Desk::worker(Google {
        http: setup
            .http
            .with_header(("x-goog-api-key", "credential"), key)?,
        models,
        most: Most {
            pass: settings.most_seconds,
            total: settings.total_seconds,
        },
        pause: pause(settings.poll_seconds, 10),
        patience: patience(settings.timeout_seconds, 300),
    }))
}

impl Speech for Google {
    fn http(&self) -> &VendorHttp {
        &self.http
    }

    fn serves(&self, operation: &str) -> bool {
        self.models.serves(operation)
    }

    fn skills(&self, operation: &str, brief: &Brief) -> Result<Skills, Fault> {
        let model = self.models.chosen_for(operation, brief)?;
        Ok(if brief.task.is_video() {
            Skills::films(videos::films(model, self.most, brief))
        } else {
            Skills::pictures(pictures::CAN).seeded(true)
        })
    }

    fn blobs(&self) -> &'static [&'static str] {
        &["data"]
    }

    fn patience(&self) -> Duration {
        self.patience
    }

    fn pause(&self) -> Duration {
        self.pause
    }

    fn plan<'a>(&'a self, work: &'a Work) -> Later<'a, Result<Plan<'a>, Fault>> {
        Box::pin(async move {
            let model = self.models.chosen(work)?;
            if films(work) {
                videos::plan(work, model, self.most).await
            } else {
                pictures::plan(work, model).await
            }
        })
    }

    fn started(&self, work: &Work, heard: Heard) -> Result<Told, Fault> {
        if films(work) {
            videos::started(&heard)
        } else {
            pictures::made(heard)
        }
    }

    fn question(&self, task: &Value) -> VendorCall {
        videos::question(task)
    }

    fn told(&self, _: &Work, task: &Value, heard: Heard) -> Result<Told, Fault> {
        videos::told(task, heard)
    }

    fn carry_on(&self, work: &Work, made: &Value, seconds: u32) -> Result<VendorCall, Fault> {
        videos::carry_on(work, self.models.chosen(work)?, made, seconds)
    }

    fn currency(&self) -> &'static str {
        pictures::CURRENCY
    }

    fn fault(&self, answer: &VendorAnswer) -> Fault {
        faults::read(answer)
    }

    fn stop(&self, task: &Value) -> Option<VendorCall> {
        let id = task["interaction"].as_str()?;
        let path = format!("interactions/{}/cancel", encoded(id));
        Some(VendorCall::post_json(path, &serde_json::json!({})))
    }

    fn probe(&self) -> VendorCall {
        VendorCall::get("models?pageSize=1")
    }
}
