//! The artgen image result: the documented fields at top level and, with the rest, in `data`; one builder for both.

use super::actions::{action_of, components};
use crate::job::FileRole;
use crate::prelude::*;

/// The `data` of an artgen image job; result fields are null until it succeeded.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(
    clippy::option_option,
    reason = "a field that is absent, null or a list has three cases"
)]
#[schemars(rename = "ArtgenResult")]
pub(super) struct ArtgenResult {
    /// Operation that created the job.
    action: String,
    /// Identifier of the job, as its submit returned it.
    job_id: String,
    /// Progress in percent, 0 to 100, as text.
    progress: String,
    /// Prompt text; of a describe job the four prompts, one a line.
    prompt: Option<String>,
    /// The four prompts of a describe job, null until it succeeded; other jobs do not have this field.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompts: Option<Option<Vec<String>>>,
    /// Quota that the job consumed.
    quota: Quota,
    /// Result on the origin host; it works for 24 hours.
    origin_image: Option<String>,
    /// Result on the proxy host; it works for 24 hours.
    cdn_image: Option<String>,
    /// Width of the result in pixels.
    width: Option<u32>,
    /// Height of the result in pixels.
    height: Option<u32>,
    /// URL that receives the callback, if one was given.
    hook_url: Option<String>,
    /// Follow-up actions this job offers.
    components: Option<Vec<&'static str>>,
    /// Seed of the image, as text.
    seed: Option<String>,
    /// URLs of the four small images, if requested; they work for 31 days.
    images: Option<Vec<String>>,
}

/// The word for what created a job: its action, or its operation.
pub(super) fn action_word(job: &Job) -> &str {
    match action_of(job) {
        Some(action) => action.word(),
        None => job
            .operation
            .rsplit('.')
            .next()
            .unwrap_or(job.operation.as_str()),
    }
}

/// Progress as text: 100 only when it succeeded.
pub(super) fn progress(job: &Job) -> String {
    match job.state {
        JobState::Succeeded => "100".into(),
        _ => job.progress.min(99).to_string(),
    }
}

/// The prompt: what describe found, or what was asked for.
pub(super) fn prompt(job: &Job) -> Option<String> {
    if job.operation == "artgen.describe" {
        return job.output().map(|output| output.prompts.join("\n"));
    }
    job.text("prompt").map(str::to_owned)
}

/// The seed: what a seed job found, or what the prompt fixed.
pub(super) fn seed(job: &Job) -> Option<String> {
    if job.operation == "artgen.seed" {
        return job.output().and_then(|output| output.seed.clone());
    }
    job.text("seed").map(str::to_owned)
}

/// The addresses of the small images; `None` while there is no result.
pub(super) fn small_images(job: &Job) -> Option<Vec<String>> {
    job.output()?;
    Some(
        job.files(FileRole::Small)
            .map(|file| file.cdn_url.clone())
            .collect(),
    )
}

impl ArtgenResult {
    fn of(job: &Job) -> Self {
        let file = job.file(0);
        let prompts = job.output().map(|output| output.prompts.clone());
        let offered = |_| components(job).iter().map(|action| action.word()).collect();
        Self {
            action: action_word(job).to_owned(),
            job_id: job.id.to_string(),
            progress: progress(job),
            prompt: prompt(job),
            prompts: (job.operation == "artgen.describe").then_some(prompts),
            quota: job.quota,
            origin_image: file.map(|file| file.origin_url.clone()),
            cdn_image: file.map(|file| file.cdn_url.clone()),
            width: file.map(|file| file.width),
            height: file.map(|file| file.height),
            hook_url: job.hook_url.clone(),
            components: job.output().map(offered),
            seed: seed(job),
            images: small_images(job),
        }
    }
}

/// The fields that stand at top level too.
const ON_TOP: [&str; 5] = ["progress", "originImage", "cdnImage", "images", "quota"];

pub(super) fn render(family: &Family, job: &Job) -> Value {
    let data = to_json(&ArtgenResult::of(job));
    let mut body = family.frame(job, data);
    for field in ON_TOP {
        body[field] = body["data"][field].clone();
    }
    body
}

/// The schema of what [`render`] makes.
pub(super) fn shape(generator: &mut SchemaGenerator) -> Schema {
    let data = generator.subschema_for::<ArtgenResult>();
    let address = serde_json::json!({ "type": ["string", "null"], "format": "uri" });
    schemars::json_schema!({
        "type": "object",
        "required": [
            "status", "message", "jobId", "progress", "originImage", "cdnImage", "images", "quota", "data",
        ],
        "properties": {
            "status": { "type": "string", "enum": ["PENDING_QUEUE", "ON_QUEUE", "SUCCESS", "FAILED"] },
            "message": { "type": ["string", "null"] },
            "jobId": { "type": "string" },
            "progress": { "type": "string" },
            "originImage": address.clone(),
            "cdnImage": address,
            "images": { "type": ["array", "null"], "items": { "type": "string", "format": "uri" } },
            "quota": { "type": "number" },
            "data": data,
        },
    })
}
