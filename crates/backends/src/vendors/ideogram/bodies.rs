//! What Ideogram is sent: JSON for words alone, a form where pictures go along.

use atelier_contract::brief::Task;
use atelier_media::{Limits, decode};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::backend::{Fault, Work};
use crate::http::{MultipartForm, VendorRequest};
use crate::inputs::{media_type, unsupported};
use crate::task_vendor::{ImageCapabilities, ImageRequest, MaskSupport, nearest_ratio};

const RATIOS: &[&str] = &[
    "1x1", "1x3", "3x1", "1x2", "2x1", "9x16", "16x9", "10x16", "16x10", "2x3", "3x2", "3x4",
    "4x3", "4x5", "5x4",
];

/// What a model can do: a picture to edit, and up to four beside it, or three beside a mask.
pub(super) const fn can(older: bool, has_mask: bool) -> ImageCapabilities {
    ImageCapabilities {
        masks: MaskSupport::Black,
        references: match (older, has_mask) {
            (true, _) => 1,
            (false, true) => 4,
            (false, false) => 5,
        },
        negative: older,
        transparent: false,
        backgrounds: true,
    }
}

/// The fields of a call.
pub(super) fn fields(work: &Work, sheet: &ImageRequest, older: bool) -> Value {
    let brief = &work.brief;
    let mut fields = json!({"async": true});
    let single = matches!(
        brief.task,
        Task::RemoveBackground | Task::CrispUpscale | Task::CreativeUpscale
    );
    if !single {
        fields["prompt"] = json!(sheet.prompt);
        fields["num_images"] = json!(brief.count.clamp(1, 8));
    }
    if let Some(seed) = brief.seed {
        fields["seed"] = json!(seed & 0x7fff_ffff);
    }
    if let (Task::Draw | Task::Restyle, Some(size)) = (brief.task, sheet.size) {
        fields["aspect_ratio"] = json!(nearest_ratio(size, RATIOS));
    }
    if older && !sheet.negative.is_empty() {
        fields["negative_prompt"] = json!(sheet.negative);
    }
    if brief.task == Task::Restyle {
        // High there means close to the picture.
        let weight = ((1.0 - brief.strength) * 100.0).round().clamp(1.0, 100.0);
        fields["image_weight"] = json!(weight as u8);
    }
    fields
}

/// The call, with its pictures.
pub(super) fn call(
    path: String,
    fields: &Value,
    sheet: &ImageRequest,
) -> Result<VendorRequest, Fault> {
    if sheet.images.is_empty() {
        return Ok(VendorRequest::post_json(path, fields));
    }
    let mut form = MultipartForm::of(fields.as_object().unwrap_or(&serde_json::Map::new()));
    for (index, image) in sheet.images.iter().enumerate() {
        let field = if index == 0 {
            "image"
        } else {
            "reference_images"
        };
        let kind = media_type(image);
        let name = format!("image-{index}.{}", kind.trim_start_matches("image/"));
        form = form.file(field, &name, kind, image.clone());
    }
    if let Some(mask) = &sheet.mask {
        check(mask)?;
        form = form.file("mask", "mask.png", "image/png", mask.clone());
    }
    let (body, media_type) = form.finish();
    Ok(VendorRequest::new(http::Method::POST, path).body(body, media_type))
}

/// The vendor refuses a mask of one colour.
fn check(mask: &Bytes) -> Result<(), Fault> {
    let drawing =
        decode(mask, Limits::default()).map_err(|error| Fault::ours(error.to_string()))?;
    let has = |value: u8| drawing.pixels().iter().any(|pixel| pixel[0] == value);
    if has(0) && has(255) {
        Ok(())
    } else {
        Err(unsupported("mask", "must have a black and a white part"))
    }
}
