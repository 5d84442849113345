//! What vendors post about their work: a reason to ask them at once, and nothing else is believed. What those post who say it nowhere
//! else is kept in the asset store until the attempt is asked about, on whichever node.

use atelier_backends::WebhookRequest;
use atelier_contract::{AttemptId, JobId, JobState, Refusal};
use bytes::Bytes;

use crate::context::unavailable;
use crate::runner::runner_core::RunnerCore;

/// Who hears what a vendor posts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookListener {
    /// No worker account at the back end is known here yet.
    Nobody,
    /// Whoever asks the vendor then, and believes nothing else.
    Looker,
    /// Whoever keeps it, because it is said nowhere else.
    Keeper,
}

/// Who hears what is posted under a word; `None` for a word that was not given to this vendor for one of its attempts.
pub(super) fn listener(core: &RunnerCore, backend_id: &str, token: &str) -> Option<HookListener> {
    core.context.keyring().hook_attempt(backend_id, token)?;
    let backends = core.pool.at(backend_id);
    let keeps = backends.iter().any(|backend| backend.keeps_posts());
    Some(match backends.len() {
        0 => HookListener::Nobody,
        _ if keeps => HookListener::Keeper,
        _ => HookListener::Looker,
    })
}

/// The job that is worth a look by what a vendor posted. A vendor that signs what it posts must have signed it for one of its worker
/// accounts here. A refusal is for a post that is to come again.
pub(super) async fn hear(
    core: &RunnerCore,
    backend_id: &str,
    token: &str,
    post: &WebhookRequest,
) -> Result<Option<JobId>, Refusal> {
    let attempt = core.context.keyring().hook_attempt(backend_id, token);
    let named = attempt.and_then(|attempt| Some((attempt.job()?, attempt)));
    let Some((job_id, attempt)) = named else {
        return Ok(None);
    };
    for backend in core.pool.at(backend_id) {
        if !backend.verify_webhook(post).await {
            continue;
        }
        if let Some(key) = backend.kept_post(&attempt, post) {
            keep(core, &job_id, &attempt, key, &post.body).await?;
        }
        return Ok(Some(job_id));
    }
    Ok(None)
}

/// Keeps a post about an attempt that is under way, until the deadline of its job at the longest; of any other attempt nobody
/// needs it. A vendor that hears a refusal posts again.
async fn keep(
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
        tracing::warn!(job = %job_id, why = refusal.message, "a vendor's webhook could not be stored");
    })
}
