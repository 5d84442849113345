//! motion: videos from words and optional start and end frames, and their extension. Refusals have `data` `{}`.

use crate::body::Fields;
use crate::family::RefusedData;
use crate::job::FileRole;
use crate::prelude::*;

mod extend;
mod generate;
mod options;

pub use extend::MotionExtend;
pub use generate::MotionGenerations;
pub use options::{Duration, ModelName, MotionAspectRatio, MotionResolution, UseMode};
use options::{FAMILY_NAME, LARGE, LONG};

/// Videos from words and frames, and their extensions.
pub const FAMILY: Family = Family {
    name: FAMILY_NAME,
    title: "Motion videos",
    about: "Videos from words and optional start and end frames, in two speeds.",
    prefix: "/motion/",
    queue: "motion",
    refused_data: RefusedData::Empty,
    prompt_fields: &["userPrompt", "user_prompt"],
    accepted_message: "",
    timeout_s: 1800,
    keep: ResultLifetime::ThreeDays,
    submits: &[
        submit_job::<MotionGenerations>(
            "motion.generations",
            "/motion/v1/generations",
            example!("motion.generations"),
        )
        .priced(&[
            "motion.generations.relax",
            "motion.generations.fast",
            LARGE,
            LONG,
        ])
        .making(&[Task::Animate])
        .usually(by_mode),
        submit_job::<MotionExtend>(
            "motion.extend",
            "/motion/v1/extend",
            example!("motion.extend"),
        )
        .priced(&["motion.extend", LARGE])
        .making(&[Task::Extend(0)])
        .usually(by_mode),
    ],
    fetches: &[FetchEndpoint {
        path: "/motion/v1/fetch",
        param: "jobId",
    }],
    render: |family, job| family.framed_result(job, MotionResult::of(job)),
    shape: envelope_schema::<MotionResult>,
    ..Family::USUAL
};

/// How long a video takes in each speed mode.
fn by_mode(fields: &Fields) -> u32 {
    match fields.get("useMode").and_then(Value::as_str) {
        Some("fast") => 150,
        _ => 300,
    }
}

/// The `data` of a finished video.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MotionResult")]
struct MotionResult {
    /// Identifier of the job, as its submit returned it.
    job_id: String,
    /// The prompt as it was submitted.
    user_prompt: String,
    /// Width in pixels, as text.
    width: String,
    /// Height in pixels, as text.
    height: String,
    /// Start frame as submitted.
    image_url: Option<String>,
    /// End frame as submitted.
    image_end_url: Option<String>,
    /// Cover image of the video's start, empty when there is none.
    video_first_frame: String,
    /// Cover image of the video's end, empty when there is none.
    video_last_frame: String,
    /// URL that receives the callback, if one was given.
    hook_url: Option<String>,
    /// URL of the video; it works for 72 hours.
    video_url: String,
    /// Quota that the job consumed.
    quota: Quota,
}

impl MotionResult {
    fn of(job: &Job) -> Option<Self> {
        let file = job.file(0)?;
        let text = |field: &str| job.text(field).map(str::to_owned);
        let frame = |role: FileRole| {
            job.files(role)
                .next()
                .map(|file| file.cdn_url.clone())
                .unwrap_or_default()
        };
        Some(Self {
            job_id: job.id.to_string(),
            user_prompt: text("userPrompt")?,
            width: file.width.to_string(),
            height: file.height.to_string(),
            image_url: text("imageUrl"),
            image_end_url: text("imageEndUrl"),
            video_first_frame: frame(FileRole::FirstFrame),
            video_last_frame: frame(FileRole::LastFrame),
            hook_url: job.hook_url.clone(),
            video_url: file.cdn_url.clone(),
            quota: job.quota,
        })
    }
}
