//! Alibaba Model Studio: Wan videos as tasks, Qwen-Image pictures within the call.

use serde_json::{Value, json};

use super::dialect::{CallParams, MakerDialect, MakerTaskState, pictures_with_roles};
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
    video_model: "wan3.0-video",
    image_model: Some("qwen-image-3.0"),
    makes: SupportedTasks::PICTURES_AND_VIDEOS,
    films: |_| VideoCapabilities {
        lengths: Lengths::Between(2, 30),
        ends: true,
        loops: false,
        references: 10,
    },
    pictures: ImageCapabilities {
        masks: MaskSupport::Painted,
        references: 6,
        negative: true,
        transparent: false,
        backgrounds: true,
    },
    seeds: (true, true),
    film,
    paint,
    task: |body, _| Some(json!({"id": id(&body["output"]["task_id"])?})),
    painted,
    poll_request: |task| VendorRequest::get(format!("tasks/{}", encoded_id(task))),
    task_status,
    stop: Some(|task| {
        VendorRequest::post_json(format!("tasks/{}/cancel", encoded_id(task)), &json!({}))
    }),
    refusal: |body| {
        let code = body.get("code").and_then(Value::as_str)?;
        let refused = !code.is_empty();
        refused.then(|| VendorError::read(body)).flatten()
    },
    rules: RULES,
    lost: None,
    found: |_| None,
    probe: || VendorRequest::get("tasks/00000000-0000-0000-0000-000000000000"),
};

const RATIOS: &[&str] = &["16:9", "9:16", "1:1", "4:3", "3:4"];
/// Sides of pictures are multiples of this.
const STEP: u32 = 16;
const MOST_PIXELS: f64 = 2048.0 * 2048.0;

const RULES: &[ErrorRule] = &[
    ErrorRule::code("invalidapikey", Class::Dead),
    ErrorRule::code("model.accessdenied", Class::Model),
    ErrorRule::code("accessdenied", Class::Dead),
    ErrorRule::code("arrearage", Class::Quota),
    // Tokens of a minute; the quota that is used up has the word alone.
    ErrorRule::code("throttling", Class::Rate),
    ErrorRule::code("allocationquota", Class::Quota),
    ErrorRule::code("datainspectionfailed", Class::Reject),
    ErrorRule::code("invalidparameter", Class::BadRequest),
    ErrorRule::code("internalerror", Class::Retry),
    ErrorRule::code("modelnotfound", Class::Model),
    ErrorRule::code("unsupportedmodel", Class::Model),
    ErrorRule::code("badrequest.emptymodel", Class::Model),
];

fn film(order: &CallParams<'_>, scene: &VideoRequest) -> VendorRequest {
    let media = |bytes: &[u8], role: &str| json!({"type": role, "url": data_uri(bytes)});
    let all = pictures_with_roles(scene, "reference_image", media);
    let mut input = json!({"prompt": scene.prompt});
    if !all.is_empty() {
        input["media"] = json!(all);
    }
    let resolutions = &[("480P", 480), ("720P", 720), ("1080P", 1080)];
    let mut parameters = json!({
        "resolution": scene.resolution(resolutions),
        "duration": scene.seconds,
        "audio": order.settings.audio,
        "prompt_extend": true,
        "watermark": false,
    });
    if scene.first.is_none() {
        parameters["ratio"] = json!(nearest_ratio(scene.size, RATIOS));
    }
    if let Some(seed) = order.seed {
        parameters["seed"] = json!(seed);
    }
    let parameters = order.settings.with_fields(parameters);
    let body = json!({"model": order.model, "input": input, "parameters": parameters});
    VendorRequest::post_json("services/aigc/video-generation/video-synthesis", &body)
        .header("x-dashscope-async", "enable")
}

fn paint(order: &CallParams<'_>, sheet: &ImageRequest) -> VendorRequest {
    let images = sheet
        .images
        .iter()
        .map(|bytes| json!({"image": data_uri(bytes)}));
    let mut content: Vec<Value> = images.collect();
    content.push(json!({"text": sheet.prompt}));
    let mut parameters = json!({"n": 1, "prompt_extend": true, "watermark": false});
    if let Some(size) = sheet.size {
        let (width, height) = fit::stepped(size, STEP, MOST_PIXELS);
        parameters["size"] = json!(format!("{width}*{height}"));
    }
    if !sheet.negative.is_empty() {
        parameters["negative_prompt"] = json!(sheet.negative);
    }
    if let Some(seed) = order.seed {
        parameters["seed"] = json!(seed);
    }
    let body = json!({
        "model": order.model,
        "input": {"messages": [{"role": "user", "content": content}]},
        "parameters": order.settings.with_fields(parameters),
    });
    VendorRequest::post_json("services/aigc/multimodal-generation/generation", &body)
}

fn painted(reply: &mut TaskReply) -> TaskResult {
    let choices = reply.body["output"]["choices"].as_array();
    let content = choices.into_iter().flatten().flat_map(|choice| {
        choice["message"]["content"]
            .as_array()
            .into_iter()
            .flatten()
    });
    TaskResult {
        cost: counted(&reply.body["usage"]["image_count"], "images"),
        ..TaskResult::at(content.filter_map(|item| item["image"].as_str()))
    }
}

/// Seconds of video, or pictures, that were counted.
fn counted(count: &Value, currency: &'static str) -> Option<Cost> {
    Cost::of(count.as_f64()?, currency)
}

fn task_status(body: &Value) -> Option<MakerTaskState> {
    let output = &body["output"];
    Some(match output["task_status"].as_str()? {
        "SUCCEEDED" => MakerTaskState::Done(TaskResult {
            cost: counted(&body["usage"]["duration"], "seconds"),
            ..TaskResult::at(output["video_url"].as_str())
        }),
        "FAILED" => MakerTaskState::Failed(VendorError::read(output).unwrap_or_default()),
        "CANCELED" | "UNKNOWN" => MakerTaskState::Gone,
        _ => MakerTaskState::Running,
    })
}
