//! The vidgen result: the documented fields at top level, and more of them in `data`.

use crate::prelude::*;

/// The `data` of a finished video.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "VidgenResult")]
struct VidgenResult {
    /// Identifier of the job, as its submit returned it.
    job_id: String,
    /// The model; null for a video given by URL.
    model: Option<String>,
    /// Prompt text; null for a video given by URL.
    prompt: Option<String>,
    /// URLs of the reference images; inline ones by their names.
    refer_images: Vec<String>,
    /// URL of the video; it works for 72 hours.
    video_url: String,
    /// Quota that the job consumed.
    quota: Quota,
    /// When it finished, `YYYY-MM-DD HH:MM:SS` in UTC.
    finish_time: String,
    /// URL that receives the callback, if one was given.
    hook_url: Option<String>,
}

/// The `data` of a finished character.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "VidgenCharacter")]
struct VidgenCharacter {
    /// Identifier of the character.
    character_id: String,
    /// The name prompts call it by, after an `@`.
    username: String,
    /// What it looks like.
    preview_url: String,
    /// Quota that the job consumed.
    quota: Quota,
    /// When it finished, `YYYY-MM-DD HH:MM:SS` in UTC.
    finish_time: String,
    /// URL that receives the callback, if one was given.
    hook_url: Option<String>,
}

impl VidgenResult {
    fn of(job: &Job) -> Option<Self> {
        let file = job.file(0)?;
        let images = job.request.get("referImages").and_then(Value::as_array);
        let images = images.into_iter().flatten();
        Some(Self {
            job_id: job.id.to_string(),
            model: job.text("model").map(str::to_owned),
            prompt: job.text("prompt").map(str::to_owned),
            refer_images: images
                .filter_map(|image| image.as_str().map(str::to_owned))
                .collect(),
            video_url: file.cdn_url.clone(),
            quota: job.quota,
            finish_time: job.finish_time(),
            hook_url: job.hook_url.clone(),
        })
    }
}

impl VidgenCharacter {
    fn of(job: &Job) -> Option<Self> {
        let output = job.output()?;
        Some(Self {
            character_id: job.id.to_string(),
            username: output.alias.clone().unwrap_or_default(),
            preview_url: job.file(0)?.cdn_url.clone(),
            quota: job.quota,
            finish_time: job.finish_time(),
            hook_url: job.hook_url.clone(),
        })
    }
}

pub(super) fn render(family: &Family, job: &Job) -> Value {
    let mut body = if job.operation == "vidgen.characters" {
        family.framed_result(job, VidgenCharacter::of(job))
    } else {
        family.framed_result(job, VidgenResult::of(job))
    };
    body["videoUrl"] = body["data"]["videoUrl"].clone();
    body["quota"] = to_json(&job.quota);
    body
}

/// The schema of what [`render`] makes.
pub(super) fn shape(generator: &mut SchemaGenerator) -> Schema {
    let video = generator.subschema_for::<VidgenResult>();
    let character = generator.subschema_for::<VidgenCharacter>();
    schemars::json_schema!({
        "type": "object",
        "required": ["status", "message", "jobId", "videoUrl", "quota", "data"],
        "properties": {
            "status": { "type": "string", "enum": ["ON_QUEUE", "SUCCESS", "FAILED"] },
            "message": { "type": ["string", "null"] },
            "jobId": { "type": "string" },
            "videoUrl": { "type": ["string", "null"], "format": "uri" },
            "quota": { "type": "number" },
            "data": { "anyOf": [video, character, { "type": "null" }] },
        },
    })
}
