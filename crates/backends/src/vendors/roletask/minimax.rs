//! MiniMax: Hailuo videos by the second version of its interface, pictures by the first.

use atelier_contract::brief::Task;
use serde_json::{Value, json};

use super::dialect::{CallParams, MakerDialect, MakerTaskState, image_url, pictures_with_roles};
use crate::backend::{Class, Cost};
use crate::http::VendorRequest;
use crate::inputs::data_uri;
use crate::models::SupportedTasks;
use crate::task_vendor::{
    ImageCapabilities, ImageRequest, Lengths, MaskSupport, TaskReply, TaskResult,
    VideoCapabilities, VideoRequest, encoded_id, id, nearest_ratio,
};
use crate::vendor_errors::{ErrorRule, VendorError};

pub(super) const DIALECT: MakerDialect = MakerDialect {
    video_model: "MiniMax-H3",
    image_model: Some("image-01"),
    makes: SupportedTasks {
        images: &[Task::Draw],
        videos: true,
        clips_in_fours: true,
    },
    films,
    pictures: PICTURES,
    seeds: (false, true),
    film,
    paint,
    task: |body, _| Some(json!({"id": id(&body["task_id"])?})),
    painted,
    poll_request: |task| {
        VendorRequest::get(format!("v2/query/video_generation/{}", encoded_id(task)))
    },
    task_status,
    stop: Some(|task| {
        let path = format!("v2/video_generation/{}", encoded_id(task));
        VendorRequest::new(http::Method::DELETE, path)
    }),
    refusal,
    rules: RULES,
    lost: None,
    found: |_| None,
    probe: || VendorRequest::get("v2/query/video_generation?page_size=1"),
};

/// What the picture models can do.
pub(super) const PICTURES: ImageCapabilities = ImageCapabilities {
    masks: MaskSupport::None,
    references: 1,
    negative: false,
    transparent: false,
    backgrounds: false,
};
const RATIOS: &[&str] = &["21:9", "16:9", "4:3", "1:1", "3:4", "9:16"];

/// Numbers are those of the first version.
pub(super) const RULES: &[ErrorRule] = &[
    ErrorRule::words(0, "record not found", Class::Gone),
    ErrorRule::code("1004", Class::Dead),
    ErrorRule::code("2049", Class::Dead),
    ErrorRule::code("authorized_error", Class::Dead),
    ErrorRule::code("1008", Class::Quota),
    ErrorRule::code("1028", Class::Quota),
    ErrorRule::code("1030", Class::Quota),
    ErrorRule::code("2056", Class::Quota),
    ErrorRule::code("insufficient_balance", Class::Quota),
    ErrorRule::code("1026", Class::Reject),
    ErrorRule::code("1027", Class::Reject),
    ErrorRule::code("sensitive", Class::Reject),
    ErrorRule::code("1002", Class::Rate),
    ErrorRule::code("1039", Class::Rate),
    ErrorRule::code("1041", Class::Rate),
    // The plan of the worker account does not have the model.
    ErrorRule::code("2061", Class::Model),
    ErrorRule::code("rate_limit", Class::Rate),
    ErrorRule::code("2013", Class::BadRequest),
    ErrorRule::code("bad_request", Class::BadRequest),
    ErrorRule::code("1000", Class::Retry),
    ErrorRule::code("1001", Class::Retry),
    ErrorRule::code("1024", Class::Retry),
    ErrorRule::code("1033", Class::Retry),
    ErrorRule::status(422, Class::Reject),
];

fn films(model: &str) -> VideoCapabilities {
    let max = model.ends_with("Max");
    VideoCapabilities {
        lengths: Lengths::Between(if max { 5 } else { 4 }, 15),
        ends: true,
        loops: false,
        references: if max { 0 } else { 9 },
    }
}

fn film(order: &CallParams<'_>, scene: &VideoRequest) -> VendorRequest {
    let mut content = vec![json!({"type": "text", "text": scene.prompt})];
    content.extend(pictures_with_roles(scene, "reference_image", image_url));
    let resolutions: &[(&str, u32)] = if order.model.ends_with("Max") {
        &[("480P", 480), ("768P", 768)]
    } else {
        &[("768P", 768), ("2K", 1440)]
    };
    let mut body = json!({
        "model": order.model,
        "content": content,
        "resolution": scene.resolution(resolutions),
        "duration": scene.seconds,
        "aigc_watermark": false,
    });
    if scene.first.is_none() {
        body["ratio"] = json!(nearest_ratio(scene.size, RATIOS));
    }
    let body = order.settings.with_fields(body);
    VendorRequest::post_json("v2/video_generation", &body)
}

pub(super) fn paint(order: &CallParams<'_>, sheet: &ImageRequest) -> VendorRequest {
    const SHAPES: &[&str] = &["1:1", "16:9", "4:3", "3:2", "2:3", "3:4", "9:16", "21:9"];
    let mut body = json!({
        "model": order.model,
        "prompt": sheet.prompt,
        "n": 1,
        "response_format": "url",
    });
    if let Some(size) = sheet.size {
        body["aspect_ratio"] = json!(nearest_ratio(size, SHAPES));
    }
    if let Some(seed) = order.seed {
        body["seed"] = json!(seed);
    }
    if let Some(image) = sheet.images.first() {
        body["subject_reference"] = json!([{"type": "character", "image_file": data_uri(image)}]);
    }
    VendorRequest::post_json("v1/image_generation", &order.settings.with_fields(body))
}

pub(super) fn painted(reply: &mut TaskReply) -> TaskResult {
    let items = reply.body["data"]["image_urls"].as_array();
    TaskResult::at(items.into_iter().flatten().filter_map(Value::as_str))
}

/// The first version says everything with a good status.
pub(super) fn refusal(body: &Value) -> Option<VendorError> {
    let answer = &body["base_resp"];
    match answer["status_code"].as_i64() {
        Some(0) | None => body.get("error").and_then(|_| VendorError::read(body)),
        Some(code) => {
            let words = answer["status_msg"].as_str().unwrap_or_default();
            Some(VendorError::new(code.to_string(), words))
        }
    }
}

fn task_status(body: &Value) -> Option<MakerTaskState> {
    let task = &body["task"];
    Some(match task["status"].as_str()? {
        "succeeded" => MakerTaskState::Done(TaskResult {
            cost: seconds(&task["usage"]["total_seconds"]),
            ..TaskResult::at(task["content"]["url"].as_str())
        }),
        "failed" => MakerTaskState::Failed(VendorError::read(task).unwrap_or_default()),
        "cancelled" | "expired" => MakerTaskState::Gone,
        _ => MakerTaskState::Running,
    })
}

/// Seconds of video that were counted.
fn seconds(count: &Value) -> Option<Cost> {
    Cost::of(count.as_f64()?, "seconds")
}
