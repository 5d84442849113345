//! What Stability's models at Bedrock are sent: the fields of its own interface, as JSON.

use atelier_contract::brief::{Brief, Task};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::backend::{Fault, Work};
use crate::http::VendorRequest;
use crate::inputs::unsupported;
use crate::seeds;
use crate::task_vendor::{ImageCapabilities, ImageRequest, MaskSupport, TaskPlan, nearest_ratio};

const RATIOS: &[&str] = &[
    "21:9", "16:9", "3:2", "5:4", "1:1", "4:5", "2:3", "9:16", "9:21",
];

/// What a model can do for a request. Some of them are services for one thing.
pub(super) fn pictures(model: &str, brief: &Brief) -> Result<ImageCapabilities, Fault> {
    let removes = model.contains("remove-background");
    let wrong = match brief.task {
        Task::RemoveBackground => !removes,
        Task::Draw => removes || model.contains("inpaint"),
        _ => removes,
    };
    if wrong {
        return Err(unsupported(
            "model",
            "no back end makes this with this model",
        ));
    }
    Ok(ImageCapabilities {
        masks: if model.contains("inpaint") {
            MaskSupport::White
        } else {
            MaskSupport::None
        },
        // The largest general ones alone change pictures.
        references: match brief.task {
            Task::Draw => 0,
            _ if model.contains("image-core") => 0,
            _ => 1,
        },
        negative: true,
        transparent: false,
        backgrounds: false,
    })
}

pub(super) async fn plan<'a>(
    work: &'a Work,
    model: &str,
    path: String,
) -> Result<TaskPlan<'a>, Fault> {
    let brief = &work.brief;
    let sheet = ImageRequest::of(work, &pictures(model, brief)?).await?;
    let mut body = json!({"output_format": "png"});
    if brief.task != Task::RemoveBackground {
        body["prompt"] = json!(sheet.prompt);
        if !sheet.negative.is_empty() {
            body["negative_prompt"] = json!(sheet.negative);
        }
    }
    match (sheet.images.first(), &sheet.mask) {
        (Some(image), Some(mask)) => {
            body["image"] = json!(STANDARD.encode(image));
            body["mask"] = json!(STANDARD.encode(mask));
            body["grow_mask"] = json!(0);
        }
        (Some(image), None) if brief.task == Task::RemoveBackground => {
            body["image"] = json!(STANDARD.encode(image));
        }
        (Some(image), None) => {
            body["mode"] = json!("image-to-image");
            body["image"] = json!(STANDARD.encode(image));
            body["strength"] = json!(match brief.task {
                Task::Restyle => brief.strength,
                _ => 0.75,
            });
        }
        (None, _) => {
            if let Some(size) = sheet.size {
                body["aspect_ratio"] = json!(nearest_ratio(size, RATIOS));
            }
        }
    }
    let seed = brief.seed.filter(|_| brief.task != Task::RemoveBackground);
    Ok(TaskPlan::each(work, sheet.finish, move |place| {
        let mut body = body.clone();
        if let Some(seed) = seed {
            body["seed"] = json!(seeds::member(seed, place as usize) & 0x7fff_ffff);
        }
        VendorRequest::post_json(path.clone(), &body)
    }))
}
