//! ByteDance Ark, on BytePlus and Volcengine: Seedance videos, Seedream pictures.

use serde_json::{Value, json};

use super::dialect::{CallParams, MakerDialect, MakerTaskState, image_url, pictures_with_roles};
use crate::backend::{Class, Cost};
use crate::fit;
use crate::http::VendorRequest;
use crate::inputs::data_uri;
use crate::models::SupportedTasks;
use crate::task_vendor::{
    ImageCapabilities, ImageRequest, Lengths, MaskSupport, TaskReply, TaskResult,
    VideoCapabilities, VideoRequest, encoded_id, id, nearest_ratio,
};
use crate::vendor_errors::{ErrorRule, VendorError};

pub(super) const DIALECT: MakerDialect = MakerDialect {
    video_model: "dreamina-seedance-2-5-260628",
    image_model: Some("seedream-5-0-260128"),
    makes: SupportedTasks::PICTURES_AND_VIDEOS,
    films,
    pictures: ImageCapabilities {
        masks: MaskSupport::Painted,
        references: 10,
        negative: false,
        transparent: false,
        backgrounds: true,
    },
    seeds: (false, false),
    film,
    paint,
    task: |body, _| Some(json!({"id": id(&body["id"])?})),
    painted,
    poll_request: |task| VendorRequest::get(path(task)),
    task_status,
    stop: Some(|task| VendorRequest::new(http::Method::DELETE, path(task))),
    refusal: |body| {
        let errs = body.get("error").is_some_and(|error| !error.is_null());
        // The error of a task belongs to its status.
        let refused = errs && body.get("status").is_none();
        refused.then(|| VendorError::read(body)).flatten()
    },
    rules: RULES,
    lost: None,
    found: |_| None,
    probe: || VendorRequest::get(format!("{TASKS}?page_num=1&page_size=1")),
};

const TASKS: &str = "contents/generations/tasks";
const RATIOS: &[&str] = &["16:9", "4:3", "1:1", "3:4", "9:16", "21:9"];
/// Pictures have no fewer pixels.
const LEAST_PIXELS: f64 = 3_686_400.0;
/// Pictures have no more pixels.
const MOST_PIXELS: f64 = 4096.0 * 4096.0;

const RULES: &[ErrorRule] = &[
    ErrorRule::code("sensitivecontentdetected", Class::Reject),
    ErrorRule::code("policyviolation", Class::Reject),
    ErrorRule::code("riskdetection", Class::Reject),
    ErrorRule::code("accountoverdue", Class::Quota),
    ErrorRule::code("quotaexceeded", Class::Quota),
    ErrorRule::code("ratelimitexceeded", Class::Rate),
    ErrorRule::code("serveroverloaded", Class::Rate),
    ErrorRule::code("authenticationerror", Class::Dead),
    ErrorRule::code("accessdenied", Class::Model),
    ErrorRule::code("modelnotopen", Class::Model),
    ErrorRule::code("closedendpoint", Class::Model),
    // The limit that the worker account's owner set for one model.
    ErrorRule::code("setlimitexceeded", Class::Model),
    ErrorRule::code("invalidparameter", Class::BadRequest),
    ErrorRule::code("missingparameter", Class::BadRequest),
    ErrorRule::code("notfound", Class::Gone),
];

fn path(task: &Value) -> String {
    format!("{TASKS}/{}", encoded_id(task))
}

fn films(model: &str) -> VideoCapabilities {
    let newest = model.contains("2-5");
    VideoCapabilities {
        lengths: Lengths::Between(4, if newest { 30 } else { 15 }),
        ends: true,
        loops: false,
        references: if newest { 30 } else { 9 },
    }
}

fn film(order: &CallParams<'_>, scene: &VideoRequest) -> VendorRequest {
    let mut content = vec![json!({"type": "text", "text": scene.prompt})];
    content.extend(pictures_with_roles(scene, "reference_image", image_url));
    let small = order.model.contains("fast") || order.model.contains("mini");
    let resolutions: &[(&str, u32)] = if small {
        &[("480p", 480), ("720p", 720)]
    } else {
        &[("480p", 480), ("720p", 720), ("1080p", 1080)]
    };
    let mut body = json!({
        "model": order.model,
        "content": content,
        "resolution": scene.resolution(resolutions),
        "duration": scene.seconds,
        "generate_audio": order.settings.audio,
        "watermark": false,
    });
    // Frames have a shape of their own, and no other is taken beside them.
    if scene.first.is_none() {
        body["ratio"] = json!(nearest_ratio(scene.size, RATIOS));
    }
    if let Some(hook) = order.hook_url {
        body["callback_url"] = json!(hook);
    }
    VendorRequest::post_json(TASKS, &order.settings.with_fields(body))
}

fn paint(order: &CallParams<'_>, sheet: &ImageRequest) -> VendorRequest {
    let mut body = json!({
        "model": order.model,
        "prompt": sheet.prompt,
        "response_format": "url",
        "watermark": false,
        "sequential_image_generation": "disabled",
    });
    body["size"] = match sheet.size {
        Some(size) => {
            let (width, height) = fit::stepped(fit::at_least(size, LEAST_PIXELS), 16, MOST_PIXELS);
            json!(format!("{width}x{height}"))
        }
        None => json!("2K"),
    };
    let images: Vec<String> = sheet.images.iter().map(|bytes| data_uri(bytes)).collect();
    match images.as_slice() {
        [] => {}
        [one] => body["image"] = json!(one),
        all => body["image"] = json!(all),
    }
    VendorRequest::post_json("images/generations", &order.settings.with_fields(body))
}

fn painted(reply: &mut TaskReply) -> TaskResult {
    let items = reply.body["data"].as_array().into_iter().flatten();
    let addresses = items.filter_map(|item| item["url"].as_str());
    TaskResult {
        cost: tokens(&reply.body["usage"]["output_tokens"]),
        ..TaskResult::at(addresses)
    }
}

fn tokens(count: &Value) -> Option<Cost> {
    Cost::of(count.as_f64()?, "tokens")
}

fn task_status(body: &Value) -> Option<MakerTaskState> {
    Some(match body["status"].as_str()? {
        "succeeded" => MakerTaskState::Done(TaskResult {
            cost: tokens(&body["usage"]["completion_tokens"]),
            ..TaskResult::at(body["content"]["video_url"].as_str())
        }),
        "failed" => MakerTaskState::Failed(VendorError::read(body).unwrap_or_default()),
        "cancelled" | "expired" => MakerTaskState::Gone,
        _ => MakerTaskState::Running,
    })
}
