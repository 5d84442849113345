//! The body of a picture, as the vendor's own page sends it for its fourth models.

use std::collections::BTreeMap;

use atelier_media::Picture;
use serde_json::{Value, json};

use crate::backend::{Fault, Work};
use crate::fit::{self, Size};
use crate::inputs::unsupported;
use crate::seeds;

/// Sides are multiples of this.
const STEP: u32 = 64;
/// No side is longer.
const MOST_SIDE: u32 = 1600;
/// No picture is larger.
const MOST_PIXELS: f64 = 3_145_728.0;
/// References are laid out on this size.
const SHEET: Size = (1024, 1536);
/// Words for quality, as the vendor's page adds them.
const QUALITY: &str = "very aesthetic, masterpiece, no text";

/// What is asked for.
pub(super) struct NovelAiRequest {
    /// The size to order.
    pub(super) size: Size,
    /// The seed of the first picture.
    pub(super) seed: u64,
    prompt: String,
}

impl NovelAiRequest {
    /// What a piece of work asks for.
    pub(super) fn of(
        work: &Work,
        model: &str,
        quality: &BTreeMap<String, String>,
    ) -> Result<Self, Fault> {
        let brief = &work.brief;
        let list = |name: &str| {
            let list = work.request.get(name).and_then(Value::as_array);
            list.is_some_and(|list| !list.is_empty())
        };
        if list("vibe_transfer") && list("character_reference") {
            let why = "no back end takes it together with vibe_transfer";
            return Err(unsupported("character_reference", why));
        }
        let fifth = model.contains("diffusion-5");
        if fifth && list("vibe_transfer") {
            return Err(unsupported(
                "vibe_transfer",
                "no back end for vibes is available",
            ));
        }
        if list("character_reference") && !model.contains("4-5") {
            let why = "no back end for references is available";
            return Err(unsupported("character_reference", why));
        }
        let (width, height) = fit::stepped((brief.width, brief.height), STEP, MOST_PIXELS);
        let size = (width.min(MOST_SIDE), height.min(MOST_SIDE));
        let toggle = brief.extra["quality_toggle"] != false;
        let added = quality.get(model).map_or(QUALITY, String::as_str);
        let prompt = if toggle && !added.is_empty() {
            format!("{}, {added}", brief.prompt)
        } else {
            brief.prompt.clone()
        };
        let seed = brief.seed.unwrap_or_else(|| seeds::of_job(&work.job_id));
        Ok(Self {
            size,
            seed: seed & 0xffff_ffff,
            prompt,
        })
    }

    /// The body without pictures.
    pub(super) fn body(&self, work: &Work, model: &str) -> Value {
        let (brief, extra) = (&work.brief, &work.brief.extra);
        let cast = extra["character_prompts"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let placed = cast
            .iter()
            .any(|one| centre(one) != json!({"x": 0.5, "y": 0.5}));
        let captions = |field: &str| -> Value {
            cast.iter()
                .map(|one| json!({"char_caption": one[field].as_str().unwrap_or_default(), "centers": [centre(one)]}))
                .collect()
        };
        let characters: Value = cast.iter().map(character).collect();
        let fifth = model.contains("diffusion-5");
        let parameters = json!({
            "params_version": if fifth { 4 } else { 3 },
            "width": self.size.0,
            "height": self.size.1,
            "scale": extra["scale"],
            "sampler": sampler(extra["sampler"].as_str().unwrap_or_default()),
            "steps": extra["steps"],
            "n_samples": brief.count.clamp(1, 8),
            "seed": self.seed,
            "noise_schedule": extra["noise_schedule"],
            "qualityToggle": extra["quality_toggle"],
            "ucPreset": 4,
            "negative_prompt": brief.negative,
            "cfg_rescale": 0,
            "dynamic_thresholding": false,
            "legacy": false,
            "legacy_uc": false,
            "legacy_v3_extend": false,
            "autoSmea": false,
            "deliberate_euler_ancestral_bug": false,
            "prefer_brownian": true,
            "add_original_image": true,
            "controlnet_strength": 1,
            "skip_cfg_above_sigma": null,
            "use_coords": placed,
            "normalize_reference_strength_multiple": true,
            "inpaintImg2ImgStrength": 1,
            "characterPrompts": characters,
            "v4_prompt": {
                "caption": {"base_caption": self.prompt, "char_captions": captions("prompt")},
                "use_coords": placed,
                "use_order": true,
            },
            "v4_negative_prompt": {
                "caption": {"base_caption": brief.negative, "char_captions": captions("uc")},
                "legacy_uc": false,
            },
            "image_format": "png",
        });
        json!({
            "input": self.prompt,
            "model": model,
            "action": "generate",
            "parameters": parameters,
        })
    }
}

fn character(one: &Value) -> Value {
    json!({
        "prompt": one["prompt"],
        "uc": one["uc"].as_str().unwrap_or_default(),
        "center": centre(one),
        "enabled": true,
    })
}

fn centre(character: &Value) -> Value {
    let side = |name: &str| character["center"][name].as_f64().unwrap_or(0.5);
    json!({"x": side("x"), "y": side("y")})
}

fn sampler(ours: &str) -> &'static str {
    match ours {
        "Euler" => "k_euler",
        "DPM++ 2S Ancestral" => "k_dpmpp_2s_ancestral",
        "DPM++ 2M SDE" => "k_dpmpp_2m_sde",
        "DPM++ 2M" => "k_dpmpp_2m",
        "DPM++ SDE" => "k_dpmpp_sde",
        _ => "k_euler_ancestral",
    }
}

