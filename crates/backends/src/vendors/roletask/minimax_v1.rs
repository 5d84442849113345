//! MiniMax by the first version of its interface, which still sells Hailuo 02 and 2.3: a file is asked for by itself.

use atelier_contract::brief::Task;
use serde_json::{Value, json};

use super::dialect::{CallParams, MakerDialect, MakerTaskState};
use super::minimax;
use crate::http::{VendorRequest, encoded};
use crate::inputs::data_uri;
use crate::models::SupportedTasks;
use crate::task_vendor::{Lengths, TaskResult, VideoCapabilities, VideoRequest, encoded_id, id};
use crate::vendor_errors::VendorError;

pub(super) const DIALECT: MakerDialect = MakerDialect {
    video_model: "MiniMax-Hailuo-02",
    image_model: Some("image-01"),
    makes: SupportedTasks {
        images: &[Task::Draw],
        videos: true,
        clips_in_fours: true,
    },
    films,
    pictures: minimax::PICTURES,
    seeds: (false, true),
    film,
    paint: minimax::paint,
    task: |body, _| Some(json!({"id": id(&body["task_id"])?})),
    painted: minimax::painted,
    poll_request,
    task_status,
    // There is no call that stops a task.
    stop: None,
    refusal: minimax::refusal,
    rules: minimax::RULES,
    lost: None,
    found: |_| None,
    probe: || VendorRequest::get("v1/query/video_generation?task_id=0"),
};

fn films(model: &str) -> VideoCapabilities {
    VideoCapabilities {
        lengths: Lengths::Of(vec![6, 10]),
        ends: model.ends_with("-02"),
        loops: false,
        references: 0,
    }
}

fn film(order: &CallParams<'_>, scene: &VideoRequest) -> VendorRequest {
    // Ten seconds are made in the smaller size alone.
    let resolutions: &[(&str, u32)] = match scene.seconds {
        10 => &[("768P", 768)],
        _ => &[("768P", 768), ("1080P", 1080)],
    };
    let mut body = json!({
        "model": order.model,
        "prompt": scene.prompt,
        "duration": scene.seconds,
        "resolution": scene.resolution(resolutions),
        "aigc_watermark": false,
    });
    let frames = [
        ("first_frame_image", &scene.first),
        ("last_frame_image", &scene.last),
    ];
    for (name, frame) in frames {
        if let Some(bytes) = frame {
            body[name] = json!(data_uri(bytes));
        }
    }
    VendorRequest::post_json("v1/video_generation", &order.settings.with_fields(body))
}

fn poll_request(task: &Value) -> VendorRequest {
    if let Some(file) = task["file"].as_str() {
        return VendorRequest::get(format!("v1/files/retrieve?file_id={}", encoded(file)));
    }
    VendorRequest::get(format!(
        "v1/query/video_generation?task_id={}",
        encoded_id(task)
    ))
}

fn task_status(body: &Value) -> Option<MakerTaskState> {
    if body["file"].is_object() {
        let address = body["file"]["download_url"].as_str()?;
        return Some(MakerTaskState::Done(TaskResult::at(Some(address))));
    }
    Some(match body["status"].as_str()? {
        "Success" => {
            let file = &body["file_id"];
            let number = file.as_u64().map(|number| json!(number.to_string()));
            let file = number.unwrap_or_else(|| file.clone());
            MakerTaskState::Next(json!({"file": id(&file)?}))
        }
        "Fail" => {
            let said = body["error_message"].as_str().unwrap_or_default();
            MakerTaskState::Failed(VendorError::new("", said))
        }
        _ => MakerTaskState::Running,
    })
}
