//! A job as the gateways that pass video tasks on show it: in the form of their documents, and beside it under `data` in the one
//! that they really send.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::openai::OpenAiVideo;
use crate::job::{FileRole, Job, JobState};

/// A video task that was accepted.
#[derive(Serialize, JsonSchema)]
pub struct GatewayVideo {
    /// Identifier of the task.
    task_id: String,
    /// The same as OpenAI's client libraries read it.
    #[serde(flatten)]
    video: OpenAiVideo,
}

impl GatewayVideo {
    /// A job as it was accepted.
    pub fn of(job: &Job) -> Self {
        Self {
            task_id: job.id.to_string(),
            video: OpenAiVideo::of(job),
        }
    }
}

/// A video task as it is.
#[derive(Serialize, JsonSchema)]
pub struct GatewayTask {
    /// `success`.
    code: &'static str,
    /// Empty.
    message: &'static str,
    /// The task as those programs keep it.
    data: TaskRecord,
    /// Identifier of the task.
    task_id: String,
    /// `queued`, `in_progress`, `completed` or `failed`.
    status: &'static str,
    /// URL of the video.
    url: Option<String>,
    /// `mp4` or `webm`.
    format: Option<&'static str>,
    /// What came out.
    metadata: Option<VideoFacts>,
    /// Why it failed.
    error: Option<TaskFailure>,
}

/// What came out.
#[derive(Serialize, JsonSchema)]
struct VideoFacts {
    /// Length in seconds.
    duration: f64,
    /// Width in pixels.
    width: u32,
    /// Height in pixels.
    height: u32,
}

/// Why a task failed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "VideoTaskFailure")]
struct TaskFailure {
    /// The HTTP status that a synchronous call would have had.
    code: u16,
    /// A sentence.
    message: String,
}

/// A task as those programs keep it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "VideoTaskRecord")]
struct TaskRecord {
    /// Identifier of the task.
    task_id: String,
    /// `textGenerate` or `generate`.
    action: &'static str,
    /// `NOT_START`, `QUEUED`, `IN_PROGRESS`, `SUCCESS` or `FAILURE`.
    status: &'static str,
    /// Why it failed.
    fail_reason: String,
    /// URL of the video.
    result_url: Option<String>,
    /// The same.
    url: Option<String>,
    /// When it was accepted, in seconds since 1970.
    submit_time: i64,
    /// When it started.
    start_time: i64,
    /// When it finished.
    finish_time: i64,
    /// When it was accepted.
    created_at: i64,
    /// When anything of it last changed.
    updated_at: i64,
    /// From `0%` to `100%`.
    progress: String,
    /// The model that was asked for.
    properties: TaskProperties,
    /// The same as OpenAI's client libraries read it.
    data: OpenAiVideo,
}

/// What was asked for.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "VideoTaskProperties")]
struct TaskProperties {
    /// What happens in the video.
    input: String,
    /// The model.
    origin_model_name: String,
    /// The same.
    upstream_model_name: String,
}

impl GatewayTask {
    /// A job as it is.
    pub fn of(job: &Job) -> Self {
        let video = OpenAiVideo::of(job);
        let file = job.file(0);
        let url = file.map(|file| file.cdn_url.clone());
        let failed = job.state == JobState::Failed;
        let reason = || job.message.clone().unwrap_or_default();
        let seconds = |ms: Option<i64>| ms.map_or(0, |ms| ms / 1000);
        let status = video.status;
        let model = video.model.clone();
        Self {
            code: "success",
            message: "",
            task_id: job.id.to_string(),
            status,
            url: url.clone(),
            format: file.map(|file| format_of(&file.media_type)),
            metadata: file.map(|file| VideoFacts {
                duration: file.seconds.unwrap_or_default(),
                width: file.width,
                height: file.height,
            }),
            error: failed.then(|| TaskFailure {
                code: job.fault.map_or(502, |fault| fault.code().status()),
                message: reason(),
            }),
            data: TaskRecord {
                task_id: job.id.to_string(),
                action: if has_image(job) {
                    "generate"
                } else {
                    "textGenerate"
                },
                status: match job.state {
                    JobState::Waiting => "QUEUED",
                    JobState::Running => "IN_PROGRESS",
                    JobState::Succeeded => "SUCCESS",
                    JobState::Failed => "FAILURE",
                },
                fail_reason: if failed { reason() } else { String::new() },
                result_url: url.clone(),
                url,
                submit_time: job.created_ms / 1000,
                start_time: seconds(job.started_ms),
                finish_time: seconds(job.finished_ms),
                created_at: job.created_ms / 1000,
                updated_at: job.updated_ms / 1000,
                progress: format!("{}%", progress(job)),
                properties: TaskProperties {
                    input: video.prompt.clone(),
                    origin_model_name: model.clone(),
                    upstream_model_name: model,
                },
                data: video,
            },
        }
    }
}

/// Progress in percent; 100 when nothing more will happen.
fn progress(job: &Job) -> u8 {
    if job.state.is_final() {
        100
    } else {
        job.progress.min(99)
    }
}

fn format_of(media_type: &str) -> &'static str {
    match media_type {
        "video/webm" => "webm",
        _ => "mp4",
    }
}

/// Whether the work began from an image.
pub(super) fn has_image(job: &Job) -> bool {
    let fields = ["input_reference", "referImages", "refer_images", "imageUrl"];
    let is_given = |value: &Value| match value {
        Value::Array(items) => !items.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => false,
    };
    fields
        .iter()
        .any(|field| job.request.get(*field).is_some_and(is_given))
}

/// Length of the video in seconds, as its file says, or as it was asked for.
pub(super) fn seconds_made(job: &Job) -> Option<f64> {
    job.files(FileRole::Main).next()?.seconds
}
