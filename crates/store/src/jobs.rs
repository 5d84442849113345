//! Jobs as they are stored and read.

pub mod accept;
pub mod attempt;
pub mod lease;
pub mod settle;
pub mod statistics;

use atelier_contract::{JobState, Quota, Speed};

use crate::{Result, Store};

/// A stored job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRow {
    /// Identifier.
    pub id: String,
    /// Whose it is.
    pub account_id: String,
    /// `family.operation`.
    pub operation: String,
    /// The queue whose limit it counts against.
    pub queue: String,
    /// Where it is.
    pub state: JobState,
    /// How fast it was asked for.
    pub speed: Speed,
    /// 0 to 100.
    pub progress: i64,
    /// Why it failed.
    pub message: Option<String>,
    /// The request as JSON.
    pub request: String,
    /// The output as JSON.
    pub output: Option<String>,
    /// What was held.
    pub price: Quota,
    /// What was charged; zero until it succeeded.
    pub quota: Quota,
    /// The job it follows.
    pub parent_id: Option<String>,
    /// A name by which the account may cite it.
    pub alias: Option<String>,
    /// Where the result is posted to.
    pub hook_url: Option<String>,
    /// How often posting was tried.
    pub hook_times: i64,
    /// When it was accepted.
    pub created_ms: i64,
    /// When it first started.
    pub started_ms: Option<i64>,
    /// When it became final.
    pub finished_ms: Option<i64>,
    /// When it is failed if it has not finished.
    pub deadline_ms: i64,
    /// When anything a caller sees of it last changed.
    pub updated_ms: i64,
    /// Counts changes a caller sees.
    pub revision: i64,
    /// Counts leases; a write with an older number is refused.
    pub fence: i64,
    /// Who runs it.
    pub lease_owner: Option<String>,
    /// Until when.
    pub lease_until_ms: Option<i64>,
    /// Attempts begun.
    pub tries: i64,
    /// The current attempt.
    pub attempt_id: Option<String>,
    /// The back end's ticket of the current attempt, as JSON.
    pub ticket: Option<String>,
    /// The back end or worker account of the current attempt.
    pub worker: Option<String>,
}

/// Which jobs to list.
#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    /// Of one account, or of all.
    pub account_id: Option<String>,
    /// Of these operations; empty means all.
    pub operations: Vec<String>,
    /// In one state.
    pub state: Option<JobState>,
    /// Oldest first.
    pub ascending: bool,
    /// Rows to skip.
    pub offset: i64,
    /// Rows to return at most.
    pub limit: i64,
    /// Created at or after.
    pub created_from_ms: Option<i64>,
}

impl Store {
    /// A job of an account.
    pub async fn job(&self, _account_id: &str, _id: &str) -> Result<Option<JobRow>> {
        Err(crate::Error::NotFound)
    }
    /// A job, whoever owns it: for the engine and the operator only.
    pub async fn job_of_anyone(&self, _id: &str) -> Result<Option<JobRow>> {
        Err(crate::Error::NotFound)
    }
    /// The succeeded jobs of an account that bear one of these names.
    pub async fn jobs_by_alias(
        &self,
        _account_id: &str,
        _aliases: &[String],
    ) -> Result<Vec<JobRow>> {
        Err(crate::Error::NotFound)
    }
    /// A page of jobs by creation time, and how many match.
    pub async fn jobs(&self, _filter: JobFilter) -> Result<(Vec<JobRow>, i64)> {
        Err(crate::Error::NotFound)
    }
}
