//! Jobs as midjourney-proxy's tasks: one, several, the latest, and their pictures.

use std::borrow::Cow;
use std::sync::Arc;

use atelier_contract::midjourney::{
    TaskView, is_task, modal_task, region_modal_id, task_operations,
};
use atelier_contract::pages::list::ListQuery;
use atelier_contract::{Code, Job, JobId, Refusal};
use atelier_engine::records::JobFilter;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};

use super::midjourney::{SubmitAnswer, speed_of, task_of};
use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, File, Json, Query};
use crate::http::request::IncomingRequest;
use crate::pages::service::assets;

/// The most tasks of a list.
const LISTED: i64 = 100;

/// Shows a task; nothing when there is none.
pub(crate) async fn fetch(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Json<Option<TaskView>>, Denial> {
    let (account, id) = (received.account()?, task_of(&received)?);
    let id = id.as_str();
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

/// Ends a task that has not finished.
pub(crate) async fn cancel(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Json<SubmitAnswer>, Denial> {
    let id = task_of(&received)?;
    app.engine.jobs().cancel(received.account()?, &id).await?;
    let done = SubmitAnswer::new(1, "Cancelled", Some(id.to_string()));
    Ok(Json(done))
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
    if let [speed] = &*received.params {
        speed_of(speed)?;
    }
    let account = Some(received.account()?);
    let mut jobs = app.engine.jobs().list(account, filter).await?.rows;
    jobs.retain(is_task);
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
    if let [speed] = &*received.params {
        speed_of(speed)?;
    }
    wanted.ids.truncate(LISTED as usize);
    let mut jobs = app
        .engine
        .jobs()
        .jobs_of(received.account()?, &wanted.ids)
        .await?;
    jobs.retain(is_task);
    Ok(Json(TaskList(jobs)))
}

/// Hands out the picture of a task, or its first video.
pub(crate) async fn image(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<File, Denial> {
    let id = task_of(&received)?;
    let job = app.engine.jobs().job(received.account()?, &id).await?;
    let file = job.file(0).filter(|_| is_task(&job));
    let Some(file) = file else {
        let message = "the task has no picture";
        return Err(Refusal::new(Code::ParentNotFinished, message).into());
    };
    assets::hand_out_of(&app, &received, &job, file).await
}
