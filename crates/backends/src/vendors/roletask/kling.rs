//! Kling, in the newer of its interfaces. Every start has a name of its own there, so a lost one is found again.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::dialect::{CallParams, MakerDialect, MakerTaskState, pictures_with_roles};
use crate::backend::{Class, Cost};
use crate::http::{VendorRequest, encoded};
use crate::models::SupportedTasks;
use crate::task_vendor::{
    ImageCapabilities, ImageRequest, Lengths, MaskSupport, TaskReply, TaskResult,
    VideoCapabilities, VideoRequest, encoded_id, id, nearest_ratio,
};
use crate::vendor_errors::{ErrorRule, VendorError};

pub(super) const DIALECT: MakerDialect = MakerDialect {
    video_model: "kling-3.0",
    image_model: None,
    makes: SupportedTasks {
        images: &[],
        videos: true,
        clips_in_fours: true,
    },
    films,
    pictures: ImageCapabilities {
        masks: MaskSupport::None,
        references: 0,
        negative: false,
        transparent: false,
        backgrounds: false,
    },
    seeds: (false, false),
    film,
    paint: |_, _: &ImageRequest| VendorRequest::get(""),
    task: |body, _| Some(json!({"id": id(&body["data"]["id"])?})),
    painted: |_: &mut TaskReply| TaskResult::default(),
    poll_request: |task| VendorRequest::get(format!("tasks?task_ids={}", encoded_id(task))),
    task_status,
    stop: None,
    refusal,
    rules: RULES,
    lost: Some(|token| VendorRequest::get(format!("tasks?external_task_ids={}", encoded(token)))),
    found: |body| Some(json!({"id": id(&body["data"][0]["id"])?})),
    probe: || VendorRequest::get("tasks?external_task_ids=atelier-probe"),
};

pub(super) const RULES: &[ErrorRule] = &[
    // A clock that is off, or a token at its end: the next call is signed anew.
    ErrorRule::code("1003", Class::Retry),
    ErrorRule::code("1004", Class::Retry),
    ErrorRule::code("1000", Class::Dead),
    ErrorRule::code("1001", Class::Dead),
    ErrorRule::code("1002", Class::Dead),
    ErrorRule::code("1100", Class::Dead),
    ErrorRule::code("1101", Class::Quota),
    ErrorRule::code("1102", Class::Quota),
    ErrorRule::code("1103", Class::Dead),
    // What is not there is a model.
    ErrorRule::code("1203", Class::Model),
    ErrorRule::code("120", Class::BadRequest),
    ErrorRule::code("1300", Class::Reject),
    ErrorRule::code("1301", Class::Reject),
    ErrorRule::code("1302", Class::Rate),
    ErrorRule::code("1303", Class::Rate),
    ErrorRule::code("1304", Class::Dead),
    ErrorRule::code("500", Class::Retry),
    ErrorRule::words(0, "risk control", Class::Reject),
];

fn films(model: &str) -> VideoCapabilities {
    VideoCapabilities {
        lengths: Lengths::Between(3, if model.contains("-4") { 30 } else { 15 }),
        ends: !model.contains("turbo"),
        loops: false,
        references: if model.contains("omni") { 7 } else { 0 },
    }
}

fn film(order: &CallParams<'_>, scene: &VideoRequest) -> VendorRequest {
    let omni = order.model.contains("omni");
    let image = |bytes: &[u8], role: &str| json!({"type": role, "url": STANDARD.encode(bytes)});
    let mut contents = vec![json!({"type": "prompt", "text": scene.prompt})];
    contents.extend(pictures_with_roles(scene, "refer_image", image));
    let resolutions: &[(&str, u32)] = if order.model.contains("turbo") {
        &[("720p", 720), ("1080p", 1080)]
    } else {
        &[("720p", 720), ("1080p", 1080), ("4k", 2160)]
    };
    let mut settings = json!({
        "resolution": scene.resolution(resolutions),
        "duration": scene.seconds,
        "audio": if order.settings.audio { "native" } else { "off" },
    });
    if scene.first.is_none() {
        settings["aspect_ratio"] = json!(nearest_ratio(scene.size, &["16:9", "9:16", "1:1"]));
    }
    let mut options = json!({
        "external_task_id": order.token,
        "watermark_info": {"enabled": false},
    });
    if let Some(hook) = order.hook_url {
        options["callback_url"] = json!(hook);
    }
    let route = match (&scene.first, omni) {
        (_, true) => "omni-video",
        (Some(_), false) => "image-to-video",
        (None, false) => "text-to-video",
    };
    let mut body = json!({
        "settings": order.settings.with_fields(settings),
        "options": options,
    });
    if route == "text-to-video" && order.model.contains("turbo") {
        body["prompt"] = json!(scene.prompt);
    } else {
        body["contents"] = json!(contents);
    }
    VendorRequest::post_json(format!("{route}/{}", encoded(order.model)), &body)
}

/// Everything has a code; 0 is a good one.
pub(super) fn refusal(body: &Value) -> Option<VendorError> {
    let code = body["code"].as_i64().filter(|code| *code != 0)?;
    Some(VendorError::new(
        code.to_string(),
        body["message"].as_str()?,
    ))
}

fn task_status(body: &Value) -> Option<MakerTaskState> {
    let tasks = body["data"].as_array()?;
    let Some(task) = tasks.first() else {
        return Some(MakerTaskState::Gone);
    };
    Some(match task["status"].as_str()? {
        "succeeded" | "succeed" => {
            let outputs = task["outputs"].as_array().into_iter().flatten();
            let videos = outputs.filter(|output| output["type"] == "video");
            MakerTaskState::Done(TaskResult {
                cost: billed(&task["billing"]).or_else(|| units(&task["final_unit_deduction"])),
                ..TaskResult::at(videos.filter_map(|output| output["url"].as_str()))
            })
        }
        "failed" => {
            let code = task["code"].as_i64().map(|code| code.to_string());
            let words = task["message"].as_str().unwrap_or_default();
            MakerTaskState::Failed(VendorError::new(code.unwrap_or_default(), words))
        }
        _ => MakerTaskState::Running,
    })
}

/// What was taken, entry by entry: money where any was taken in dollars, else units of a resource pack.
fn billed(entries: &Value) -> Option<Cost> {
    let entries = entries.as_array()?;
    let sum = |kind: &str, currency: Option<&str>| {
        let of_kind = entries.iter().filter(|entry| {
            entry["charge_type"] == kind && currency.is_none_or(|name| entry["currency"] == name)
        });
        of_kind
            .filter_map(|entry| number(&entry["amount"]))
            .reduce(|one, other| one + other)
    };
    let of = |kind, currency, counted| Cost::of(sum(kind, currency)?, counted);
    of("cash", Some("USD"), "USD")
        .or_else(|| of("cash", Some("CNY"), "CNY"))
        .or_else(|| of("unit", None, "units"))
}

/// What was taken of a resource pack.
pub(super) fn units(value: &Value) -> Option<Cost> {
    Cost::of(number(value)?, "units")
}

/// A number, which comes as a text.
fn number(value: &Value) -> Option<f64> {
    let count = value.as_f64();
    count.or_else(|| value.as_str()?.trim().parse().ok())
}
