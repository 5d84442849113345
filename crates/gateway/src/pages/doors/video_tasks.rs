//! Video tasks in the wire formats of new-api, Kling and Jimeng: each call becomes a job of one of our families for videos, by the
//! model that it names.

use std::collections::BTreeMap;
use std::sync::Arc;

use atelier_contract::family::IMAGE_BODY;
use atelier_contract::fields::Count;
use atelier_contract::kept::{API, IGNORED, KLING};
use atelier_contract::models::ListedModel;
use atelier_contract::pages::models::AccountField;
use atelier_contract::video_tasks::{
    GatewayTask, GatewayVideo, JIMENG_FETCH, JIMENG_SUBMIT, JimengAnswer, KlingAnswer, KlingTask,
    VIDEO_OPERATIONS, VideoCall, VideoTask, VideoWish,
};
use atelier_contract::{Code, Job, JobId, Refusal};
use atelier_engine::Caller;
use atelier_engine::records::JobFilter;
use base64::Engine as _;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::orders::DoorOrder;
use crate::app::App;
use crate::http::denial::Denial;
use crate::http::form::{FormFields, FormOf};
use crate::http::page::{BodyAndQuery, Json, Query, RawBody};
use crate::http::request::IncomingRequest;
use crate::pages::usable_models::visible;

/// The model of a call that names none that is known.
const USUAL_MODEL: &str = "video-2";
/// Names that a refusal lists at most.
const NAMES_MOST: usize = 40;

impl FormFields for VideoCall {
    const FILES: &'static [&'static str] = &["image", "images", "input_reference"];
    const OR_JSON: bool = true;
}

/// Begins a video in the form of new-api.
pub(crate) async fn create(
    app: Arc<App>,
    received: IncomingRequest,
    form: FormOf<VideoCall>,
) -> Result<Json<GatewayVideo>, Denial> {
    let mut fields = form.fields;
    for (name, bytes) in form.files {
        let encoded = base64::engine::general_purpose::STANDARD
            .encode(bytes)
            .into();
        match fields.get_mut(&name) {
            Some(Value::Array(images)) => images.push(encoded),
            Some(_) => {
                return Err(Refusal::invalid(&name, "must be given as files or as text").into());
            }
            None => {
                fields.insert(name, Value::Array(vec![encoded]));
            }
        }
    }
    let order = ordered(&app, received.caller()?, &VideoWish::read(fields)?)?;
    Ok(Json(GatewayVideo::of(
        &accepted(&app, &received, order).await?,
    )))
}

pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Json<GatewayTask>, Denial> {
    let job = task(&app, &received, received.param(0)).await?;
    Ok(Json(GatewayTask::of(&job)))
}

/// Begins a video in Kling's form.
pub(crate) async fn create_kling(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawBody<VideoCall, IMAGE_BODY>,
) -> Result<Json<KlingAnswer<KlingTask>>, Denial> {
    let wish = VideoWish::read(fields)?;
    let pictured = received.head.uri.path().ends_with("/image2video");
    if pictured && !wish.has_image() {
        return Err(Refusal::missing("image").into());
    }
    let own_name = wish.external_id().map(kling_key);
    let mut order = ordered(&app, received.caller()?, &wish)?;
    order.order.notes.insert(API.to_owned(), KLING.into());
    // A name is given once, and finds its task again.
    order.order.usual_key = own_name;
    let job = accepted(&app, &received, order).await?;
    Ok(Json(KlingAnswer::of(&job)))
}

/// What remembers a caller's own name for a task.
fn kling_key(name: &str) -> String {
    let visible = name.chars().filter(char::is_ascii_graphic);
    format!("kling:{}", visible.collect::<String>())
}

/// Shows a task by its name, or by the caller's.
pub(crate) async fn show_kling(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Json<KlingAnswer<KlingTask>>, Denial> {
    let name = received.decoded_param(0);
    let job = match task(&app, &received, &name).await {
        Err(refusal) if refusal.code == Code::JobNotFound => {
            let account = received.account()?;
            let id = app.engine.jobs().called(account, &kling_key(&name)).await?;
            task(&app, &received, id.as_str()).await?
        }
        other => other?,
    };
    Ok(Json(KlingAnswer::of(&job)))
}

/// A page of tasks.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KlingListQuery {
    /// The page, from 1.
    #[serde(default)]
    page_num: Count<1, 1000, 1>,
    /// Tasks on a page.
    #[serde(default)]
    page_size: Count<1, 500, 30>,
}

pub(crate) async fn list_kling(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<KlingListQuery>,
) -> Result<Json<KlingAnswer<Vec<KlingTask>>>, Denial> {
    let filter = JobFilter {
        operations: VIDEO_OPERATIONS.map(str::to_owned).to_vec(),
        ..JobFilter::page(query.page_num.get(), query.page_size.get())
    };
    let account = Some(received.account()?);
    let jobs = app.engine.jobs().list(account, filter).await?.rows;
    Ok(Json(KlingAnswer::list(&jobs)))
}

