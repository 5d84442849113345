//! midjourney-proxy's calls that begin something, in both of its dialects: each becomes an order of a family. That program answers a
//! refused submit with 200 and a number of its own.

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::body::Fields;
use atelier_contract::family::IMAGE_BODY;
use atelier_contract::kept::{IGNORED, MIDJOURNEY_STATE};
use atelier_contract::midjourney::{
    ButtonAction, NewTask, TaskAction, TaskJob, button_action, interpret, region_modal_id,
};
use atelier_contract::{AccountId, Code, Job, JobId, JobState, Refusal};
use atelier_engine::refusal_of;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::orders::{DoorOrder, stored_url};
use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Json, RawBody};
use crate::http::request::IncomingRequest;

/// How long a seed is waited for.
const SEED: Duration = Duration::from_mins(1);
/// Pictures that are kept at once, at most.
const UPLOADS_MOST: usize = 10;

/// That program's answer to a submit.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MidjourneyAnswer")]
pub(crate) struct SubmitAnswer {
    /// 1 accepted, 22 waits in the queue, 21 a window waits, 3 no such task, 4 not valid, 23 queue full, 24 banned word.
    code: u8,
    /// The same in words.
    description: String,
    /// The task.
    result: Option<String>,
    /// More about it.
    properties: Map<String, Value>,
}

impl SubmitAnswer {
    pub(super) fn new(code: u8, description: impl Into<String>, result: Option<String>) -> Self {
        Self {
            code,
            description: description.into(),
            result,
            properties: Map::new(),
        }
    }

    /// A refusal in that program's numbers; what is wrong here and now keeps its own status.
    fn refused(refusal: Refusal) -> Result<Self, Denial> {
        let code = match refusal.code {
            Code::JobNotFound | Code::ParentNotFinished => 3,
            Code::QueueFull => 23,
            Code::BannedPrompt => 24,
            other if other.status() == 400 => 4,
            _ => return Err(refusal.into()),
        };
        let mut answer = Self::new(code, refusal.message, None);
        if let Some(limit) = refusal.limit {
            answer.properties.insert("limit".into(), *limit);
        }
        if code == 24 {
            let quoted = answer.description.split(['[', ']', '`']).nth(1);
            let word = quoted.unwrap_or_default().to_owned();
            answer.properties.insert("bannedWord".into(), word.into());
        }
        Ok(answer)
    }
}

/// Begins a task; the path says what, and perhaps how fast.
pub(crate) async fn submit(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawBody<NewTask, IMAGE_BODY>,
) -> Result<Json<SubmitAnswer>, Denial> {
    let (speed, call) = match &*received.params {
        [speed, call] => (Some(speed_of(speed)?), call.clone()),
        _ => (None, received.param(0).to_owned()),
    };
    Box::pin(begin(app, received, &call, speed, fields)).await
}

pub(crate) async fn swap(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawBody<NewTask, IMAGE_BODY>,
) -> Result<Json<SubmitAnswer>, Denial> {
    let speed = match &*received.params {
        [speed] => Some(speed_of(speed)?),
        _ => None,
    };
    Box::pin(begin(app, received, "swap", speed, fields)).await
}

/// The task that the path names, perhaps behind a speed, which says nothing there.
pub(super) fn task_of(received: &IncomingRequest) -> Result<JobId, Refusal> {
    Ok(JobId::new(match &*received.params {
        [speed, task] => {
            speed_of(speed)?;
            task
        }
        _ => received.param(0),
    }))
}

fn nothing_here() -> Refusal {
    Refusal::new(Code::NotFound, "there is nothing at this path")
}

pub(super) fn speed_of(prefix: &str) -> Result<&'static str, Refusal> {
    match prefix {
        "mj-relax" => Ok("relax"),
        "mj-fast" => Ok("fast"),
        "mj-turbo" => Ok("turbo"),
        _ => Err(nothing_here()),
    }
}

async fn begin(
    app: Arc<App>,
    received: IncomingRequest,
    call: &str,
    speed: Option<&'static str>,
    fields: Fields,
) -> Result<Json<SubmitAnswer>, Denial> {
    let body = match NewTask::read(fields) {
        Ok(body) => body,
        Err(refusal) => return Ok(Json(SubmitAnswer::refused(refusal)?)),
    };
    let wished = interpret(call, &body, speed).ok_or_else(nothing_here)?;
    let account = received.account()?.to_owned();
    let answer = match wished {
        Ok(TaskAction::Job(job)) => order(&app, &received, job).await,
        Ok(TaskAction::Press {
            task,
            custom_id,
            rest,
        }) => match button(&app, &account, &task, &custom_id).await {
            Ok((job, ButtonAction::Shortened(at))) => match TaskJob::imagined(&job, at, rest) {
                Some(wished) => order(&app, &received, wished).await,
                None => Err(Refusal::job_not_found().into()),
            },
            Ok((_, ButtonAction::Act(action))) => {
                let wished = TaskJob::follow_up(&task, action, rest);
                order(&app, &received, wished).await
            }
            Ok((_, ButtonAction::Region)) => return Ok(Json(opened(&task))),
            Err(refusal) => Err(refusal.into()),
        },
        Ok(TaskAction::Window { task, rest }) => match region_modal_id(&task).1 {
            Some(parent) => order(&app, &received, TaskJob::region(parent, rest)).await,
            None => Err(Refusal::job_not_found().into()),
        },
        Err(refusal) => Err(refusal.into()),
    };
    match answer {
        Ok(answer) => Ok(Json(answer)),
        Err(denial) if denial.retry_after_s.is_none() || denial.refusal.code == Code::QueueFull => {
            Ok(Json(SubmitAnswer::refused(denial.refusal)?))
        }
        Err(denial) => Err(denial),
    }
}

