//! Jimeng by the visual service of Volcengine: images and videos, each a task, with calls signed by a pair of keys.

mod bodies;

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backend::{Class, Fault, Work};
use crate::field_error::FieldError;
use crate::http::{VendorRequest, VendorResponse};
use crate::images::FinishOptions;
use crate::models::{ModelSettings, Models, SupportedTasks, UsualModels};
use crate::seeds;
use crate::sigv4::{SigV4Form, SigV4Scope, SigV4Signer};
use crate::task_vendor::{
    AnswerForm, Capabilities, FileSource, ImageRequest, TaskBackend, TaskBase, TaskPlan, TaskReply,
    TaskResult, TaskStatus, TaskVendor, TimingSettings, UsualTiming, VideoRequest, id,
    is_video_work,
};
use crate::vendor::{Setup, Vendor, read_flattened, schema_of};
use crate::vendor_errors::{self, ErrorRule, VendorError};
use crate::worker::Worker;

pub(super) const VENDOR: Vendor = Vendor {
    name: "jimeng",
    about: "Jimeng (Volcengine's visual service): images, and videos of 5 and 10 seconds with first and last frames",
    needs_credential: true,
    address: "https://visual.volcengineapi.com",
    settings: schema_of::<JimengSettings>,
    ready: "",
    build,
};

const MAKES: SupportedTasks = SupportedTasks {
    images: &[Task::Draw, Task::Edit, Task::Restyle],
    videos: true,
    clips_in_fours: true,
};
const MODELS: UsualModels = UsualModels {
    image: Some("jimeng_t2i_v40"),
    video: Some("jimeng_v30"),
};
const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 5,
    timeout_seconds: 60,
};
const SUBMIT: &str = "?Action=CVSync2AsyncSubmitTask&Version=2022-08-31";
const RESULT: &str = "?Action=CVSync2AsyncGetResult&Version=2022-08-31";
/// The code of a good answer.
const GOOD: i64 = 10_000;
/// A task that cannot be.
const NOBODY: &str = "0";

const RULES: &[ErrorRule] = &[
    ErrorRule::code("50411", Class::Reject),
    ErrorRule::code("50412", Class::Reject),
    ErrorRule::code("50413", Class::Reject),
    ErrorRule::code("50511", Class::Reject),
    ErrorRule::code("50512", Class::Reject),
    ErrorRule::code("50514", Class::Reject),
    ErrorRule::code("50518", Class::Reject),
    ErrorRule::code("50519", Class::Reject),
    ErrorRule::code("50520", Class::Retry),
    ErrorRule::code("50521", Class::Retry),
    ErrorRule::code("50522", Class::Retry),
    ErrorRule::code("50429", Class::Rate),
    ErrorRule::code("50430", Class::Rate),
    ErrorRule::code("50400", Class::Dead),
    ErrorRule::code("50402", Class::Quota),
    ErrorRule::words(0, "arrear", Class::Quota),
    ErrorRule::code("50204", Class::BadRequest),
    ErrorRule::code("50205", Class::BadRequest),
    ErrorRule::code("50206", Class::BadRequest),
    ErrorRule::code("50207", Class::BadRequest),
    ErrorRule::code("50215", Class::BadRequest),
    ErrorRule::code("50218", Class::BadRequest),
    ErrorRule::words(0, "req_key", Class::Model),
    ErrorRule::code("signature", Class::Dead),
    ErrorRule::code("accesskey", Class::Dead),
    ErrorRule::code("accessdenied", Class::Dead),
    ErrorRule::code("flowlimit", Class::Rate),
    ErrorRule::code("50500", Class::Retry),
    ErrorRule::code("50501", Class::Retry),
];

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct JimengSettings {
    #[serde(flatten)]
    models: ModelSettings,
    /// The region that calls are signed for.
    region: Option<String>,
    /// Marks that say that it was made by a machine are put on.
    watermark: bool,
    #[serde(flatten)]
    timing: TimingSettings,
}

struct Jimeng {
    base: TaskBase,
    models: Models,
    watermark: bool,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: JimengSettings = read_flattened(setup.settings)?;
    let models = settings.models.checked(MAKES, MODELS)?;
    let keys = setup.credential.reveal();
    let secret = keys.split_once(':').map_or("", |(_, secret)| secret);
    let scope = SigV4Scope {
        region: settings.region.unwrap_or_else(|| "cn-north-1".to_owned()),
        service: "cv".to_owned(),
    };
    let http =
        setup
            .http
            .with_secret(secret)
            .with_signer(SigV4Signer::new(SigV4Form::Volc, keys, scope));
    Ok(TaskBackend::worker(Jimeng {
        base: TaskBase::new(http, settings.timing, TIMING),
        models,
        watermark: settings.watermark,
    }))
}

/// What a document refuses in spite of its status: everything has a code.
fn refusal(body: &Value) -> Option<VendorError> {
    let error = &body["ResponseMetadata"]["Error"];
    if let Some(code) = error["Code"].as_str() {
        return Some(VendorError::new(code, error["Message"].as_str()?));
    }
    let code = body["code"].as_i64().filter(|code| *code != GOOD)?;
    Some(VendorError::new(
        code.to_string(),
        body["message"].as_str()?,
    ))
}

impl Jimeng {
    fn refused(body: &Value) -> Option<Fault> {
        refusal(body).map(|said| vendor_errors::failed_by(RULES, &said))
    }

