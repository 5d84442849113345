//! Kling by the older of its interfaces, which is still sold: videos from words and those from pictures have paths of their own.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::dialect::{CallParams, MakerDialect, MakerTaskState};
use super::kling;
use crate::http::{VendorRequest, encoded};
use crate::models::SupportedTasks;
use crate::task_vendor::{
    ImageCapabilities, ImageRequest, Lengths, MaskSupport, TaskReply, TaskResult,
    VideoCapabilities, VideoRequest, encoded_id, id, nearest_ratio,
};
use crate::vendor_errors::VendorError;

pub(super) const DIALECT: MakerDialect = MakerDialect {
    video_model: "kling-v2-6",
    image_model: None,
    makes: SupportedTasks {
        images: &[],
        videos: true,
        clips_in_fours: true,
    },
    films: |_| VideoCapabilities {
        lengths: Lengths::Of(vec![5, 10]),
        ends: true,
        loops: false,
        references: 0,
    },
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
    task: |body, pictured| {
        let number = id(&body["data"]["task_id"])?;
        Some(json!({"id": number, "route": route(pictured)}))
    },
    painted: |_: &mut TaskReply| TaskResult::default(),
    poll_request: |task| {
        let route = task["route"].as_str().unwrap_or_else(|| route(false));
        VendorRequest::get(format!("v1/videos/{}/{}", encoded(route), encoded_id(task)))
    },
    task_status,
    stop: None,
    refusal: kling::refusal,
    rules: kling::RULES,
    lost: None,
    found: |_| None,
    probe: || VendorRequest::get("v1/videos/text2video?pageNum=1&pageSize=1"),
};

fn route(pictured: bool) -> &'static str {
    if pictured {
        "image2video"
    } else {
        "text2video"
    }
}

fn film(order: &CallParams<'_>, scene: &VideoRequest) -> VendorRequest {
    let mut body = json!({
        "model_name": order.model,
        "prompt": scene.prompt,
        // A text, unlike in the newer interface.
        "duration": scene.seconds.to_string(),
        "mode": scene.resolution(&[("std", 720), ("pro", 1080)]),
        "sound": if order.settings.audio { "on" } else { "off" },
        "external_task_id": order.token,
    });
    for (name, frame) in [("image", &scene.first), ("image_tail", &scene.last)] {
        if let Some(bytes) = frame {
            body[name] = json!(STANDARD.encode(bytes));
        }
    }
    if scene.first.is_none() {
        body["aspect_ratio"] = json!(nearest_ratio(scene.size, &["16:9", "9:16", "1:1"]));
    }
    if let Some(hook) = order.hook_url {
        body["callback_url"] = json!(hook);
    }
    let path = format!("v1/videos/{}", route(scene.first.is_some()));
    VendorRequest::post_json(path, &order.settings.with_fields(body))
}

fn task_status(body: &Value) -> Option<MakerTaskState> {
    let task = &body["data"];
    Some(match task["task_status"].as_str()? {
        "succeed" | "succeeded" => {
            let videos = task["task_result"]["videos"]
                .as_array()
                .into_iter()
                .flatten();
            MakerTaskState::Done(TaskResult {
                cost: kling::units(&task["final_unit_deduction"]),
                ..TaskResult::at(videos.filter_map(|one| one["url"].as_str()))
            })
        }
        "failed" => {
            let said = task["task_status_msg"].as_str().unwrap_or_default();
            MakerTaskState::Failed(VendorError::new("", said))
        }
        _ => MakerTaskState::Running,
    })
}
