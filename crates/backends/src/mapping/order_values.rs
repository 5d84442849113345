//! What a piece of work asks for, as the values that templates name; pictures are bytes, and become what a vendor takes later.

use atelier_contract::brief::Task;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::backend::{Fault, Work};
use crate::fit::Size;
use crate::images::FinishOptions;
use crate::seeds;
use crate::task_vendor::{
    ImageCapabilities, ImageRequest, VideoCapabilities, VideoRequest, nearest_ratio,
};

/// The shapes of a model that names none.
const USUAL_RATIOS: &[&str] = &["16:9", "9:16", "1:1", "4:3", "3:4"];

/// What a piece of work asks for.
pub(crate) struct OrderValues {
    prompt: String,
    negative: String,
    seed: Option<u64>,
    /// The size of the results; `None` leaves it to the vendor.
    pub(crate) size: Option<Size>,
    strength: f64,
    seconds: u32,
    looped: bool,
    /// The frame that a video begins with.
    pub(crate) first: Option<Bytes>,
    /// The frame that it ends on.
    pub(crate) last: Option<Bytes>,
    /// Given pictures, the one to change first.
    pub(crate) images: Vec<Bytes>,
    /// The region to change.
    pub(crate) mask: Option<Bytes>,
    /// How pictures are finished.
    pub(crate) finish: FinishOptions,
}

impl OrderValues {
    /// The values of a piece of work for a model that can do so much.
    pub(crate) async fn of_work(
        work: &Work,
        films: &VideoCapabilities,
        pictures: &ImageCapabilities,
    ) -> Result<Self, Fault> {
        let brief = &work.brief;
        let values = Self {
            prompt: String::new(),
            negative: brief.negative.clone(),
            seed: brief.seed,
            size: None,
            strength: brief.strength,
            seconds: brief.seconds,
            looped: brief.looped,
            first: None,
            last: None,
            images: Vec::new(),
            mask: None,
            finish: FinishOptions::default(),
        };
        if matches!(brief.task, Task::Animate | Task::Extend(_)) {
            let scene = VideoRequest::of(work, films).await?;
            return Ok(Self {
                first: scene.first,
                last: scene.last,
                images: scene.references,
                prompt: scene.prompt,
                seconds: scene.seconds,
                size: Some(scene.size),
                ..values
            });
        }
        let sheet = ImageRequest::of(work, pictures).await?;
        Ok(Self {
            images: sheet.images,
            mask: sheet.mask,
            prompt: sheet.prompt,
            size: sheet.size,
            finish: sheet.finish,
            ..values
        })
    }

    /// What a placeholder stands for that is no picture, in the start at a place; `None` for another name.
    pub(crate) fn scalar(&self, name: &str, place: u32, ratios: &[String]) -> Option<Value> {
        Some(match name {
            "prompt" => json!(self.prompt),
            "negative" if self.negative.is_empty() => Value::Null,
            "negative" => json!(self.negative),
            "seed" => json!(
                self.seed
                    .map(|seed| seeds::member(seed, place as usize) & 0x7fff_ffff)
            ),
            "width" => json!(self.size.map(|size| size.0)),
            "height" => json!(self.size.map(|size| size.1)),
            "size" => json!(self.size.map(|(width, height)| format!("{width}x{height}"))),
            "ratio" => json!(self.size.map(|size| ratio(size, ratios))),
            "strength" => json!(self.strength),
            "seconds" => json!(self.seconds),
            "seconds_text" => json!(self.seconds.to_string()),
            "resolution" => json!(self.size.map(resolution)),
            "loop" => json!(self.looped),
            _ => return None,
        })
    }
}

fn ratio(size: Size, offered: &[String]) -> String {
    let own: Vec<&str> = offered.iter().map(String::as_str).collect();
    let offered = if own.is_empty() { USUAL_RATIOS } else { &own };
    nearest_ratio(size, offered).to_owned()
}

fn resolution((width, height): Size) -> &'static str {
    match width.min(height) {
        0..=480 => "480p",
        481..=800 => "720p",
        _ => "1080p",
    }
}
