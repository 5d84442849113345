//! What the models are sent: those of FLUX.2 take sizes and numbered pictures, those of FLUX 3 shapes and a list.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::fit;
use crate::task_vendor::{
    ImageCapabilities, ImageRequest, Lengths, MaskSupport, VideoCapabilities, VideoRequest,
    nearest_ratio,
};

/// What the video model can do.
pub(super) const FILMS: VideoCapabilities = VideoCapabilities {
    lengths: Lengths::Between(5, 20),
    ends: true,
    loops: false,
    references: 0,
};
const FILM_RATIOS: &[&str] = &["21:9", "2:1", "16:9", "4:3", "1:1", "3:4", "9:16"];
const RATIOS: &[&str] = &[
    "21:9", "16:9", "3:2", "4:3", "1:1", "3:4", "2:3", "9:16", "9:21",
];
/// FLUX.2 makes no larger picture.
const MOST_PIXELS: f64 = 4_000_000.0;
/// Its sides are multiples of this.
const STEP: u32 = 16;

/// What an image model can do.
pub(super) fn pictures(model: &str) -> ImageCapabilities {
    ImageCapabilities {
        masks: if model.contains("fill") {
            MaskSupport::White
        } else {
            MaskSupport::None
        },
        references: match model {
            model if model.contains("fill") => 1,
            model if model.starts_with("flux-3") => 10,
            _ => 8,
        },
        negative: false,
        transparent: false,
        backgrounds: true,
    }
}

/// The body for a picture.
pub(super) fn picture(model: &str, sheet: &ImageRequest) -> Value {
    let mut body = json!({"prompt": sheet.prompt});
    let images = sheet.images.iter().map(|bytes| STANDARD.encode(bytes));
    let images: Vec<String> = images.collect();
    if model.contains("fill") {
        body["image"] = json!(images.first());
        if let Some(mask) = &sheet.mask {
            body["mask"] = json!(STANDARD.encode(mask));
        }
        body["output_format"] = json!("png");
        return body;
    }
    if model.starts_with("flux-3") {
        if let Some(size) = sheet.size {
            body["aspect_ratio"] = json!(nearest_ratio(size, RATIOS));
        }
        if !images.is_empty() {
            body["images"] = json!(images);
        }
        return body;
    }
    if let Some(size) = sheet.size {
        let (width, height) = fit::stepped(size, STEP, MOST_PIXELS);
        body["width"] = json!(width.max(64));
        body["height"] = json!(height.max(64));
    }
    for (index, image) in images.iter().enumerate() {
        let name = match index {
            0 => "input_image".to_owned(),
            index => format!("input_image_{}", index + 1),
        };
        body[name] = json!(image);
    }
    body["output_format"] = json!("png");
    body
}

/// The body for a video.
pub(super) fn film(scene: &VideoRequest, audio: bool) -> Value {
    let frames = scene.first.iter().chain(&scene.last);
    let frames: Vec<String> = frames.map(|bytes| STANDARD.encode(bytes)).collect();
    let high = scene.size.0.min(scene.size.1) > 800;
    let mut body = json!({
        "mode": if frames.is_empty() { "t2v" } else { "i2v" },
        "prompt": scene.prompt,
        "duration": scene.seconds,
        "resolution": if high { "fhd" } else { "hd" },
        "aspect_ratio": nearest_ratio(scene.size, FILM_RATIOS),
        "generate_audio": audio,
    });
    if !frames.is_empty() {
        body["keyframes"] = json!(frames);
    }
    body
}
