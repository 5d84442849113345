//! Videos of Veo's: an operation is begun, and asked about until its videos are there.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::faults;
use crate::backend::{Fault, Work};
use crate::http::VendorRequest;
use crate::images::FinishOptions;
use crate::inputs::media_type;
use crate::seeds;
use crate::task_vendor::{
    FileSource, Lengths, TaskPlan, TaskReply, TaskResult, TaskStatus, VideoCapabilities,
    VideoRequest, id, nearest_ratio,
};
use crate::vendor_errors;

/// What the models can do; lengths are those of all of them.
pub(super) const FILMS: VideoCapabilities = VideoCapabilities {
    lengths: Lengths::Between(4, 8),
    ends: true,
    loops: false,
    references: 0,
};
const RESOLUTIONS: &[(&str, u32)] = &[("720p", 720), ("1080p", 1080)];
/// Lengths come in steps.
const STEP: u32 = 2;

fn image(bytes: &[u8]) -> Value {
    json!({"bytesBase64Encoded": STANDARD.encode(bytes), "mimeType": media_type(bytes)})
}

pub(super) async fn plan(work: &Work, path: String, audio: bool) -> Result<TaskPlan<'_>, Fault> {
    let scene = VideoRequest::of(work, &FILMS).await?;
    let mut instance = json!({"prompt": scene.prompt});
    if let Some(first) = &scene.first {
        instance["image"] = image(first);
    }
    if let Some(last) = &scene.last {
        instance["lastFrame"] = image(last);
    }
    let parameters = json!({
        "sampleCount": 1,
        "durationSeconds": scene.seconds.next_multiple_of(STEP),
        "aspectRatio": nearest_ratio(scene.size, &["16:9", "9:16"]),
        "resolution": scene.resolution(RESOLUTIONS),
        "generateAudio": audio,
    });
    let seed = work.brief.seed;
    let finish = FinishOptions::default();
    Ok(TaskPlan::each(work, finish, move |place| {
        let mut parameters = parameters.clone();
        if let Some(seed) = seed {
            parameters["seed"] = json!(seeds::member(seed, place as usize) & 0x7fff_ffff);
        }
        let body = json!({"instances": [instance], "parameters": parameters});
        VendorRequest::post_json(path.clone(), &body)
    }))
}

/// The operation of an answer to a start; the model is a part of every question about it.
pub(super) fn started(reply: &TaskReply, model: &str) -> Result<TaskStatus, Fault> {
    match id(&reply.body["name"]) {
        Some(name) => Ok(TaskStatus::Task(json!({"id": name, "model": model}))),
        None => Err(reply.nonsense()),
    }
}

/// The question about an operation.
pub(super) fn question(path: String, task: &Value) -> VendorRequest {
    VendorRequest::post_json(path, &json!({"operationName": task["id"]}))
}

/// What the answer to it says.
pub(super) fn task_status(mut reply: TaskReply) -> Result<TaskStatus, Fault> {
    let body = std::mem::take(&mut reply.body);
    if !body["name"].is_string() && body["done"] != true {
        return Err(reply.nonsense());
    }
    if body["done"] != true {
        return Ok(TaskStatus::Running(None));
    }
    if body["error"].is_object() {
        let said = faults::words(&body).unwrap_or_default();
        let fault = vendor_errors::failed_by(faults::RULES, &said);
        // An operation says what is wrong with the words or the pictures by its code alone.
        let fault = match body["error"]["code"].as_u64() {
            Some(3) if fault.class.may_pass() => Fault {
                detail: fault.detail,
                ..vendor_errors::refused_by_review()
            },
            _ => fault,
        };
        return Ok(TaskStatus::Failed(fault));
    }
    let response = &body["response"];
    let videos = response["videos"].as_array().into_iter().flatten();
    let mut files = Vec::new();
    for video in videos {
        if let Some(bytes) = reply.file(&video["bytesBase64Encoded"]) {
            files.push(FileSource::File(bytes));
        }
    }
    if !files.is_empty() {
        return Ok(TaskStatus::Done(TaskResult {
            files,
            ..TaskResult::default()
        }));
    }
    let reason = response["raiMediaFilteredReasons"][0].as_str();
    let filtered = response["raiMediaFilteredCount"].as_u64() > Some(0);
    Ok(TaskStatus::Failed(match (reason, filtered) {
        (None, false) => Fault::useless("it is done, and no video is there"),
        (reason, _) => Fault {
            detail: vendor_errors::shortened(reason.unwrap_or_default()),
            ..vendor_errors::refused_by_review()
        },
    }))
}
