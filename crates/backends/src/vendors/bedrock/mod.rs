//! AWS Bedrock: Nova Canvas and Stability's models, each answered within its call. Calls are signed by a pair of keys, or carry a
//! key of Bedrock's own.

mod nova;
mod stable;

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::backend::{Class, Fault, Work};
use crate::field_error::FieldError;
use crate::http::{VendorHttp, VendorRequest, VendorResponse, encoded};
use crate::models::{ModelSettings, Models, SupportedTasks, UsualModels};
use crate::sigv4::{SigV4Form, SigV4Scope, SigV4Signer};
use crate::task_vendor::{
    AnswerForm, Capabilities, FileSource, TaskBackend, TaskBase, TaskPlan, TaskReply, TaskResult,
    TaskStatus, TaskVendor, TimingSettings, UsualTiming,
};
use crate::vendor::{Secret, Setup, Vendor, read_flattened, schema_of};
use crate::vendor_errors::{self, ErrorRule, VendorError};
use crate::worker::Worker;

pub(super) const VENDOR: Vendor = Vendor {
    name: "bedrock",
    about: "AWS Bedrock: images of Nova Canvas and of Stability's models, with masks and variations",
    needs_credential: true,
    address: "https://bedrock-runtime.us-east-1.amazonaws.com",
    settings: schema_of::<BedrockSettings>,
    ready: "",
    build,
};

const MAKES: SupportedTasks = SupportedTasks {
    images: &[
        Task::Draw,
        Task::Edit,
        Task::Repaint,
        Task::Restyle,
        Task::ReplaceBackground,
        Task::RemoveBackground,
    ],
    videos: false,
    clips_in_fours: false,
};
const MODELS: UsualModels = UsualModels {
    image: Some("amazon.nova-canvas-v1:0"),
    video: None,
};
const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 1,
    timeout_seconds: 300,
};
/// Where a worker account's calls are signed for, if nothing says it.
const USUAL_REGION: &str = "us-east-1";

const RULES: &[ErrorRule] = &[
    ErrorRule::words(0, "content filter", Class::Reject),
    ErrorRule::words(0, "responsible ai", Class::Reject),
    ErrorRule::words(0, "filter reason", Class::Reject),
    ErrorRule::words(0, "model identifier is invalid", Class::Model),
    ErrorRule::words(0, "access to the model", Class::Model),
    ErrorRule::words(0, "on-demand throughput", Class::Model),
    ErrorRule::words(0, "end of its life", Class::Model),
    ErrorRule::code("throttling", Class::Rate),
    ErrorRule::code("servicequotaexceeded", Class::Rate),
    ErrorRule::code("toomanyrequests", Class::Rate),
    ErrorRule::code("modelnotready", Class::Retry),
    ErrorRule::code("modeltimeout", Class::Retry),
    ErrorRule::code("modelerror", Class::Retry),
    ErrorRule::code("unrecognizedclient", Class::Dead),
    ErrorRule::code("invalidsignature", Class::Dead),
    ErrorRule::code("incompletesignature", Class::Dead),
    ErrorRule::code("expiredtoken", Class::Dead),
    ErrorRule::code("accessdenied", Class::Dead),
    ErrorRule::code("resourcenotfound", Class::Model),
    ErrorRule::code("validation", Class::BadRequest),
];

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct BedrockSettings {
    #[serde(flatten)]
    models: ModelSettings,
    /// The region that calls are signed for; that of the host when left out.
    region: Option<String>,
    /// `standard` or `premium`, for Nova Canvas.
    quality: Option<String>,
    #[serde(flatten)]
    timing: TimingSettings,
}

struct Bedrock {
    base: TaskBase,
    models: Models,
    quality: Option<String>,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: BedrockSettings = read_flattened(setup.settings)?;
    let models = settings.models.checked(MAKES, MODELS)?;
    if let Some(other) = settings.quality.as_deref()
        && !matches!(other, "standard" | "premium")
    {
        return Err(FieldError::new("quality", "must be standard or premium"));
    }
    let region = settings.region.or_else(|| region(&setup.http));
    let region = region.unwrap_or_else(|| USUAL_REGION.to_owned());
    let http = signed(setup.http, &setup.credential, region)?;
    Ok(TaskBackend::worker(Bedrock {
        base: TaskBase::new(http, settings.timing, TIMING),
        models,
        quality: settings.quality,
    }))
}

/// The region in the name of the host, such as `bedrock-runtime.eu-west-1.amazonaws.com`.
fn region(http: &VendorHttp) -> Option<String> {
    let host = http.base().host_str()?;
    let rest = host.strip_prefix("bedrock-runtime.")?;
    rest.split('.').next().map(str::to_owned)
}

