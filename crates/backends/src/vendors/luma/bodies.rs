//! What Luma is sent. Ten seconds with frames are keyframes at the first and the last place.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::backend::Fault;
use crate::inputs::{media_type, unsupported};
use crate::task_vendor::{
    ImageCapabilities, ImageRequest, Lengths, MaskSupport, VideoCapabilities, VideoRequest,
    nearest_ratio,
};

/// What the video model can do.
pub(super) const FILMS: VideoCapabilities = VideoCapabilities {
    lengths: Lengths::Between(1, 10),
    ends: true,
    loops: true,
    references: 0,
};
/// What the video model can do, for a video that loops or not: loops are short and have no end of their own.
pub(super) fn films(looped: bool) -> VideoCapabilities {
    if !looped {
        return FILMS;
    }
    VideoCapabilities {
        lengths: Lengths::Between(1, SHORT),
        ends: false,
        ..FILMS
    }
}

/// What the image models can do.
pub(super) const CAN: ImageCapabilities = ImageCapabilities {
    masks: MaskSupport::None,
    references: 9,
    negative: false,
    transparent: false,
    backgrounds: true,
};
const RATIOS: &[&str] = &["9:16", "3:4", "1:1", "4:3", "16:9", "21:9"];
const PICTURE_RATIOS: &[&str] = &[
    "3:1", "2:1", "16:9", "3:2", "1:1", "2:3", "9:16", "1:2", "1:3",
];
/// The shorter of the two lengths, in seconds.
const SHORT: u32 = 5;
/// The place of the last frame of ten seconds.
const LAST_PLACE: u32 = 240;

fn image(bytes: &[u8]) -> Value {
    json!({"data": STANDARD.encode(bytes), "media_type": media_type(bytes)})
}

/// The body for a video; an extension of an earlier one goes on where that ended.
pub(super) fn film(
    model: &str,
    scene: &VideoRequest,
    earlier: Option<&str>,
) -> Result<Value, Fault> {
    let resolutions = &[("360p", 360), ("540p", 540), ("720p", 720), ("1080p", 1080)];
    let long = scene.seconds > SHORT;
    let mut video = json!({
        "resolution": scene.resolution(resolutions),
        "duration": if long { "10s" } else { "5s" },
    });
    if scene.looped && (long || scene.last.is_some()) {
        let field = if long { "duration" } else { "loop" };
        return Err(unsupported(
            field,
            "no back end for such loops is available",
        ));
    }
    if scene.looped {
        video["loop"] = json!(true);
    }
    match (&scene.first, &scene.last) {
        _ if earlier.is_some() => video["start_frame"] = json!({"generation_id": earlier}),
        (Some(first), last) if long => {
            let last = last.as_ref();
            let frames = std::iter::once(first).chain(last);
            let places = std::iter::once(0).chain(last.map(|_| LAST_PLACE));
            video["keyframes"] = frames.map(|bytes| image(bytes)).collect();
            video["keyframe_indexes"] = places.collect();
        }
        (first, last) => {
            if let Some(first) = first {
                video["start_frame"] = image(first);
            }
            if let Some(last) = last {
                video["end_frame"] = image(last);
            }
        }
    }
    Ok(json!({
        "model": model,
        "type": "video",
        "prompt": scene.prompt,
        "aspect_ratio": nearest_ratio(scene.size, RATIOS),
        "video": video,
    }))
}

/// The body for a picture: drawn with references, or changed from the first of them.
pub(super) fn picture(model: &str, sheet: &ImageRequest, changes: bool) -> Value {
    let mut body = json!({
        "model": model,
        "type": "image",
        "prompt": sheet.prompt,
        "output_format": "png",
    });
    if let Some(size) = sheet.size {
        body["aspect_ratio"] = json!(nearest_ratio(size, PICTURE_RATIOS));
    }
    let mut references = sheet.images.as_slice();
    if let ([first, others @ ..], true) = (references, changes) {
        body["type"] = json!("image_edit");
        body["source"] = image(first);
        references = others;
    }
    if !references.is_empty() {
        body["image_ref"] = references.iter().map(|bytes| image(bytes)).collect();
    }
    body
}
