//! What happened to a job: the attempts at it.

use atelier_contract::{AccountId, Code, JobId, Refusal};
use atelier_store::{AttemptRow, JobRow};

use crate::context::{Context, unavailable};

/// History of a job.
pub struct Trail {
    /// The account that the job belongs to.
    pub account_id: AccountId,
    /// The attempts at it, oldest first.
    pub attempts: Vec<AttemptRow>,
}

/// What happened to a job, of one account or of any.
pub(super) async fn of(
    context: &Context,
    account_id: Option<&AccountId>,
    id: &JobId,
) -> Result<Trail, Refusal> {
    let row = row(context, account_id, id).await?;
    let reads = account_id.map(AccountId::as_str);
    let attempts = context.store().attempts().list(reads, &row.id).await;
    let mut attempts = attempts.map_err(unavailable)?;
    for attempt in &mut attempts {
        attempt.began_ms += context.clock().ahead_ms();
    }
    Ok(Trail {
        account_id: row.account_id.into(),
        attempts,
    })
}

/// Whose a job is.
pub(super) async fn owner(context: &Context, id: &JobId) -> Result<AccountId, Refusal> {
    Ok(row(context, None, id).await?.account_id.into())
}

async fn row(
    context: &Context,
    account_id: Option<&AccountId>,
    id: &JobId,
) -> Result<JobRow, Refusal> {
    let row = match account_id {
        Some(account_id) => context.store().jobs().find(account_id, id.as_str()).await,
        None => {
            context
                .store()
                .jobs()
                .find_of_any_account(id.as_str())
                .await
        }
    };
    let absent = || match account_id {
        Some(_) => Refusal::job_not_found(),
        None => Refusal::new(Code::NotFound, "no such job"),
    };
    row.map_err(unavailable)?.ok_or_else(absent)
}