/// What is to be done, in Jimeng's query.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct JimengQuery {
    /// `CVSync2AsyncSubmitTask`, or `CVSync2AsyncGetResult` with `task_id` in the body.
    #[serde(rename = "Action", default)]
    action: Option<String>,
    /// The version of that interface; any.
    #[serde(rename = "Version", default)]
    #[expect(dead_code, reason = "clients send it, and it makes no difference")]
    version: Option<String>,
}

/// Begins or shows a video in Jimeng's form.
pub(crate) async fn jimeng(
    app: Arc<App>,
    received: IncomingRequest,
    BodyAndQuery(RawBody(fields, _), query): BodyAndQuery<
        RawBody<VideoCall, IMAGE_BODY>,
        JimengQuery,
    >,
) -> Result<Json<JimengAnswer>, Denial> {
    match query.action.as_deref() {
        Some(JIMENG_SUBMIT) => {
            let order = ordered(&app, received.caller()?, &VideoWish::read(fields)?)?;
            let job = accepted(&app, &received, order).await?;
            Ok(Json(JimengAnswer::submitted(&job)))
        }
        Some(JIMENG_FETCH) => {
            let id = fields.get("task_id").and_then(Value::as_str);
            let id = id.ok_or_else(|| Refusal::missing("task_id"))?;
            Ok(Json(JimengAnswer::of(&task(&app, &received, id).await?)))
        }
        _ => {
            let message = format!("must be {JIMENG_SUBMIT} or {JIMENG_FETCH}");
            Err(Refusal::invalid("Action", message).into())
        }
    }
}

/// A job of the caller's, if it is a video.
async fn task(app: &App, received: &IncomingRequest, id: &str) -> Result<Job, Refusal> {
    let jobs = app.engine.jobs();
    let job = jobs.job(received.account()?, &JobId::new(id)).await?;
    if VIDEO_OPERATIONS.contains(&job.operation.as_str()) {
        Ok(job)
    } else {
        Err(Refusal::job_not_found())
    }
}

/// A video to be submitted, and how its fields were called.
struct VideoOrder {
    order: DoorOrder,
    task: VideoTask,
}

async fn accepted(
    app: &Arc<App>,
    received: &IncomingRequest,
    VideoOrder { order, task }: VideoOrder,
) -> Result<Job, Denial> {
    let accepted = Box::pin(order.accepted(app, received)).await;
    accepted.map_err(|denial| Denial {
        refusal: task.reworded(denial.refusal),
        ..denial
    })
}

/// What a wish comes to by the model that it names.
fn ordered(app: &App, caller: &Caller, wish: &VideoWish) -> Result<VideoOrder, Refusal> {
    let models = app.models();
    let listed = visible(app, caller, &models);
    let meant = match wish.model() {
        Some(name) => {
            let row = models.find(name);
            let is_meant = |model: &&ListedModel<'_>| match row {
                // By its name in any case, or by an alias.
                Some(row) => model.name.eq_ignore_ascii_case(&row.definition.name),
                None => model.name == name,
            };
            listed.iter().find(is_meant)
        }
        None => None,
    };
    let named = meant.is_some();
    let usual = || listed.iter().find(|model| model.name == USUAL_MODEL);
    let operation = match meant {
        Some(model) => match video_operation(model) {
            Some(operation) => operation,
            None => return Err(no_video(wish, &listed)),
        },
        None => VIDEO_OPERATIONS[0],
    };
    let fields = meant.or_else(usual);
    let fields = fields.map(|model| fields_of(model, operation));
    let mut task = VideoTask::of(wish, operation, &fields.unwrap_or_default(), named)?;
    let mut order = DoorOrder::new(operation, std::mem::take(&mut task.fields));
    order.addresses = task.addresses;
    order.notes = std::mem::take(&mut task.notes);
    if !task.ignored.is_empty() {
        order.notes.insert(IGNORED.to_owned(), task.ignored_names());
    }
    Ok(VideoOrder { order, task })
}

/// The first of the operations for videos that a model has.
fn video_operation(model: &ListedModel<'_>) -> Option<&'static str> {
    let has = |operation: &&str| model.submits.iter().any(|submit| submit.name == *operation);
    VIDEO_OPERATIONS.into_iter().find(|one| has(one))
}

/// What requests of a model may say in an operation.
fn fields_of(model: &ListedModel<'_>, operation: &str) -> BTreeMap<String, AccountField> {
    let view = model.view();
    let mut operations = view.operations.into_iter();
    let found = operations.find(|one| one.name == operation);
    found.map(|one| one.fields).unwrap_or_default()
}

/// A model that is known and makes no videos.
fn no_video(wish: &VideoWish, listed: &[ListedModel<'_>]) -> Refusal {
    let videos = listed
        .iter()
        .filter(|model| video_operation(model).is_some());
    let names: Vec<&str> = videos.map(|model| model.name).take(NAMES_MOST).collect();
    let message = format!("must be a model for videos: {}", names.join(", "));
    Refusal::invalid(wish.model_field(), message)
}