/// A window that waits for its mask.
fn opened(task: &str) -> SubmitAnswer {
    let mut answer = SubmitAnswer::new(
        21,
        "Waiting for window confirm",
        Some(region_modal_id(task).0),
    );
    answer.properties.insert("remix".into(), true.into());
    answer
}

/// The job of a task, and what a button of it does.
async fn button(
    app: &App,
    account: &AccountId,
    task: &str,
    custom_id: &str,
) -> Result<(Job, ButtonAction), Refusal> {
    let job = app.engine.jobs().job(account, &JobId::new(task)).await?;
    let Some(action) = button_action(&job, custom_id) else {
        let message = "is no button of this task";
        return Err(Refusal::field(
            Code::ActionNotAvailable,
            "customId",
            message,
        ));
    };
    Ok((job, action))
}

/// Submits what was wished for, after pictures that must have an address were given one.
async fn order(
    app: &Arc<App>,
    received: &IncomingRequest,
    wished: TaskJob,
) -> Result<SubmitAnswer, Denial> {
    let job = submitted(app, received, wished).await?;
    let id = Some(job.id.to_string());
    Ok(if job.state == JobState::Waiting {
        SubmitAnswer::new(22, "In queue", id)
    } else {
        SubmitAnswer::new(1, "Submit success", id)
    })
}

async fn submitted(
    app: &Arc<App>,
    received: &IncomingRequest,
    mut wished: TaskJob,
) -> Result<Job, Denial> {
    let mut notes = Fields::new();
    for name in [MIDJOURNEY_STATE, IGNORED] {
        if let Some(note) = wished.fields.remove(name) {
            notes.insert(name.to_owned(), note);
        }
    }
    let mut order = DoorOrder::new(wished.operation, wished.fields);
    order.notes = notes;
    order.addresses = wished.addresses;
    order.leading = wished.pictures;
    Box::pin(order.accepted(app, received)).await
}

/// The seed of a task's picture.
pub(crate) async fn seed(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Json<SubmitAnswer>, Denial> {
    let account = received.account()?.to_owned();
    let parent = app
        .engine
        .jobs()
        .job(&account, &task_of(&received)?)
        .await?;
    let wished = TaskJob::seed(parent.id.as_str());
    let engine = Arc::clone(&app.engine);
    let begun = submitted(&app, &received, wished).await?;
    let job = engine.jobs().finished(&account, &begun.id, SEED).await?;
    let found = job.output().and_then(|output| output.seed.clone());
    match found {
        Some(seed) => Ok(Json(SubmitAnswer::new(1, "success", Some(seed)))),
        None => Ok(Json(SubmitAnswer::refused(refusal_of(&job))?)),
    }
}

/// That program's answer to pictures that were kept.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MidjourneyUpload")]
pub(crate) struct UploadAnswer {
    /// 1 kept, 4 not valid.
    code: u8,
    /// The same in words.
    description: String,
    /// URLs of the pictures, in order.
    result: Vec<String>,
}

/// Keeps pictures; their URLs may stand in prompts.
pub(crate) async fn upload(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawBody<NewTask, IMAGE_BODY>,
) -> Result<Json<UploadAnswer>, Denial> {
    if let [speed] = &*received.params {
        speed_of(speed)?;
    }
    let answer = match NewTask::read(fields) {
        Ok(body) => keep(&app, &received, body.base64_array).await?,
        Err(refusal) => Err(refusal),
    };
    Ok(Json(match answer {
        Ok(result) => UploadAnswer {
            code: 1,
            description: "Submit success".to_owned(),
            result,
        },
        Err(refusal) => {
            let SubmitAnswer {
                code, description, ..
            } = SubmitAnswer::refused(refusal)?;
            UploadAnswer {
                code,
                description,
                result: Vec::new(),
            }
        }
    }))
}

async fn keep(
    app: &Arc<App>,
    received: &IncomingRequest,
    pictures: Vec<String>,
) -> Result<Result<Vec<String>, Refusal>, Denial> {
    if pictures.is_empty() {
        return Ok(Err(Refusal::missing("base64Array")));
    }
    if pictures.len() > UPLOADS_MOST {
        let message = format!("must have {UPLOADS_MOST} pictures at most");
        return Ok(Err(Refusal::invalid("base64Array", message)));
    }
    let (app, account) = (Arc::clone(app), received.account()?.to_owned());
    let work = async move {
        let mut urls = Vec::new();
        for (index, picture) in pictures.iter().enumerate() {
            let place = format!("base64Array[{index}]");
            urls.push(stored_url(&app.engine, &account, &place, picture).await?);
        }
        Ok(urls)
    };
    Ok(received.admission.spend(work).await?)
}