    /// The question about a task: which request it came from is a part of it.
    fn question(&self, key: &str, task: &str) -> VendorRequest {
        let marks = json!({"add_logo": self.watermark});
        let wishes = json!({"return_url": true, "logo_info": marks});
        let body = json!({"req_key": key, "task_id": task, "req_json": wishes.to_string()});
        VendorRequest::post_json(RESULT, &body)
    }
}

impl TaskVendor for Jimeng {
    fn base(&self) -> &TaskBase {
        &self.base
    }

    fn serves(&self, operation: &str) -> bool {
        self.models.serves(operation)
    }

    fn capabilities(&self, operation: &str, brief: &Brief) -> Result<Capabilities, Fault> {
        let model = self.models.chosen_for(operation, brief)?;
        Ok(if brief.task.is_video() {
            Capabilities::films(bodies::films(model)).seeded(true)
        } else {
            Capabilities {
                strength: bodies::has_scale(model),
                ..Capabilities::pictures(bodies::pictures(model)).seeded(true)
            }
        })
    }

    fn question_form(&self, _: &Value) -> AnswerForm<'_> {
        AnswerForm::Document(vec!["binary_data_base64"])
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let model = self.models.chosen(work)?;
        let (body, finish) = if is_video_work(work) {
            let scene = VideoRequest::of(work, &bodies::films(model)).await?;
            (bodies::film(model, &scene), FinishOptions::default())
        } else {
            let sheet = ImageRequest::of(work, &bodies::pictures(model)).await?;
            let body = bodies::picture(model, &sheet, &work.brief);
            (body, sheet.finish)
        };
        let seed = work.brief.seed;
        Ok(TaskPlan::each(work, finish, move |place| {
            let mut body = body.clone();
            if let Some(seed) = seed {
                body["seed"] = json!(seeds::member(seed, place as usize) & 0x7fff_ffff);
            }
            VendorRequest::post_json(SUBMIT, &body)
        }))
    }

    /// The request key is a part of every question about the task.
    fn started(&self, work: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        if let Some(fault) = Self::refused(&reply.body) {
            return Err(fault);
        }
        let Some(task) = id(&reply.body["data"]["task_id"]) else {
            return Err(reply.nonsense());
        };
        let model = self.models.chosen(work)?;
        let key = if is_video_work(work) {
            let begins = matches!(work.brief.task, Task::Extend(_)) || !work.sources.is_empty();
            let ends = work.brief.last_frame.is_some() || (work.brief.looped && begins);
            bodies::film_key(model, begins, ends)
        } else {
            bodies::picture_key(model, !work.sources.is_empty())
        };
        Ok(TaskStatus::Task(json!({"id": task, "key": key})))
    }

    fn poll_request(&self, task: &Value) -> VendorRequest {
        let text = |name: &str| task[name].as_str().unwrap_or_default();
        self.question(text("key"), text("id"))
    }

    fn task_status(&self, _: &Work, _: &Value, mut reply: TaskReply) -> Result<TaskStatus, Fault> {
        if let Some(fault) = Self::refused(&reply.body) {
            return Ok(TaskStatus::Failed(fault));
        }
        let data = reply.body["data"].take();
        Ok(match data["status"].as_str() {
            None => return Err(reply.nonsense()),
            Some("done") => {
                let films = data["video_url"].as_str().into_iter();
                let images = data["image_urls"].as_array().into_iter().flatten();
                let addresses = films.chain(images.filter_map(Value::as_str));
                let mut task_result = TaskResult::at(addresses.filter(|url| !url.is_empty()));
                if task_result.files.is_empty() {
                    let blobs = data["binary_data_base64"].as_array().into_iter().flatten();
                    let files = blobs.filter_map(|blob| reply.file(blob));
                    task_result.files = files.map(FileSource::File).collect();
                }
                TaskStatus::Done(task_result)
            }
            Some("not_found" | "expired") => TaskStatus::Failed(Fault::vendor(
                Class::Gone,
                "the vendor does not know the task any more",
            )),
            Some(_) => TaskStatus::Running(None),
        })
    }

    fn error_rules(&self) -> &[ErrorRule] {
        RULES
    }

    fn read_error(&self, body: &Value) -> Option<VendorError> {
        refusal(body).or_else(|| VendorError::read(body))
    }

    /// A review of the result is told by an answer of its own, which is not good.
    fn ended(&self, _: &Value, answer: &VendorResponse) -> Option<Fault> {
        let said = refusal(&answer.json().ok()?)?;
        let fault = vendor_errors::failed_by(RULES, &said);
        matches!(fault.class, Class::Reject | Class::BadRequest).then_some(fault)
    }

    /// There is no page for it: a task that cannot be is asked for.
    fn probe(&self) -> VendorRequest {
        self.question("jimeng_t2i_v40", NOBODY)
    }

    fn probe_refusal(&self, answer: &VendorResponse) -> Option<Fault> {
        let fault = Self::refused(&answer.json().ok()?)?;
        let about_keys = matches!(fault.class, Class::Dead | Class::Quota | Class::Rate);
        about_keys.then_some(fault)
    }

    fn is_healthy(&self, answer: &VendorResponse) -> bool {
        vendor_errors::is_unknown_task(answer) && self.probe_refusal(answer).is_none()
    }
}
