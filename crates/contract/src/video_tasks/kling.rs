//! A job in the form of Kling's own interface.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::answers::seconds_made;
use crate::family::to_json;
use crate::job::{Job, JobState};
use crate::kept::EXTERNAL_ID;
use crate::refusal::{Code, Refusal};

/// Kling's answer to everything that it did.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "KlingAnswer")]
pub struct KlingAnswer<T> {
    /// 0.
    code: u16,
    /// `SUCCEED`.
    message: &'static str,
    /// Names the request.
    request_id: String,
    /// What was asked for.
    data: T,
}

/// A task as Kling shows it.
#[derive(Serialize, JsonSchema)]
pub struct KlingTask {
    /// Identifier of the task.
    task_id: String,
    /// `submitted`, `processing`, `succeed` or `failed`.
    task_status: &'static str,
    /// Why it failed.
    task_status_msg: String,
    /// What the caller said of it.
    task_info: KlingTaskInfo,
    /// The video, once it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_result: Option<KlingResult>,
    /// When it was accepted, in milliseconds since 1970.
    created_at: i64,
    /// When anything of it last changed, in milliseconds since 1970.
    updated_at: i64,
}

/// What the caller said of a task.
#[derive(Serialize, JsonSchema)]
struct KlingTaskInfo {
    /// The caller's own name for it.
    external_task_id: String,
}

/// What a task made.
#[derive(Serialize, JsonSchema)]
struct KlingResult {
    /// The one video.
    videos: Vec<KlingVideo>,
}

/// A video.
#[derive(Serialize, JsonSchema)]
struct KlingVideo {
    /// Identifier; the task's.
    id: String,
    /// URL of its file.
    url: String,
    /// Length in seconds, as text.
    duration: String,
}

impl KlingTask {
    fn of(job: &Job) -> Self {
        let video = job.file(0).map(|file| KlingVideo {
            id: job.id.to_string(),
            url: file.cdn_url.clone(),
            duration: seconds_made(job).unwrap_or_default().to_string(),
        });
        Self {
            task_id: job.id.to_string(),
            task_status: match job.state {
                JobState::Waiting => "submitted",
                JobState::Running => "processing",
                JobState::Succeeded => "succeed",
                JobState::Failed => "failed",
            },
            task_status_msg: job.message.clone().unwrap_or_default(),
            task_info: KlingTaskInfo {
                external_task_id: job.text(EXTERNAL_ID).unwrap_or_default().to_owned(),
            },
            task_result: video.map(|video| KlingResult {
                videos: vec![video],
            }),
            created_at: job.created_ms,
            updated_at: job.updated_ms,
        }
    }
}

impl KlingAnswer<KlingTask> {
    /// One task.
    pub fn of(job: &Job) -> Self {
        Self {
            code: 0,
            message: "SUCCEED",
            request_id: job.id.to_string(),
            data: KlingTask::of(job),
        }
    }
}

impl KlingAnswer<Vec<KlingTask>> {
    /// A page of tasks.
    pub fn list(jobs: &[Job]) -> Self {
        let first = jobs.first().map(|job| job.id.to_string());
        Self {
            code: 0,
            message: "SUCCEED",
            request_id: first.unwrap_or_default(),
            data: jobs.iter().map(KlingTask::of).collect(),
        }
    }
}

/// What Kling posts to the callback address of a task: the task itself.
pub fn kling_callback(job: &Job) -> Value {
    to_json(&KlingTask::of(job))
}

/// What Kling's clients read of a refusal, beside the service's own words.
pub fn kling_error(refusal: &Refusal) -> Map<String, Value> {
    let number = match refusal.code {
        Code::Unauthorized => 1002,
        Code::InsufficientQuota | Code::KeyLimit => 1102,
        Code::Forbidden => 1103,
        Code::JobNotFound | Code::NotFound | Code::NoAvailableAccount => 1203,
        Code::MethodNotAllowed => 1202,
        Code::BannedPrompt | Code::ContentRejected => 1301,
        Code::RateLimited => 1302,
        Code::QueueFull => 1303,
        Code::Overloaded => 5001,
        Code::BackendTimeout => 5002,
        code if code.status() >= 500 => 5000,
        _ => 1201,
    };
    let mut fields = Map::new();
    fields.insert("code".into(), number.into());
    fields
}
