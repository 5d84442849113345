//! What Nova Canvas is sent: a task with its parameters, and the settings of every picture.

use atelier_contract::brief::{Brief, Task};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::backend::{Fault, Work};
use crate::fit;
use crate::http::VendorRequest;
use crate::seeds;
use crate::task_vendor::{ImageCapabilities, ImageRequest, MaskSupport, TaskPlan};

/// Sides are multiples of this.
const STEP: u32 = 16;
/// A picture has no more pixels.
const MOST_PIXELS: f64 = 4_194_304.0;
/// A side is no shorter.
const LEAST_SIDE: u32 = 320;
/// Prompts have no more characters.
const MOST_WORDS: usize = 1024;

/// What it can do for a request.
pub(super) fn pictures(brief: &Brief) -> ImageCapabilities {
    ImageCapabilities {
        masks: MaskSupport::Black,
        references: match brief.task {
            Task::Draw if brief.sources.is_empty() => 0,
            Task::Draw => 5,
            _ => 1,
        },
        negative: true,
        transparent: false,
        backgrounds: false,
    }
}

/// The words as far as they are read.
fn words(text: &str) -> String {
    text.chars().take(MOST_WORDS).collect()
}

/// The parameters of a task under their name.
fn task(work: &Work, sheet: &ImageRequest) -> (&'static str, &'static str, Value) {
    let images: Vec<String> = sheet
        .images
        .iter()
        .map(|one| STANDARD.encode(one))
        .collect();
    let mut parameters = json!({"text": words(&sheet.prompt)});
    if !sheet.negative.is_empty() {
        parameters["negativeText"] = json!(words(&sheet.negative));
    }
    match (&sheet.mask, images.as_slice()) {
        (Some(mask), [image, ..]) => {
            parameters["image"] = json!(image);
            parameters["maskImage"] = json!(STANDARD.encode(mask));
            ("INPAINTING", "inPaintingParams", parameters)
        }
        (_, [image, ..]) if work.brief.task == Task::RemoveBackground => {
            let parameters = json!({"image": image});
            ("BACKGROUND_REMOVAL", "backgroundRemovalParams", parameters)
        }
        (_, []) => ("TEXT_IMAGE", "textToImageParams", parameters),
        (_, images) => {
            // How alike it stays, which is the other way round and begins at a fifth.
            let likeness = 1.0 - 0.8 * work.brief.strength.clamp(0.0, 1.0);
            parameters["images"] = json!(images);
            parameters["similarityStrength"] = json!((likeness * 100.0).round() / 100.0);
            ("IMAGE_VARIATION", "imageVariationParams", parameters)
        }
    }
}

pub(super) async fn plan<'a>(
    work: &'a Work,
    quality: Option<&str>,
    path: String,
) -> Result<TaskPlan<'a>, Fault> {
    let sheet = ImageRequest::of(work, &pictures(&work.brief)).await?;
    let (kind, name, parameters) = task(work, &sheet);
    let mut settings = json!({"numberOfImages": 1});
    if let Some(quality) = quality {
        settings["quality"] = json!(quality);
    }
    let sized = matches!(kind, "TEXT_IMAGE" | "IMAGE_VARIATION");
    if let (true, Some(size)) = (sized, sheet.size) {
        let (width, height) = fit::stepped(size, STEP, MOST_PIXELS);
        settings["width"] = json!(width.max(LEAST_SIDE));
        settings["height"] = json!(height.max(LEAST_SIDE));
    }
    let seed = work.brief.seed;
    Ok(TaskPlan::each(work, sheet.finish, move |place| {
        let mut body = json!({"taskType": kind});
        body[name] = parameters.clone();
        if kind != "BACKGROUND_REMOVAL" {
            let mut settings = settings.clone();
            if let Some(seed) = seed {
                // The vendor's seeds end at 858993459.
                settings["seed"] = json!(seeds::member(seed, place as usize) % 858_993_460);
            }
            body["imageGenerationConfig"] = settings;
        }
        VendorRequest::post_json(path.clone(), &body)
    }))
}
