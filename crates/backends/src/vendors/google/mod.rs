//! Google's Gemini API with a key: pictures, drawn and edited within the call, and videos by the Interactions interface,
//! with first and last frames, loops, references and extensions.

mod faults;
mod images;
mod videos;

use std::collections::BTreeMap;
use std::time::Duration;

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::backend::{BoxFuture, Fault, Work};
use crate::field_error::FieldError;
use crate::http::{VendorHttp, VendorRequest, VendorResponse, encoded};
use crate::models::{ModelNames, Models, SupportedTasks};
use crate::task_vendor::{
    Capabilities, TaskBackend, TaskPlan, TaskReply, TaskStatus, TaskVendor, call_timeout,
    is_video_work, poll_interval,
};
use crate::vendor::{Setup, Vendor, read_settings, schema_of};
use crate::worker::Worker;
use videos::MaxSeconds;

/// The vendor.
pub(super) const VENDOR: Vendor = Vendor {
    name: "google",
    about: "Google Gemini: pictures with references, and videos with loops, end frames and extensions",
    needs_credential: true,
    address: "https://generativelanguage.googleapis.com/v1",
    settings: schema_of::<GoogleSettings>,
    ready: "",
    build,
};

/// What it makes.
const MAKES: SupportedTasks = SupportedTasks {
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
struct GoogleSettings {
    image_model: Option<String>,
    video_model: Option<String>,
    grids: bool,
    models: BTreeMap<String, ModelNames>,
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
    most: MaxSeconds,
    poll_interval: Duration,
    call_timeout: Duration,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: GoogleSettings = read_settings(setup.settings)?;
    let models = Models {
        makes: MAKES,
        image: settings.image_model,
        video: settings.video_model,
        grids: settings.grids,
        named: settings.models,
    };
    let models = models.or_usual(IMAGE_MODEL, VIDEO_MODEL)?;
    let key = setup.credential.reveal();
    Ok(TaskBackend::worker(Google {
        http: setup
            .http
            .with_header(("x-goog-api-key", "credential"), key)?,
        models,
        most: MaxSeconds {
            pass: settings.most_seconds,
            total: settings.total_seconds,
        },
        poll_interval: poll_interval(settings.poll_seconds, 10),
        call_timeout: call_timeout(settings.timeout_seconds, 300),
    }))
}

impl TaskVendor for Google {
    fn http(&self) -> &VendorHttp {
        &self.http
    }

    fn serves(&self, operation: &str) -> bool {
        self.models.serves(operation)
    }

    fn capabilities(&self, operation: &str, brief: &Brief) -> Result<Capabilities, Fault> {
        let model = self.models.chosen_for(operation, brief)?;
        Ok(if brief.task.is_video() {
            Capabilities::films(videos::films(model, self.most, brief))
        } else {
            Capabilities::pictures(images::CAN).seeded(true)
        })
    }

    fn blobs(&self) -> &'static [&'static str] {
        &["data"]
    }

    fn call_timeout(&self) -> Duration {
        self.call_timeout
    }

    fn poll_interval(&self) -> Duration {
        self.poll_interval
    }

    fn plan<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<TaskPlan<'a>, Fault>> {
        Box::pin(async move {
            let model = self.models.chosen(work)?;
            if is_video_work(work) {
                videos::plan(work, model, self.most).await
            } else {
                images::plan(work, model).await
            }
        })
    }

    fn started(&self, work: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        if is_video_work(work) {
            videos::started(&reply)
        } else {
            images::made(reply)
        }
    }

    fn poll_request(&self, task: &Value) -> VendorRequest {
        videos::poll_request(task)
    }

    fn task_status(&self, _: &Work, task: &Value, reply: TaskReply) -> Result<TaskStatus, Fault> {
        videos::task_status(task, reply)
    }

    fn next_pass(&self, work: &Work, made: &Value, seconds: u32) -> Result<VendorRequest, Fault> {
        videos::next_pass(work, self.models.chosen(work)?, made, seconds)
    }

    fn currency(&self) -> &'static str {
        images::CURRENCY
    }

    fn fault(&self, answer: &VendorResponse) -> Fault {
        faults::read(answer)
    }

    fn stop(&self, task: &Value) -> Option<VendorRequest> {
        let id = task["interaction"].as_str()?;
        let path = format!("interactions/{}/cancel", encoded(id));
        Some(VendorRequest::post_json(path, &serde_json::json!({})))
    }

    fn probe(&self) -> VendorRequest {
        VendorRequest::get("models?pageSize=1")
    }
}
