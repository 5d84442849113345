//! Pictures of Imagen's: from words alone, one call for each.

use serde_json::json;

use crate::backend::{Fault, Work};
use crate::http::VendorRequest;
use crate::seeds;
use crate::task_vendor::{
    FileSource, ImageCapabilities, ImageRequest, MaskSupport, TaskPlan, TaskReply, TaskResult,
    TaskStatus, nearest_ratio,
};
use crate::vendor_errors;

/// What the models can do.
pub(super) const CAN: ImageCapabilities = ImageCapabilities {
    masks: MaskSupport::None,
    references: 0,
    negative: false,
    transparent: false,
    backgrounds: false,
};
const RATIOS: &[&str] = &["1:1", "3:4", "4:3", "9:16", "16:9"];

pub(super) async fn plan(work: &Work, path: String) -> Result<TaskPlan<'_>, Fault> {
    let sheet = ImageRequest::of(work, &CAN).await?;
    let mut parameters = json!({"sampleCount": 1, "includeRaiReason": true});
    if let Some((width, height)) = sheet.size {
        parameters["aspectRatio"] = json!(nearest_ratio((width, height), RATIOS));
        parameters["sampleImageSize"] = json!(if width.max(height) > 1408 { "2K" } else { "1K" });
    }
    let seed = work.brief.seed;
    let prompt = sheet.prompt;
    Ok(TaskPlan::each(work, sheet.finish, move |place| {
        let mut parameters = parameters.clone();
        if let Some(seed) = seed {
            parameters["seed"] = json!(seeds::member(seed, place as usize) & 0x7fff_ffff);
            // With a mark that cannot be seen no seed is taken.
            parameters["addWatermark"] = json!(false);
        }
        let body = json!({"instances": [{"prompt": prompt}], "parameters": parameters});
        VendorRequest::post_json(path.clone(), &body)
    }))
}

/// The picture of an answer; what a review took away is said in its place, or leaves nothing.
pub(super) fn made(mut reply: TaskReply) -> Result<TaskStatus, Fault> {
    let body = std::mem::take(&mut reply.body);
    if !body.is_object() {
        return Err(reply.nonsense());
    }
    let all = body["predictions"].as_array().into_iter().flatten();
    let all: Vec<_> = all.collect();
    let files: Vec<FileSource> = all
        .iter()
        .filter_map(|one| reply.file(&one["bytesBase64Encoded"]))
        .map(FileSource::File)
        .collect();
    if !files.is_empty() {
        return Ok(TaskStatus::Done(TaskResult {
            files,
            ..TaskResult::default()
        }));
    }
    let reason = all.iter().find_map(|one| one["raiFilteredReason"].as_str());
    match reason {
        None if !all.is_empty() => Err(reply.nonsense()),
        reason => Ok(TaskStatus::Failed(Fault {
            detail: vendor_errors::shortened(reason.unwrap_or("no picture came")),
            ..vendor_errors::refused_by_review()
        })),
    }
}
