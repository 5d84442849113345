//! Google's Gemini API with a key: pictures, drawn and edited within the call, and videos by the Interactions interface,
//! with first and last frames, loops, references and extensions.

pub(super) mod faults;
pub(super) mod images;
mod videos;

use atelier_contract::brief::Brief;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::backend::{Fault, Work};
use crate::field_error::FieldError;
use crate::http::{VendorRequest, VendorResponse, encoded};
use crate::models::{ModelSettings, Models, SupportedTasks, UsualModels};
use crate::task_vendor::{
    AnswerForm, Capabilities, TaskBackend, TaskBase, TaskPlan, TaskReply, TaskStatus, TaskVendor,
    TimingSettings, UsualTiming, is_video_work,
};
use crate::vendor::{Setup, Vendor, read_flattened, schema_of};
use crate::worker::Worker;
use videos::MaxSeconds;

pub(super) const VENDOR: Vendor = Vendor {
    name: "google",
    about: "Google Gemini: pictures with references, and videos with loops, end frames and extensions",
    needs_credential: true,
    address: "https://generativelanguage.googleapis.com/v1",
    settings: schema_of::<GoogleSettings>,
    ready: "",
    build,
};

const MAKES: SupportedTasks = SupportedTasks::PICTURES_AND_VIDEOS;
const MODELS: UsualModels = UsualModels {
    image: Some("gemini-3.1-flash-image"),
    video: Some("gemini-omni-1.2-flash"),
};
const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 10,
    timeout_seconds: 300,
};

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct GoogleSettings {
    #[serde(flatten)]
    models: ModelSettings,
    /// The longest video of one pass in seconds; usually that of the model. Longer ones are extended.
    most_seconds: Option<u32>,
    /// The longest video of all in seconds, with its extensions; usually that of the model.
    total_seconds: Option<u32>,
    #[serde(flatten)]
    timing: TimingSettings,
}

struct Google {
    base: TaskBase,
    models: Models,
    most: MaxSeconds,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: GoogleSettings = read_flattened(setup.settings)?;
    let models = settings.models.checked(MAKES, MODELS)?;
    let key = setup.credential.reveal();
    let http = setup
        .http
        .with_header("x-goog-api-key", "credential", key)?;
    Ok(TaskBackend::worker(Google {
        base: TaskBase::new(http, settings.timing, TIMING),
        models,
        most: MaxSeconds {
            pass: settings.most_seconds,
            total: settings.total_seconds,
        },
    }))
}

impl TaskVendor for Google {
    fn base(&self) -> &TaskBase {
        &self.base
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

    fn start_form(&self, _: &Work) -> AnswerForm<'_> {
        AnswerForm::Document(vec!["data"])
    }

    fn question_form(&self, _: &Value) -> AnswerForm<'_> {
        AnswerForm::Document(vec!["data"])
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let model = self.models.chosen(work)?;
        if is_video_work(work) {
            videos::plan(work, model, self.most).await
        } else {
            let path = format!("models/{}:generateContent", encoded(model));
            images::plan(work, path).await
        }
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
