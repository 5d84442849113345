//! Pictures: one call for each, with given pictures beside the words.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::backend::{Class, Cost, Fault, Work};
use crate::http::VendorRequest;
use crate::inputs::media_type;
use crate::seeds;
use crate::task_vendor::{
    FileSource, ImageCapabilities, ImageRequest, MaskSupport, TaskPlan, TaskReply, TaskResult,
    TaskStatus, nearest_ratio,
};
use crate::vendor_errors;

/// What the models can do.
pub(in crate::vendors) const CAN: ImageCapabilities = ImageCapabilities {
    masks: MaskSupport::Painted,
    references: 14,
    negative: false,
    transparent: false,
    backgrounds: true,
};
const RATIOS: &[&str] = &[
    "1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9", "1:4", "4:1", "1:8",
    "8:1",
];
/// Ends that are a review's word.
const REFUSED: &[&str] = &[
    "SAFETY",
    "PROHIBITED_CONTENT",
    "BLOCKLIST",
    "SPII",
    "RECITATION",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
];

pub(in crate::vendors) async fn plan(work: &Work, path: String) -> Result<TaskPlan<'_>, Fault> {
    let sheet = ImageRequest::of(work, &CAN).await?;
    let mut parts = vec![json!({"text": sheet.prompt})];
    for image in &sheet.images {
        let data = STANDARD.encode(image);
        parts.push(json!({"inlineData": {"mimeType": media_type(image), "data": data}}));
    }
    let mut config = json!({"responseModalities": ["IMAGE"]});
    if let Some((width, height)) = sheet.size {
        let longest = width.max(height);
        let size = match longest {
            0..=1024 => "1K",
            1025..=2048 => "2K",
            _ => "4K",
        };
        let ratio = nearest_ratio((width, height), RATIOS);
        config["imageConfig"] = json!({"aspectRatio": ratio, "imageSize": size});
    }
    let seed = work.brief.seed;
    let body = json!({"contents": [{"role": "user", "parts": parts}], "generationConfig": config});
    Ok(TaskPlan::each(work, sheet.finish, move |place| {
        let mut body = body.clone();
        if let Some(seed) = seed {
            // The vendor's seeds have 31 bits.
            let seed = seeds::member(seed, place as usize) & 0x7fff_ffff;
            body["generationConfig"]["seed"] = json!(seed);
        }
        VendorRequest::post_json(path.clone(), &body)
    }))
}

/// The picture of an answer, or why there is none.
pub(in crate::vendors) fn made(mut reply: TaskReply) -> Result<TaskStatus, Fault> {
    let body = std::mem::take(&mut reply.body);
    let candidate = &body["candidates"][0];
    let parts = candidate["content"]["parts"].as_array();
    // Pictures that the model thought of on the way are not its answer.
    let mut shown = parts
        .into_iter()
        .flatten()
        .filter(|part| part["thought"] != true);
    let file = shown.find_map(|part| reply.file(&part["inlineData"]["data"]));
    if let Some(file) = file {
        return Ok(TaskStatus::Done(TaskResult {
            files: vec![FileSource::File(file)],
            cost: tokens(&body["usageMetadata"]["totalTokenCount"]),
            ..TaskResult::default()
        }));
    }
    let reason = &candidate["finishReason"];
    let blocked = &body["promptFeedback"]["blockReason"];
    match (reason.as_str(), blocked.as_str()) {
        (_, Some(reason)) => Err(refused(reason)),
        (Some(reason), _) if REFUSED.contains(&reason) => Err(refused(reason)),
        (Some(reason), _) => Err(Fault::vendor(
            Class::Retry,
            vendor_errors::shortened(reason),
        )),
        (None, None) => Err(reply.nonsense()),
    }
}

fn refused(reason: &str) -> Fault {
    Fault {
        detail: vendor_errors::shortened(reason),
        ..vendor_errors::refused_by_review()
    }
}

/// What the vendor counts.
pub(in crate::vendors) const CURRENCY: &str = "tokens";

/// Tokens that the vendor counted.
pub(super) fn tokens(count: &Value) -> Option<Cost> {
    Cost::of(count.as_f64()?, CURRENCY)
}
