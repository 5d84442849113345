//! One view of any job, whatever its family, and the list of them.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::list::{PageNumber, PageSize};
use crate::body::Fields;
use crate::families::artgen::history::ListedState;
use crate::families::{FAMILIES, operation};
use crate::family::Family;
use crate::fields::{as_text, not_a_word};
use crate::ids::JobId;
use crate::job::{File, Job, JobState};
use crate::quota::Quota;
use crate::time::timestamp;

/// Which jobs to list.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub struct JobsQuery {
    /// Page number.
    #[serde(default)]
    pub page: PageNumber,
    /// Page size.
    #[serde(default)]
    pub limit: PageSize,
    /// Only jobs of this family.
    #[serde(default)]
    pub family: Option<FamilyName>,
    /// Only jobs in this state, in any case.
    #[serde(default)]
    pub status: Option<ListedState>,
}

impl JobsQuery {
    /// The operations of the family asked for; none at all means every operation.
    pub fn operations(&self) -> Vec<String> {
        let submits = self.family.iter().flat_map(|family| family.0.submits);
        submits.map(|submit| submit.name.to_owned()).collect()
    }
}

/// A family by its name.
#[derive(Clone, Copy)]
pub struct FamilyName(pub &'static Family);

impl std::fmt::Debug for FamilyName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name)
    }
}

fn family_names() -> Vec<&'static str> {
    FAMILIES.iter().map(|family| family.name).collect()
}

impl<'de> Deserialize<'de> for FamilyName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = as_text(deserializer)?;
        let family = FAMILIES.iter().find(|family| family.name == text);
        family
            .map(FamilyName)
            .ok_or_else(|| not_a_word(&text, &family_names()))
    }
}

impl JsonSchema for FamilyName {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FamilyName".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": family_names() })
    }
}

/// A job with what was asked.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Job")]
pub struct JobView {
    /// The job.
    #[serde(flatten)]
    pub job: JobProgress,
    /// What was asked, with every default resolved.
    pub request: Fields,
}

/// A job as the operator sees it: also whose it is, and who served it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServedJob {
    /// The job.
    #[serde(flatten)]
    pub job: JobView,
    /// The account it belongs to.
    pub account_id: String,
    /// The back end that was asked last, or `embedded`; null when nobody was asked.
    pub backend: Option<String>,
    /// The worker account there.
    pub worker: Option<String>,
}

/// A job as its events show it: without what was asked, which does not change.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobProgress {
    /// Identifier.
    pub job_id: JobId,
    /// The family it belongs to.
    pub family: Option<&'static str>,
    /// The operation that made it, `family.operation`.
    pub operation: String,
    /// `PENDING_QUEUE`, `ON_QUEUE`, `SUCCESS` or `FAILED`.
    pub status: &'static str,
    /// 0 to 100.
    pub progress: u8,
    /// Why it failed.
    pub message: Option<String>,
    /// Quota consumed.
    pub quota: Quota,
    /// Quota held until it has finished.
    pub held: Quota,
    /// When it was accepted, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub created_at: String,
    /// When it first started.
    pub started_at: Option<String>,
    /// When it finished or failed.
    pub finished_at: Option<String>,
    /// When it fails if it has not finished.
    pub deadline: String,
    /// The job it follows.
    pub parent_job_id: Option<JobId>,
    /// Callback address.
    pub hook_url: Option<String>,
    /// How often the callback was tried.
    pub hook_times: u32,
    /// What it made.
    pub files: Vec<JobFile>,
    /// The body of its family's fetch, once it has finished or failed.
    pub result: Option<Value>,
}

/// A file that a job made.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobFile {
    /// Signed address.
    pub url: String,
    /// Media type.
    #[serde(rename = "type")]
    pub media_type: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Size in bytes.
    pub bytes: u64,
    /// When the address stops working.
    pub expires_at: String,
}

impl JobView {
    /// The whole view.
    pub fn of(job: &Job) -> Self {
        Self {
            job: JobProgress::of(job),
            request: job.request.clone(),
        }
    }
}

impl JobProgress {
    /// The view without what was asked.
    pub fn of(job: &Job) -> Self {
        let family = operation(&job.operation).map(|(family, _)| family);
        let over = job.state.is_final();
        let output = job.output().into_iter();
        Self {
            job_id: job.id.clone(),
            family: family.map(|family| family.name),
            operation: job.operation.clone(),
            status: job.state.word(),
            progress: if job.state == JobState::Succeeded {
                100
            } else {
                job.progress
            },
            message: job.message.clone(),
            quota: job.quota,
            held: if over { Quota::ZERO } else { job.price },
            created_at: timestamp(job.created_ms),
            started_at: job.started_ms.map(timestamp),
            finished_at: job.finished_ms.map(timestamp),
            deadline: timestamp(job.deadline_ms),
            parent_job_id: job.parent.clone(),
            hook_url: job.hook_url.clone(),
            hook_times: job.hook_times,
            files: output
                .flat_map(|output| &output.files)
                .map(JobFile::of)
                .collect(),
            result: family
                .filter(|_| over)
                .map(|family| (family.render)(family, job)),
        }
    }
}

impl JobFile {
    fn of(file: &File) -> Self {
        Self {
            url: file.origin_url.clone(),
            media_type: file.media_type.clone(),
            width: file.width,
            height: file.height,
            bytes: file.bytes,
            expires_at: timestamp(file.expires_ms),
        }
    }
}
