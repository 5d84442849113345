//! Answers a synchronous call: waits for its job and renders the result. The job does not care whether anybody waits.

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::family::{FinishedJob, SubmitEndpoint};
use atelier_contract::{AccountId, JobState};
use atelier_engine::{Submission, refusal_of};
use serde_json::Value;

use super::reply;
use super::request::HandlerResult;
use crate::app::App;

/// A job that is out of time is failed within this many seconds; then there is an answer.
const SLACK_S: u64 = 10;

/// What is waited for and how it is shown.
pub(super) struct SyncWait {
    pub(super) entry: &'static SubmitEndpoint,
    pub(super) render: fn(&FinishedJob<'_>) -> Value,
    pub(super) patience_s: u32,
}

/// Waits for a job and answers with its result.
pub(super) async fn wait_for_result(
    app: &Arc<App>,
    account_id: &AccountId,
    submitted: &Submission,
    wait: &SyncWait,
) -> HandlerResult {
    let patience = Duration::from_secs(u64::from(wait.patience_s) + SLACK_S);
    let (jobs, id) = (app.engine.jobs(), &submitted.job_id);
    let job = match &submitted.changes {
        Some(changes) => {
            jobs.finished_since(account_id, id, changes, patience)
                .await?
        }
        None => jobs.finished(account_id, id, patience).await?,
    };
    if job.state != JobState::Succeeded {
        return Err(refusal_of(&job).into());
    }
    let base64 = if (wait.entry.wants_bytes)(&job) {
        app.engine.assets().base64_files(&job).await?
    } else {
        Vec::new()
    };
    Ok(reply::json_of(&(wait.render)(&FinishedJob {
        job: &job,
        base64: &base64,
    })))
}
