//! The answers of the image endpoints: the vendor's body, or its events.

use crate::family::StreamEvent;
use crate::job::FileRole;
use crate::prelude::*;

/// The body of every answer, as the vendor's own API has it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ImgmodelAnswer")]
pub(super) struct ImgmodelAnswer {
    /// When they were made, in seconds since 1970.
    created: i64,
    /// The images, in order.
    data: Vec<ImgmodelImage>,
    /// Tokens, estimated; only `image-1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<ImgmodelUsage>,
    /// Background; only `image-1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    background: Option<&'static str>,
    /// File format; only `image-1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_format: Option<String>,
    /// Quality of the images; only `image-1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<String>,
    /// Width and height; only `image-1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<String>,
}

/// One image of the answer, as a URL or as bytes.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ImgmodelImage")]
struct ImgmodelImage {
    /// Its URL; it works for 60 minutes, at the legacy endpoint for 24 hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// The image file as base64, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    b64_json: Option<String>,
    /// The prompt that was really used; only `art-3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    revised_prompt: Option<String>,
}

/// Tokens a call comes to, by the size of what went in and out.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ImgmodelUsage")]
struct ImgmodelUsage {
    total_tokens: u64,
    input_tokens: u64,
    output_tokens: u64,
    input_tokens_details: InputTokens,
}

/// The parts of the input.
#[derive(Serialize, JsonSchema)]
struct InputTokens {
    text_tokens: u64,
    image_tokens: u64,
}

/// What a text, an input image and a square output image count as.
const CHARACTERS_PER_TOKEN: u64 = 4;
const INPUT_IMAGE_TOKENS: u64 = 256;
const OUTPUT_PIXELS_PER_TOKEN: u64 = 1024;

impl ImgmodelUsage {
    /// Of a whole call.
    fn of(job: &Job) -> Self {
        Self::with_output(Self::input(job), job.files(FileRole::Main))
    }

    /// Of one image of a call, so that all of them add up to the call: what went in counts with the first.
    fn of_image(job: &Job, index: usize, file: &crate::File) -> Self {
        let input = if index == 0 {
            Self::input(job)
        } else {
            InputTokens {
                text_tokens: 0,
                image_tokens: 0,
            }
        };
        Self::with_output(input, std::iter::once(file))
    }

    fn input(job: &Job) -> InputTokens {
        let text = job.text("prompt").unwrap_or_default().chars().count() as u64;
        let inputs = match job.request.get("image") {
            Some(Value::Array(images)) => images.len() as u64,
            _ => 0,
        };
        InputTokens {
            text_tokens: text.div_ceil(CHARACTERS_PER_TOKEN),
            image_tokens: inputs * INPUT_IMAGE_TOKENS,
        }
    }

    fn with_output<'a>(details: InputTokens, files: impl Iterator<Item = &'a crate::File>) -> Self {
        let pixels = |file: &crate::File| u64::from(file.width) * u64::from(file.height);
        let output: u64 = files.map(pixels).sum();
        let input_tokens = details.text_tokens + details.image_tokens;
        let output_tokens = output / OUTPUT_PIXELS_PER_TOKEN;
        Self {
            total_tokens: input_tokens + output_tokens,
            input_tokens,
            output_tokens,
            input_tokens_details: details,
        }
    }
}

impl ImgmodelAnswer {
    fn of(finished: &FinishedJob<'_>) -> Self {
        let job = finished.job;
        let model = job.text("model").unwrap_or_default();
        let revised = job.output().and_then(|output| {
            let revised = output.revised_prompt.as_deref().or(job.text("prompt"));
            revised.filter(|_| model == "art-3").map(str::to_owned)
        });
        let wants_bytes = job.text("response_format") == Some("b64_json");
        let data = job.files(FileRole::Main).enumerate().map(|(index, file)| {
            let bytes = finished.base64.get(index).filter(|_| wants_bytes).cloned();
            ImgmodelImage {
                url: bytes.is_none().then(|| file.cdn_url.clone()),
                b64_json: bytes,
                revised_prompt: revised.clone(),
            }
        });
        let size = job.file(0).map(size_word);
        let image_1 = model == "image-1";
        Self {
            created: job.finished_ms.unwrap_or(job.updated_ms) / 1000,
            data: data.collect(),
            usage: image_1.then(|| ImgmodelUsage::of(job)),
            background: image_1.then(|| background(job)),
            output_format: image_1.then(|| output_format(job).to_owned()),
            quality: quality(job).filter(|_| image_1).map(str::to_owned),
            size: size.filter(|_| image_1),
        }
    }
}

fn background(job: &Job) -> &'static str {
    match job.text("background") {
        Some("transparent") => "transparent",
        _ => "opaque",
    }
}

fn output_format(job: &Job) -> &str {
    job.text("output_format").unwrap_or("png")
}

/// The quality that was really meant.
fn quality(job: &Job) -> Option<&str> {
    job.text("quality").map(|quality| match quality {
        "auto" => "medium",
        quality => quality,
    })
}

fn size_word(file: &crate::File) -> String {
    format!("{}x{}", file.width, file.height)
}

/// The data of the event that brings a finished image, as the vendor's own API has it.
#[derive(Serialize)]
struct CompletedImage<'a> {
    #[serde(rename = "type")]
    name: &'static str,
    b64_json: &'a str,
    created_at: i64,
    size: String,
    quality: &'a str,
    background: &'static str,
    output_format: &'a str,
    usage: ImgmodelUsage,
}

/// The events that bring the images of a finished call, one for each.
fn completed(name: &'static str, finished: &FinishedJob<'_>) -> Vec<StreamEvent> {
    let job = finished.job;
    let images = job.files(FileRole::Main).zip(finished.base64).enumerate();
    let events = images.map(|(index, (file, bytes))| StreamEvent {
        name,
        data: to_json(&CompletedImage {
            name,
            b64_json: bytes,
            created_at: job.finished_ms.unwrap_or(job.updated_ms) / 1000,
            size: size_word(file),
            quality: quality(job).unwrap_or("medium"),
            background: background(job),
            output_format: output_format(job),
            usage: ImgmodelUsage::of_image(job, index, file),
        }),
    });
    events.collect()
}

/// The events of a generation.
pub(super) fn generated(finished: &FinishedJob<'_>) -> Vec<StreamEvent> {
    completed("image_generation.completed", finished)
}

/// The events of an edit.
pub(super) fn edited(finished: &FinishedJob<'_>) -> Vec<StreamEvent> {
    completed("image_edit.completed", finished)
}

pub(super) fn images(finished: &FinishedJob<'_>) -> Value {
    to_json(&ImgmodelAnswer::of(finished))
}

/// The answer again, without bytes: addresses stand where they were.
pub(super) fn render(job: &Job) -> Value {
    match job.output() {
        None => Value::Null,
        Some(_) => images(&FinishedJob { job, base64: &[] }),
    }
}
