//! A job in the form of Jimeng's own interface, which has one path and says what is wanted in the query.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::fault::FaultKind;
use crate::job::{Job, JobState};
use crate::refusal::{Code, Refusal};

/// The `Action` that begins a task.
pub const JIMENG_SUBMIT: &str = "CVSync2AsyncSubmitTask";
/// The `Action` that reads one.
pub const JIMENG_FETCH: &str = "CVSync2AsyncGetResult";

const SUCCESS: u16 = 10_000;

/// Jimeng's answer.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "JimengAnswer")]
pub struct JimengAnswer {
    /// 10000, or why the task failed.
    code: u16,
    /// `Success`, or why the task failed.
    message: String,
    /// Names the request.
    request_id: String,
    /// The same as `code`.
    status: u16,
    /// What was asked for.
    data: JimengTask,
}

/// A task.
#[derive(Serialize, JsonSchema)]
struct JimengTask {
    /// Identifier of the task.
    task_id: String,
    /// `in_queue`, `generating` or `done`; not there when it was only submitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    /// URL of the video.
    #[serde(skip_serializing_if = "Option::is_none")]
    video_url: Option<String>,
}

impl JimengAnswer {
    /// A task that was accepted.
    pub fn submitted(job: &Job) -> Self {
        Self::with(
            job,
            JimengTask {
                task_id: job.id.to_string(),
                status: None,
                video_url: None,
            },
        )
    }

    /// A task as it is.
    pub fn of(job: &Job) -> Self {
        let status = match job.state {
            JobState::Waiting => "in_queue",
            JobState::Running => "generating",
            JobState::Succeeded | JobState::Failed => "done",
        };
        Self::with(
            job,
            JimengTask {
                task_id: job.id.to_string(),
                status: Some(status),
                video_url: job.file(0).map(|file| file.cdn_url.clone()),
            },
        )
    }

    fn with(job: &Job, data: JimengTask) -> Self {
        let failed = job.state == JobState::Failed;
        let code = match job.fault.map(FaultKind::code) {
            Some(code) if failed => number(code),
            _ => SUCCESS,
        };
        Self {
            code,
            message: match &job.message {
                Some(message) if failed => message.clone(),
                _ => "Success".to_owned(),
            },
            request_id: job.id.to_string(),
            status: code,
            data,
        }
    }
}

fn number(code: Code) -> u16 {
    match code {
        Code::BannedPrompt => 50_412,
        Code::ContentRejected => 50_511,
        Code::RateLimited => 50_429,
        Code::QueueFull => 50_430,
        code if code.status() >= 500 => 50_500,
        // As the HTTP status, in the range that it keeps for callers' mistakes.
        code => 50_000 + code.status(),
    }
}

/// What Jimeng's clients read of a refusal, beside the service's own words.
pub fn jimeng_error(refusal: &Refusal) -> Map<String, Value> {
    let number = number(refusal.code);
    let mut fields = Map::new();
    fields.insert("code".into(), number.into());
    fields
}
