//! What vendors post that say it nowhere else: kept in the asset store until the attempt is asked about, on whichever node.

use atelier_contract::{AttemptId, JobId, JobState, Refusal};
use bytes::Bytes;

use crate::context::unavailable;
use crate::runner::runner_core::RunnerCore;

/// Keeps a post about an attempt that is under way, until the deadline of its job at the longest; of any other attempt nobody
/// needs it. A vendor that hears a refusal posts again.
pub(super) async fn keep(
    core: &RunnerCore,
    job_id: &JobId,
    attempt: &AttemptId,
    key: String,
    body: &Bytes,
) -> Result<(), Refusal> {
    let found = core
        .context
        .store()
        .jobs()
        .find_of_any_account(job_id)
        .await;
    let Some(row) = found.map_err(unavailable)? else {
        return Ok(());
    };
    let is_under_way =
        row.state == JobState::Running && row.attempt_id.as_deref() == Some(attempt.as_str());
    if !is_under_way {
        return Ok(());
    }
    let until_ms = row.deadline_ms + core.context.clock().ahead_ms();
    let kept = core
        .assets
        .keep_post(key, &row.account_id, until_ms, body)
        .await;
    kept.inspect_err(|refusal| {
        tracing::warn!(job = %job_id, why = refusal.message, "a vendor's post was not kept");
    })
}
