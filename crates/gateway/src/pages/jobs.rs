//! The uniform view of the caller's jobs: list, one, cancel.

use std::sync::Arc;

use atelier_contract::JobId;
use atelier_contract::pages::jobs::{JobView, JobsQuery};
use atelier_contract::pages::keys::ResourceId;

use super::job_list::page_of;
use super::rows::trail::Trail;
use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{CursorList, Data, Query};
use crate::http::request::IncomingRequest;

/// Lists the caller's jobs, newest first.
pub(super) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<JobsQuery>,
) -> Result<CursorList<JobView>, Denial> {
    page_of(&app, received.account()?, query).await
}

pub(super) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<JobView>, Denial> {
    let id = JobId::new(received.param(0));
    let job = app.engine.jobs().job(received.account()?, &id).await?;
    Ok(Data(JobView::of(&job)))
}

/// Shows what happened to one job; who was asked is not a caller's business.
pub(super) async fn trail(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<Trail>, Denial> {
    let id = JobId::new(received.param(0));
    let account = received.account()?;
    let reports = app.engine.admin().reports();
    let trail = reports.trail(Some(account), &id).await?;
    let callback = app.engine.callbacks().callback_of(account, &id);
    Ok(Data(Trail::new(trail.attempts, callback.await?, false)))
}

/// Removes the files and words of a finished job.
pub(super) async fn remove(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let id = JobId::new(received.param(0));
    app.engine.jobs().delete(received.account()?, &id).await?;
    Ok(Data(ResourceId { id: id.to_string() }))
}

pub(super) async fn cancel(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<JobView>, Denial> {
    let id = JobId::new(received.param(0));
    let job = app.engine.jobs().cancel(received.account()?, &id).await?;
    Ok(Data(JobView::of(&job)))
}
