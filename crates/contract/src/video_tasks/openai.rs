//! A job in the form of OpenAI's interface for videos.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::body::Fields;
use crate::fault::FaultKind;
use crate::job::{FileRole, Job, JobState};
use crate::models::{as_asked, model_of};

/// A video.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Video")]
pub struct OpenAiVideo {
    /// Identifier; the job's.
    pub id: String,
    /// `video`.
    object: &'static str,
    /// The model.
    pub(super) model: String,
    /// `queued`, `in_progress`, `completed` or `failed`.
    pub(super) status: &'static str,
    /// 0 to 100.
    progress: u8,
    /// When it was accepted, in seconds since 1970.
    created_at: i64,
    /// When it was finished.
    completed_at: Option<i64>,
    /// When its file is deleted.
    expires_at: Option<i64>,
    /// Length in seconds, as text.
    seconds: String,
    /// Width and height.
    size: String,
    /// What happens.
    pub(super) prompt: String,
    /// The video it was made from.
    remixed_from_video_id: Option<String>,
    /// Why it failed.
    error: Option<VideoError>,
}

/// Why a video failed.
#[derive(Serialize, JsonSchema)]
pub struct VideoError {
    /// A machine word.
    code: &'static str,
    /// A sentence.
    message: String,
}

impl OpenAiVideo {
    /// A job for a video, of whichever family.
    pub fn of(job: &Job) -> Self {
        // In the caller's words: a model of the operator's has names and sizes of its own.
        let asked = as_asked(&job.request);
        let failed = job.state == JobState::Failed;
        let file = job.files(FileRole::Main).next();
        let size = file.map(|file| format!("{}x{}", file.width, file.height));
        Self {
            id: job.id.to_string(),
            object: "video",
            model: text(&asked, &["model", "modelName"])
                .or_else(|| model_of(&job.request).map(str::to_owned))
                .unwrap_or_default(),
            status: match job.state {
                JobState::Waiting => "queued",
                JobState::Running => "in_progress",
                JobState::Succeeded => "completed",
                JobState::Failed => "failed",
            },
            progress: match job.state {
                JobState::Succeeded => 100,
                _ => job.progress.min(99),
            },
            created_at: job.created_ms / 1000,
            completed_at: job.finished_ms.map(|ms| ms / 1000).filter(|_| !failed),
            expires_at: file.map(|file| file.expires_ms / 1000),
            seconds: text(&asked, &["seconds", "duration", "video_length"])
                .map(|text| text.trim_end_matches('s').to_owned())
                .unwrap_or_default(),
            size: text(&asked, &["size"])
                .filter(|text| text.contains('x'))
                .or(size)
                .unwrap_or_default(),
            prompt: text(&asked, &["prompt", "userPrompt"]).unwrap_or_default(),
            remixed_from_video_id: job.parent.as_ref().map(ToString::to_string),
            error: failed.then(|| VideoError {
                code: job
                    .fault
                    .map_or(crate::Code::BackendFailed, FaultKind::code)
                    .word(),
                message: job.message.clone().unwrap_or_default(),
            }),
        }
    }
}

/// The first of some fields that says something.
fn text(asked: &Fields, names: &[&str]) -> Option<String> {
    let mut found = names.iter().filter_map(|name| match asked.get(*name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    });
    found.next()
}