/// The way to the vendor: signed by a pair of keys, or with a key of Bedrock's own, which has no colon.
fn signed(http: VendorHttp, credential: &Secret, region: String) -> Result<VendorHttp, FieldError> {
    let key = credential.reveal();
    if !key.contains(':') {
        return http.with_bearer(key);
    }
    let scope = SigV4Scope {
        region,
        service: "bedrock".to_owned(),
    };
    let secrets = key.splitn(3, ':').skip(1);
    let http = secrets.fold(http, VendorHttp::with_secret);
    Ok(http.with_signer(SigV4Signer::new(SigV4Form::Aws, key, scope)))
}

/// Whether a model is of Stability's.
fn is_stable(model: &str) -> bool {
    model.contains("stability.")
}

impl TaskVendor for Bedrock {
    fn base(&self) -> &TaskBase {
        &self.base
    }

    fn serves(&self, operation: &str) -> bool {
        self.models.serves(operation)
    }

    fn capabilities(&self, operation: &str, brief: &Brief) -> Result<Capabilities, Fault> {
        let model = self.models.chosen_for(operation, brief)?;
        let can = if is_stable(model) {
            stable::pictures(model, brief)?
        } else {
            nova::pictures(brief)
        };
        Ok(Capabilities {
            strength: true,
            ..Capabilities::pictures(can).seeded(true)
        })
    }

    fn start_form(&self, _: &Work) -> AnswerForm<'_> {
        AnswerForm::Document(vec!["images"])
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let model = self.models.chosen(work)?;
        let path = format!("model/{}/invoke", encoded(model));
        if is_stable(model) {
            return stable::plan(work, model, path).await;
        }
        nova::plan(work, self.quality.as_deref(), path).await
    }

    /// A review leaves pictures out, and says so beside them.
    fn started(&self, _: &Work, mut reply: TaskReply) -> Result<TaskStatus, Fault> {
        let body = std::mem::take(&mut reply.body);
        let blobs = body["images"].as_array().into_iter().flatten();
        let files: Vec<FileSource> = blobs
            .filter_map(|blob| reply.file(blob))
            .map(FileSource::File)
            .collect();
        let reasons = body["finish_reasons"].as_array().into_iter().flatten();
        let mut reasons = reasons.chain([&body["error"]]).filter_map(Value::as_str);
        match (files.is_empty(), reasons.next()) {
            (true, Some(reason)) => {
                let fault = vendor_errors::failed_by(RULES, &VendorError::new("", reason));
                // Whatever else leaves pictures out is a review's word.
                Ok(TaskStatus::Failed(match fault.class {
                    Class::Retry => Fault {
                        detail: fault.detail,
                        ..vendor_errors::refused_by_review()
                    },
                    _ => fault,
                }))
            }
            (true, None) => Err(reply.nonsense()),
            (false, _) => Ok(TaskStatus::Done(TaskResult {
                files,
                seed: body["seeds"][0].as_u64(),
                ..TaskResult::default()
            })),
        }
    }

    /// There are no tasks; the question is never asked.
    fn poll_request(&self, _: &Value) -> VendorRequest {
        self.probe()
    }

    fn task_status(&self, _: &Work, _: &Value, reply: TaskReply) -> Result<TaskStatus, Fault> {
        Err(reply.nonsense())
    }

    fn error_rules(&self) -> &[ErrorRule] {
        RULES
    }

    /// The kind of an error stands in the head of the answer.
    fn fault(&self, answer: &VendorResponse) -> Fault {
        let body = answer.json().ok();
        let said = body.as_ref().and_then(VendorError::read).or_else(|| {
            let message = body.as_ref()?["Message"].as_str()?;
            Some(VendorError::new("", message))
        });
        let kind = answer.headers.get("x-amzn-errortype");
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split([':', ',']).next().unwrap_or_default();
        let said = said.map(|said| VendorError {
            code: format!("{kind} {}", said.code).trim().to_owned(),
            ..said
        });
        vendor_errors::fault_by(RULES, answer, said)
    }

    fn probe(&self) -> VendorRequest {
        VendorRequest::get("async-invoke?maxResults=1")
    }

    /// Keys that may not list anything are keys all the same: the signature was looked at before.
    fn is_healthy(&self, answer: &VendorResponse) -> bool {
        let denied = answer.start().contains("ListAsyncInvokes");
        answer.status == 403 && denied
    }
}
