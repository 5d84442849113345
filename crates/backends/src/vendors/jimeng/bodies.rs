//! What Jimeng is sent. Which service makes something follows from the model and from what it begins with.

use atelier_contract::brief::{Brief, Task};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::task_vendor::{
    ImageCapabilities, ImageRequest, Lengths, MaskSupport, VideoCapabilities, VideoRequest,
    nearest_ratio,
};

const RATIOS: &[&str] = &["16:9", "4:3", "1:1", "3:4", "9:16", "21:9"];
/// Frames of a second; one more than that many seconds has.
const FRAMES_A_SECOND: u32 = 24;

/// What a video model can do. The best one takes no last frame.
pub(super) fn films(model: &str) -> VideoCapabilities {
    VideoCapabilities {
        lengths: Lengths::Of(vec![5, 10]),
        ends: !model.contains("pro"),
        loops: false,
        references: 0,
    }
}

/// What an image model can do.
pub(super) fn pictures(model: &str) -> ImageCapabilities {
    ImageCapabilities {
        masks: MaskSupport::None,
        references: match model {
            model if model.contains("_v4") => 10,
            model if model.contains("i2i") => 1,
            _ => 0,
        },
        negative: false,
        transparent: false,
        backgrounds: true,
    }
}

/// Whether a model is told how far to go from a picture.
pub(super) fn has_scale(model: &str) -> bool {
    model.contains("i2i") || model.contains("_v4")
}

/// The service that makes a video. The general name of a generation stands for one service for each beginning.
pub(super) fn film_key(model: &str, begins: bool, ends: bool) -> String {
    let Some(rest) = model.strip_prefix("jimeng_v30") else {
        return model.to_owned();
    };
    match (rest, begins, ends) {
        ("_pro", ..) => "jimeng_ti2v_v30_pro".to_owned(),
        (rest, true, true) => format!("jimeng_i2v_first_tail_v30{}", rest.trim_end_matches('p')),
        (rest, true, false) => format!("jimeng_i2v_first_v30{}", rest.trim_end_matches('p')),
        (rest, false, _) => format!("jimeng_t2v_v30{rest}"),
    }
}

/// The service that makes a picture.
pub(super) fn picture_key(model: &str, changes: bool) -> String {
    match (model, changes) {
        ("jimeng_t2i_v30" | "jimeng_t2i_v31", true) => "jimeng_i2i_v30".to_owned(),
        (model, _) => model.to_owned(),
    }
}

/// The body for a video.
pub(super) fn film(model: &str, scene: &VideoRequest) -> Value {
    let frames = scene.first.iter().chain(&scene.last);
    let images: Vec<String> = frames.map(|bytes| STANDARD.encode(bytes)).collect();
    let (begins, ends) = (scene.first.is_some(), scene.last.is_some());
    let mut body = json!({
        "req_key": film_key(model, begins, ends),
        "prompt": scene.prompt,
        "frames": scene.seconds * FRAMES_A_SECOND + 1,
    });
    if images.is_empty() {
        body["aspect_ratio"] = json!(nearest_ratio(scene.size, RATIOS));
    } else {
        body["binary_data_base64"] = json!(images);
    }
    body
}

/// The body for a picture.
pub(super) fn picture(model: &str, sheet: &ImageRequest, brief: &Brief) -> Value {
    let images: Vec<String> = sheet
        .images
        .iter()
        .map(|one| STANDARD.encode(one))
        .collect();
    let mut body = json!({
        "req_key": picture_key(model, !images.is_empty()),
        "prompt": sheet.prompt,
    });
    if let Some((width, height)) = sheet.size {
        body["width"] = json!(width);
        body["height"] = json!(height);
    }
    if model.contains("_v4") {
        // Otherwise the model decides how many there are.
        body["force_single"] = json!(true);
    }
    if !images.is_empty() {
        body["binary_data_base64"] = json!(images);
    }
    if brief.task == Task::Restyle && has_scale(model) {
        body["scale"] = json!(brief.strength);
    }
    body
}

#[cfg(test)]
mod tests {
    use super::film_key;

    #[test]
    fn the_general_name_of_a_generation_stands_for_one_service_for_each_beginning() {
        for (model, begins, ends, key) in [
            ("jimeng_v30", false, false, "jimeng_t2v_v30"),
            ("jimeng_v30_1080p", false, false, "jimeng_t2v_v30_1080p"),
            ("jimeng_v30", true, false, "jimeng_i2v_first_v30"),
            ("jimeng_v30_1080p", true, false, "jimeng_i2v_first_v30_1080"),
            ("jimeng_v30", true, true, "jimeng_i2v_first_tail_v30"),
            (
                "jimeng_v30_1080p",
                true,
                true,
                "jimeng_i2v_first_tail_v30_1080",
            ),
            ("jimeng_v30_pro", true, false, "jimeng_ti2v_v30_pro"),
            ("jimeng_vgfm_t2v_l20", false, false, "jimeng_vgfm_t2v_l20"),
        ] {
            assert_eq!(film_key(model, begins, ends), key);
        }
    }
}
