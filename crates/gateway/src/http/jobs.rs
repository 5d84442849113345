//! The uniform view of the caller's jobs: list, one, cancel.

use std::sync::Arc;

use atelier_contract::body::Fields;
use atelier_contract::{FAMILIES, JobId, JobState, Refusal};
use atelier_engine::JobsFilter;
use serde_json::Value;

use super::{Answer, Received, body, caller, job_view, paging, reply};
use crate::app::App;

/// Lists the caller's jobs, newest first.
pub(super) async fn list(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    page_of(
        &app,
        Some(&caller.account_id),
        &body::query(&received.head)?,
    )
    .await
}

/// A page of jobs, of one account or of all.
pub(super) async fn page_of(app: &App, account_id: Option<&str>, fields: &Fields) -> Answer {
    let paging = paging::of(fields)?;
    let filter = JobsFilter {
        operations: operations(fields)?,
        state: state(fields)?,
        ascending: false,
        page: paging.page,
        limit: paging.limit,
    };
    let (jobs, total) = app.engine.jobs(account_id, filter).await?;
    Ok(reply::page(
        jobs.iter().map(job_view::of).collect(),
        total,
        paging,
    ))
}

/// Shows one job.
pub(super) async fn show(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    let job = app
        .engine
        .job(&caller.account_id, &id_of(&received))
        .await?;
    Ok(reply::success(job_view::of(&job)))
}

/// Cancels one job.
pub(super) async fn cancel(app: Arc<App>, received: Received) -> Answer {
    let caller = caller::known(&app, &received).await?;
    let job = app
        .engine
        .cancel(&caller.account_id, &id_of(&received))
        .await?;
    Ok(reply::success(job_view::of(&job)))
}

/// The job that the path names.
pub(super) fn id_of(received: &Received) -> JobId {
    JobId::new(
        received
            .params
            .first()
            .map(String::as_str)
            .unwrap_or_default(),
    )
}

/// A text parameter; empty means absent.
fn text<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    fields
        .get(name)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
}

/// The operations of the family asked for; none at all means every operation.
fn operations(fields: &Fields) -> Result<Vec<String>, Refusal> {
    let Some(name) = text(fields, "family") else {
        return Ok(Vec::new());
    };
    let family = FAMILIES
        .iter()
        .find(|family| family.name == name)
        .ok_or_else(|| {
            let names: Vec<_> = FAMILIES.iter().map(|family| family.name).collect();
            Refusal::invalid("family", format!("must be one of {}", names.join(", ")))
        })?;
    Ok(family
        .submits
        .iter()
        .map(|entry| entry.name.to_owned())
        .collect())
}

fn state(fields: &Fields) -> Result<Option<JobState>, Refusal> {
    let Some(word) = text(fields, "status") else {
        return Ok(None);
    };
    let state = JobState::ALL
        .into_iter()
        .find(|state| state.word().eq_ignore_ascii_case(word));
    let words = JobState::ALL.map(JobState::word).join(", ");
    state
        .map(Some)
        .ok_or_else(|| Refusal::invalid("status", format!("must be one of {words}")))
}
