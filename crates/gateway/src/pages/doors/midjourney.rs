//! midjourney-proxy's calls, in both of its dialects: each becomes an order of a family, and jobs are shown as its tasks.
//! That program answers a refused submit with 200 and a number of its own.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use atelier_contract::body::{self, Fields};
use atelier_contract::family::IMAGE_BODY;
use atelier_contract::fields::ImageData;
use atelier_contract::midjourney::{
    ButtonAction, NewTask, STATE, TaskAction, TaskJob, TaskView, button_action, interpret,
    modal_task, region_modal_id, task_operations,
};
use atelier_contract::pages::list::ListQuery;
use atelier_contract::{AccountId, Code, Job, JobId, JobState, Refusal, operation};
use atelier_engine::records::JobFilter;
use atelier_engine::{Call, Engine, refusal_of};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use tokio::time::timeout_at;

use crate::app::App;
use crate::config::Role;
use crate::http::denial::Denial;
use crate::http::idempotency::idempotency_key;
use crate::http::page::{Body, Json, Query, RawBody};
use crate::http::request::IncomingRequest;

/// The most tasks of a list.
const LISTED: i64 = 100;
/// How long a seed is waited for.
const SEED: Duration = Duration::from_mins(1);
/// How long the pictures of a call are kept for, of the time within which its caller is answered.
const KEPT_WITHIN: Duration = Duration::from_secs(6);

const NOT_KEPT: &str = "the pictures could not be kept in time; try again shortly";

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
    fn new(code: u8, description: impl Into<String>, result: Option<String>) -> Self {
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
    Box::pin(begin(app, received, "swap", None, fields)).await
}

fn nothing_here() -> Refusal {
    Refusal::new(Code::NotFound, "there is nothing at this path")
}

