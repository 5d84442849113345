//! What xAI is sent.

use atelier_contract::brief::Brief;
use serde_json::{Value, json};

use crate::inputs::data_uri;
use crate::task_vendor::{
    ImageCapabilities, ImageRequest, MaskSupport, Passes, VideoCapabilities, VideoRequest,
    nearest_ratio,
};

/// What the image models can do.
pub(super) const CAN: ImageCapabilities = ImageCapabilities {
    masks: MaskSupport::Painted,
    references: 5,
    negative: false,
    transparent: false,
    backgrounds: true,
};
const RATIOS: &[&str] = &[
    "1:1", "3:4", "4:3", "9:16", "16:9", "2:3", "3:2", "9:19.5", "19.5:9", "9:20", "20:9", "1:2",
    "2:1",
];
const FILM_RATIOS: &[&str] = &["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3"];

/// What a video model makes in one pass, and what extensions add to it where there is a model for them.
pub(super) fn passes(extends: bool) -> Passes {
    Passes {
        first: (1, 15),
        later: (1, 10),
        total: if extends { 30 } else { 15 },
    }
}

/// What a video model can do.
pub(super) fn films(model: &str, brief: &Brief, extends: bool) -> VideoCapabilities {
    VideoCapabilities {
        lengths: passes(extends).lengths(brief),
        ends: model.contains("1.5"),
        loops: false,
        references: 7,
    }
}

/// Where a call for a picture goes, and its body.
pub(super) fn picture(model: &str, sheet: &ImageRequest) -> (&'static str, Value) {
    let mut body = json!({
        "model": model,
        "prompt": sheet.prompt,
        "n": 1,
        "response_format": "b64_json",
    });
    if let Some((width, height)) = sheet.size {
        let large = width.max(height) > 1024;
        body["aspect_ratio"] = json!(nearest_ratio((width, height), RATIOS));
        body["resolution"] = json!(if large { "2k" } else { "1k" });
    }
    let image = |bytes: &bytes::Bytes| json!({"url": data_uri(bytes), "type": "image_url"});
    match sheet.images.as_slice() {
        [] => return ("images/generations", body),
        [one] => body["image"] = image(one),
        all => body["images"] = all.iter().map(image).collect(),
    }
    ("images/edits", body)
}

/// The body for so many more seconds of a video that the vendor has.
pub(super) fn extension(model: &str, prompt: &str, address: &str, seconds: u32) -> Value {
    json!({
        "model": model,
        "prompt": prompt,
        "video": {"url": address},
        "duration": seconds,
    })
}

/// The body for a video of so many seconds.
pub(super) fn film(model: &str, scene: &VideoRequest, seconds: u32, audio: bool) -> Value {
    let newer = model.contains("1.5");
    let resolutions: &[(&str, u32)] = if newer && scene.references.is_empty() {
        &[("480p", 480), ("720p", 720), ("1080p", 1080)]
    } else {
        &[("480p", 480), ("720p", 720)]
    };
    let mut body = json!({
        "model": model,
        "prompt": scene.prompt,
        "duration": seconds,
        "aspect_ratio": nearest_ratio(scene.size, FILM_RATIOS),
        "resolution": scene.resolution(resolutions),
    });
    if newer {
        body["generate_audio"] = json!(audio);
    }
    if let Some(first) = &scene.first {
        body["image"] = json!({"url": data_uri(first)});
    }
    if let Some(last) = &scene.last {
        body["last_frame"] = json!({"url": data_uri(last)});
    }
    if !scene.references.is_empty() {
        let all = scene.references.iter();
        body["reference_images"] = all.map(|bytes| json!({"url": data_uri(bytes)})).collect();
    }
    body
}
