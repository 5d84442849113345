//! Vertex AI with a service account: Gemini's images, Imagen, and Veo videos as long-running operations.

mod account;
mod imagen;
mod veo;

use atelier_contract::brief::Brief;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::google::{faults, images};
use crate::backend::{Fault, Work};
use crate::field_error::FieldError;
use crate::http::{VendorHttp, VendorRequest, VendorResponse, encoded};
use crate::models::{ModelSettings, Models, SupportedTasks, UsualModels};
use crate::task_vendor::{
    AnswerForm, Capabilities, TaskBackend, TaskBase, TaskPlan, TaskReply, TaskStatus, TaskVendor,
    TimingSettings, UsualTiming, is_video_work,
};
use crate::vendor::{Setup, Vendor, read_flattened, schema_of};
use crate::worker::Worker;
use account::ServiceAccount;

pub(super) const VENDOR: Vendor = Vendor {
    name: "vertex",
    about: "Google Vertex AI with a service account: Gemini images, Imagen, Veo videos",
    needs_credential: true,
    address: "https://us-central1-aiplatform.googleapis.com",
    settings: schema_of::<VertexSettings>,
    ready: "",
    build,
};

const MAKES: SupportedTasks = SupportedTasks::PICTURES_AND_VIDEOS;
const MODELS: UsualModels = UsualModels {
    image: Some("gemini-3.1-flash-image"),
    video: Some("veo-3.1-lite-generate-001"),
};
const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 10,
    timeout_seconds: 300,
};
/// What stands behind the location in the names of hosts.
const HOST: &str = "-aiplatform.googleapis.com";

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct VertexSettings {
    #[serde(flatten)]
    models: ModelSettings,
    /// The project; that of the service account when left out.
    project: Option<String>,
    /// The location, such as `us-central1`; that of the host when left out.
    location: Option<String>,
    /// Videos with sound.
    audio: bool,
    #[serde(flatten)]
    timing: TimingSettings,
}

struct Vertex {
    base: TaskBase,
    models: Models,
    account: ServiceAccount,
    /// The path of the publisher's models.
    publisher: String,
    /// The path of the place.
    place: String,
    audio: bool,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: VertexSettings = read_flattened(setup.settings)?;
    let models = settings.models.checked(MAKES, MODELS)?;
    let account = ServiceAccount::read(&setup.credential, &setup.http)?;
    let http = setup.http.with_secret(setup.credential.reveal());
    let location = settings.location.unwrap_or_else(|| location(&http));
    let project = settings.project.unwrap_or_else(|| account.project.clone());
    let place = format!(
        "v1/projects/{}/locations/{}",
        encoded(&project),
        encoded(&location)
    );
    Ok(TaskBackend::worker(Vertex {
        base: TaskBase::new(http, settings.timing, TIMING),
        models,
        account,
        publisher: format!("{place}/publishers/google/models"),
        place,
        audio: settings.audio,
    }))
}

/// The location in the name of the host; the host without one is everywhere.
fn location(http: &VendorHttp) -> String {
    let host = http.base().host_str().unwrap_or_default();
    let location = host.strip_suffix(HOST);
    location.unwrap_or("global").to_owned()
}

/// Whether a model is of Imagen's.
fn is_imagen(model: &str) -> bool {
    model.starts_with("imagen")
}

impl Vertex {
    fn path(&self, model: &str, verb: &str) -> String {
        format!("{}/{}:{verb}", self.publisher, encoded(model))
    }

    /// A plan whose calls have the token of the moment.
    fn signed<'a>(&'a self, plan: TaskPlan<'a>) -> TaskPlan<'a> {
        let call = plan.call;
        TaskPlan {
            call: Box::new(move |place| self.account.signed(call(place))),
            ..plan
        }
    }
}

impl TaskVendor for Vertex {
    fn base(&self) -> &TaskBase {
        &self.base
    }

    async fn prepare(&self) -> Result<(), Fault> {
        self.account.renew(&self.base.http).await
    }

    fn serves(&self, operation: &str) -> bool {
        self.models.serves(operation)
    }

    fn capabilities(&self, operation: &str, brief: &Brief) -> Result<Capabilities, Fault> {
        let model = self.models.chosen_for(operation, brief)?;
        Ok(if brief.task.is_video() {
            Capabilities::films(veo::FILMS).seeded(true)
        } else if is_imagen(model) {
            Capabilities::pictures(imagen::CAN).seeded(true)
        } else {
            Capabilities::pictures(images::CAN).seeded(true)
        })
    }

    fn start_form(&self, _: &Work) -> AnswerForm<'_> {
        AnswerForm::Document(vec!["data", "bytesBase64Encoded"])
    }

    fn question_form(&self, _: &Value) -> AnswerForm<'_> {
        AnswerForm::Document(vec!["bytesBase64Encoded"])
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let model = self.models.chosen(work)?;
        let plan = if is_video_work(work) {
            let path = self.path(model, "predictLongRunning");
            veo::plan(work, path, self.audio).await?
        } else if is_imagen(model) {
            imagen::plan(work, self.path(model, "predict")).await?
        } else {
            images::plan(work, self.path(model, "generateContent")).await?
        };
        Ok(self.signed(plan))
    }

    fn started(&self, work: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        let model = self.models.chosen(work)?;
        if is_video_work(work) {
            veo::started(&reply, model)
        } else if is_imagen(model) {
            imagen::made(reply)
        } else {
            images::made(reply)
        }
    }

    fn poll_request(&self, task: &Value) -> VendorRequest {
        let model = task["model"].as_str().unwrap_or_default();
        let path = self.path(model, "fetchPredictOperation");
        self.account.signed(veo::question(path, task))
    }

    fn task_status(&self, _: &Work, _: &Value, reply: TaskReply) -> Result<TaskStatus, Fault> {
        veo::task_status(reply)
    }

    fn currency(&self) -> &'static str {
        images::CURRENCY
    }

    fn fault(&self, answer: &VendorResponse) -> Fault {
        faults::read(answer)
    }

    fn probe(&self) -> VendorRequest {
        let path = format!("{}/models?pageSize=1", self.place);
        self.account.signed(VendorRequest::get(path))
    }
}