fn speed_of(prefix: &str) -> Result<&'static str, Refusal> {
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
    let body: NewTask = match body::read(fields) {
        Ok(body) => body,
        Err(refusal) => return Ok(Json(SubmitAnswer::refused(refusal)?)),
    };
    let wished = interpret(call, &body, speed).ok_or_else(nothing_here)?;
    let account = received.account()?.to_owned();
    let answer = match wished {
        Ok(TaskAction::Job(job)) => Box::pin(order(app, received, job)).await,
        Ok(TaskAction::Press {
            task,
            custom_id,
            rest,
        }) => match button(&app, &account, &task, &custom_id).await {
            Ok(ButtonAction::Act(action)) => {
                let wished = TaskJob::follow_up(&task, action, rest);
                Box::pin(order(app, received, wished)).await
            }
            Ok(ButtonAction::Region) => return Ok(Json(opened(&task))),
            Err(refusal) => Err(refusal.into()),
        },
        Ok(TaskAction::Window { task, rest }) => match region_modal_id(&task).1 {
            Some(parent) => Box::pin(order(app, received, TaskJob::region(parent, rest))).await,
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

/// What a button of a task does.
async fn button(
    app: &App,
    account: &AccountId,
    task: &str,
    custom_id: &str,
) -> Result<ButtonAction, Refusal> {
    let job = app.engine.jobs().job(account, &JobId::new(task)).await?;
    button_action(&job, custom_id).ok_or_else(|| {
        let message = "is no button of this task";
        Refusal::field(Code::ActionNotAvailable, "customId", message)
    })
}

/// Submits what was wished for, after pictures that must have an address were given one.
async fn order(
    app: Arc<App>,
    received: IncomingRequest,
    wished: TaskJob,
) -> Result<SubmitAnswer, Denial> {
    let Some((family, submit)) = operation(wished.operation) else {
        return Err(nothing_here().into());
    };
    let key = idempotency_key(&received.head.headers)?;
    let caller = received.caller()?.clone();
    let custody = received.from.role == Role::Custody && family.custody;
    let begun = received.admission.waits_since();
    let work = async move {
        let account = caller.account_id.clone();
        let fields = with_addresses(&app.engine, &account, wished);
        let fields = timeout_at(begun + KEPT_WITHIN, fields).await;
        let mut fields = fields.map_err(|_| Refusal::new(Code::Overloaded, NOT_KEPT))??;
        let notes = fields.remove(STATE);
        let caller = app.engine.admin().callers().refreshed(&caller).await?;
        let call = Call {
            caller,
            family,
            submit,
            fields,
            files: Vec::new(),
            idempotency_key: key,
            custody,
            notes: notes
                .map(|state| (STATE.to_owned(), state))
                .into_iter()
                .collect(),
            begun,
        };
        let submitted = app.engine.intake().submit(call).await?;
        app.engine.jobs().job(&account, &submitted.job_id).await
    };
    let job = received.admission.spend(work).await??;
    let id = Some(job.id.to_string());
    Ok(if job.state == JobState::Waiting {
        SubmitAnswer::new(22, "In queue", id)
    } else {
        SubmitAnswer::new(1, "Submit success", id)
    })
}

/// The fields of a task with addresses in place of its pictures.
async fn with_addresses(
    engine: &Engine,
    account: &AccountId,
    wished: TaskJob,
) -> Result<Fields, Refusal> {
    let mut fields = wished.fields;
    for name in wished.addresses {
        if let Some(Value::String(given)) = fields.get(*name) {
            let address = stored_url(engine, account, name, given).await?;
            fields.insert((*name).to_owned(), address.into());
        }
    }
    let mut words = Vec::new();
    for picture in &wished.pictures {
        words.push(stored_url(engine, account, "base64Array", picture).await?);
    }
    if let Some(Value::String(prompt)) = fields.get("prompt").filter(|_| !words.is_empty()) {
        words.push(prompt.clone());
        fields.insert("prompt".into(), words.join(" ").into());
    }
    Ok(fields)
}

/// The address of a picture; bytes are kept first.
async fn stored_url(
    engine: &Engine,
    account: &AccountId,
    field: &str,
    given: &str,
) -> Result<String, Refusal> {
    if given.starts_with("http://") || given.starts_with("https://") {
        return Ok(given.to_owned());
    }
    let unusable = |why: &str| Refusal::field(Code::ImageUnusable, field, why);
    let ImageData::Inline(inline) = ImageData::from_base64(given).map_err(unusable)? else {
        return Ok(given.to_owned());
    };
    let bytes = inline.bytes.unwrap_or_default().to_vec();
    let uploads = engine.assets().uploads();
    let upload = uploads.keep(account, bytes.into()).await?;
    Ok(uploads.url(&upload))
}

/// Shows a task; nothing when there is none.
pub(crate) async fn fetch(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Json<Option<TaskView>>, Denial> {
    let (account, id) = (received.account()?, received.param(0));
    let (asked, is_window) = match region_modal_id(id).1 {
        Some(parent) => (parent, true),
        None => (id, false),
    };
    let shown = match app.engine.jobs().job(account, &JobId::new(asked)).await {
        Ok(job) if is_window => Some(modal_task(&job, id)),
        Ok(job) if is_task(&job) => Some(TaskView::of(&job)),
        Ok(_) => None,
        Err(refusal) if refusal.code == Code::JobNotFound => None,
        Err(refusal) => return Err(refusal.into()),
    };
    Ok(Json(shown))
}

fn is_task(job: &Job) -> bool {
    task_operations().contains(&job.operation)
}

/// Ends a task that has not finished.
pub(crate) async fn cancel(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Json<SubmitAnswer>, Denial> {
    let id = JobId::new(received.param(0));
    app.engine.jobs().cancel(received.account()?, &id).await?;
    let done = SubmitAnswer::new(1, "Cancelled", Some(id.to_string()));
    Ok(Json(done))
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
        .job(&account, &JobId::new(received.param(0)))
        .await?;
    let wished = TaskJob::seed(parent.id.as_str());
    let engine = Arc::clone(&app.engine);
    let begun = Box::pin(order(app, received, wished)).await?;
    let id = JobId::new(begun.result.unwrap_or_default());
    let job = engine.jobs().finished(&account, &id, SEED).await?;
    let found = job.output().and_then(|output| output.seed.clone());
    match found {
        Some(seed) => Ok(Json(SubmitAnswer::new(1, "success", Some(seed)))),
        None => Ok(Json(SubmitAnswer::refused(refusal_of(&job))?)),
    }
}

/// Tasks that are made of their jobs one by one while they are written: each of them has its prompt four times, which is
/// megabytes for a page of long ones, and too much to copy where others are answered.
pub(crate) struct TaskList(Vec<Job>);

impl Serialize for TaskList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(TaskView::of))
    }
}

impl JsonSchema for TaskList {
    fn inline_schema() -> bool {
        <Vec<TaskView>>::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        <Vec<TaskView>>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <Vec<TaskView>>::json_schema(generator)
    }
}

/// The latest tasks, newest first.
pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<ListQuery>,
) -> Result<Json<TaskList>, Denial> {
    let filter = JobFilter {
        operations: task_operations(),
        ..JobFilter::page(query.page.get(), LISTED)
    };
    let account = Some(received.account()?);
    let jobs = app.engine.jobs().list(account, filter).await?.rows;
    Ok(Json(TaskList(jobs)))
}

/// Tasks by their names.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "MidjourneyTasks")]
pub(crate) struct TaskIds {
    /// The names.
    ids: Vec<String>,
}

pub(crate) async fn by_ids(
    app: Arc<App>,
    received: IncomingRequest,
    Body(mut wanted): Body<TaskIds>,
) -> Result<Json<TaskList>, Denial> {
    wanted.ids.truncate(LISTED as usize);
    let mut jobs = app
        .engine
        .jobs()
        .jobs_of(received.account()?, &wanted.ids)
        .await?;
    jobs.retain(is_task);
    Ok(Json(TaskList(jobs)))
}
