//! The fields of a call.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::plan::WebUiCall;
use super::server::SdWebUi;
use crate::backend::{Fault, Work};
use crate::fit::Size;
use crate::inputs;

/// Softness of a mask's border, in pixels.
const MASK_BLUR: u32 = 4;
/// The server starts from what the picture shows under the mask.
const FROM_ORIGINAL: u32 = 1;
/// The server enlarges to a given width and height.
const TO_SIZE: u32 = 1;

impl SdWebUi {
    /// Path and body of a stroke; `None` for one that needs no call.
    pub(super) async fn body(
        &self,
        work: &Work,
        stroke: WebUiCall,
        seed: u64,
        task: &str,
    ) -> Result<Option<(&'static str, Value)>, Fault> {
        Ok(match stroke {
            WebUiCall::Same(_) => None,
            WebUiCall::Larger(picture, (width, height)) => {
                let image = STANDARD.encode(inputs::png(picture).await?);
                let body = json!({
                    "image": image,
                    "resize_mode": TO_SIZE,
                    "upscaling_resize_w": width,
                    "upscaling_resize_h": height,
                    "upscaling_crop": false,
                    "upscaler_1": self.settings.upscaler,
                });
                Some(("sdapi/v1/extra-single-image", body))
            }
            WebUiCall::Words(size, count) => {
                let body = self.fields(work, seed, task, size, count);
                Some(("sdapi/v1/txt2img", Value::Object(body)))
            }
            WebUiCall::From {
                base,
                mask,
                strength,
                size,
                count,
            } => {
                let mut body = self.fields(work, seed, task, size, count);
                body.insert("denoising_strength".into(), json!(strength.clamp(0.0, 1.0)));
                if let Some(mask) = mask {
                    let drawing = inputs::white(&mask.resized(base.width, base.height));
                    let drawing = STANDARD.encode(inputs::png(drawing).await?);
                    body.insert("mask".into(), json!(drawing));
                    body.insert("mask_blur".into(), json!(MASK_BLUR));
                    body.insert("inpainting_fill".into(), json!(FROM_ORIGINAL));
                    body.insert("inpaint_full_res".into(), json!(false));
                    body.insert("inpainting_mask_invert".into(), json!(0));
                }
                let image = STANDARD.encode(inputs::png(base.on([255; 3])).await?);
                body.insert("init_images".into(), json!([image]));
                Some(("sdapi/v1/img2img", Value::Object(body)))
            }
        })
    }

    fn fields(
        &self,
        work: &Work,
        seed: u64,
        task: &str,
        size: Size,
        count: u32,
    ) -> Map<String, Value> {
        let (brief, settings) = (&work.brief, &self.settings);
        let batch = settings.images_per_batch.min(count).max(1);
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| {
            fields.insert(name.to_owned(), value);
        };
        put("prompt", json!(words(work)));
        let negative = [&*brief.negative, &*settings.negative_prompt];
        let negative: Vec<_> = negative.into_iter().filter(|one| !one.is_empty()).collect();
        put("negative_prompt", json!(negative.join(", ")));
        put("seed", json!(seed));
        put("width", json!(size.0));
        put("height", json!(size.1));
        put("batch_size", json!(batch));
        put("n_iter", json!(count.div_ceil(batch)));
        let extra = &brief.extra;
        put(
            "steps",
            json!(extra["steps"].as_u64().unwrap_or(u64::from(settings.steps))),
        );
        put(
            "cfg_scale",
            json!(extra["scale"].as_f64().unwrap_or(settings.cfg_scale)),
        );
        if let Some(sampler) = sampler(extra).or_else(|| settings.sampler.clone()) {
            put("sampler_name", json!(sampler));
        }
        if let Some(scheduler) = scheduler(extra).or_else(|| settings.scheduler.clone()) {
            put("scheduler", json!(scheduler));
        }
        let routed = brief.vendor_model.as_deref();
        if let Some(checkpoint) = routed.or_else(|| settings.checkpoint(&brief.model)) {
            put(
                "override_settings",
                json!({"sd_model_checkpoint": checkpoint}),
            );
        }
        put("send_images", json!(true));
        put("save_images", json!(false));
        put("force_task_id", json!(task));
        fields
    }
}

/// The prompt, with the characters of an anime picture after it.
fn words(work: &Work) -> String {
    let mut words = work.brief.prompt.replace("sd_cpp_extra_args", "");
    let characters = work.brief.extra["character_prompts"].as_array();
    for character in characters.into_iter().flatten() {
        if let Some(more) = character["prompt"].as_str() {
            words.push_str(", ");
            words.push_str(more);
        }
    }
    words
}

fn sampler(extra: &Value) -> Option<String> {
    let name = extra["sampler"].as_str()?;
    Some(match name {
        "Euler Ancestral" => "Euler a".to_owned(),
        "DPM++ 2S Ancestral" => "DPM++ 2S a".to_owned(),
        other => other.to_owned(),
    })
}

fn scheduler(extra: &Value) -> Option<String> {
    let name = extra["noise_schedule"].as_str()?;
    let mut letters = name.chars();
    let first = letters.next()?.to_ascii_uppercase();
    Some(std::iter::once(first).chain(letters).collect())
}