/// Adds pictures whose mood is taken over, in the vendor's own form.
pub(super) fn add_vibes(parameters: &mut Value, work: &Work, tokens: &[String]) {
    if tokens.is_empty() {
        return;
    }
    parameters["reference_image_multiple"] = json!(tokens);
    let all = numbers(work, "vibe_transfer", "strength", 0.6);
    parameters["reference_strength_multiple"] = json!(all);
}

/// Adds pictures whose character or style is taken over. Faithfulness is counted the other way round there.
pub(super) fn add_references(parameters: &mut Value, work: &Work, pictures: &[String]) {
    if pictures.is_empty() {
        return;
    }
    const FIELD: &str = "character_reference";
    let kinds = work.request.get(FIELD).and_then(Value::as_array);
    let kinds = kinds.into_iter().flatten();
    let described: Value = kinds
        .map(|one| {
            let kind = one["type"].as_str().unwrap_or("character&style");
            json!({"caption": {"base_caption": kind, "char_captions": []}, "legacy_uc": false})
        })
        .collect();
    let loose = numbers(work, FIELD, "fidelity", 0.0);
    let loose = loose
        .into_iter()
        .map(|faith| ((1.0 - faith) * 100.0).round() / 100.0);
    parameters["director_reference_images"] = json!(pictures);
    parameters["director_reference_descriptions"] = described;
    parameters["director_reference_information_extracted"] = json!(vec![1.0; pictures.len()]);
    parameters["director_reference_strength_values"] = json!(numbers(work, FIELD, "strength", 1.0));
    parameters["director_reference_secondary_strength_values"] = loose.collect();
}

fn numbers(work: &Work, list: &str, field: &str, usual: f64) -> Vec<f64> {
    let list = work.request.get(list).and_then(Value::as_array);
    let list = list.into_iter().flatten();
    list.map(|one| one[field].as_f64().unwrap_or(usual))
        .collect()
}

/// A picture in the middle of a black sheet.
pub(super) fn letterboxed(picture: &Picture) -> Picture {
    let across = f64::from(SHEET.0) / f64::from(picture.width.max(1));
    let down = f64::from(SHEET.1) / f64::from(picture.height.max(1));
    let side = |length: u32, most: u32| {
        ((f64::from(length) * across.min(down)).round() as u32).clamp(1, most)
    };
    let (width, height) = (side(picture.width, SHEET.0), side(picture.height, SHEET.1));
    let mut sheet = Picture::filled(SHEET.0, SHEET.1, [0, 0, 0, 255]);
    let left = i64::from((SHEET.0 - width) / 2);
    let top = i64::from((SHEET.1 - height) / 2);
    sheet.pasted(&picture.on([0; 3]).resized(width, height), left, top);
    sheet
}
