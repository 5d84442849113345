//! What xAI is sent.

use serde_json::{Value, json};

use crate::inputs::data_uri;
use crate::tasks::{Films, Lengths, Masks, Pictures, Scene, Sheet, nearest_ratio};

/// What the image models can do.
pub(super) const CAN: Pictures = Pictures {
    masks: Masks::Painted,
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

/// What a video model can do.
pub(super) fn films(model: &str) -> Films {
    Films {
        lengths: Lengths::Between(1, 15),
        ends: model.contains("1.5"),
        loops: false,
        references: 7,
    }
}

/// Where a call for a picture goes, and its body.
pub(super) fn picture(model: &str, sheet: &Sheet) -> (&'static str, Value) {
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

/// The body for a video.
pub(super) fn film(model: &str, scene: &Scene, audio: bool) -> Value {
    let newer = model.contains("1.5");
    let resolutions: &[(&str, u32)] = if newer && scene.references.is_empty() {
        &[("480p", 480), ("720p", 720), ("1080p", 1080)]
    } else {
        &[("480p", 480), ("720p", 720)]
    };
    let mut body = json!({
        "model": model,
        "prompt": scene.prompt,
        "duration": scene.seconds,
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
