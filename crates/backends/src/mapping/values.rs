//! What placeholders stand for in a piece of work.

use atelier_contract::brief::Task;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::backend::{BoxFuture, Fault, Work};
use crate::fit::Size;
use crate::images::FinishOptions;
use crate::seeds;
use crate::task_vendor::{
    ImageCapabilities, ImageRequest, VideoCapabilities, VideoRequest, nearest_ratio,
};

pub(super) const NAMES: &[&str] = &[
    "prompt",
    "negative",
    "seed",
    "width",
    "height",
    "size",
    "ratio",
    "strength",
    "seconds",
    "seconds_text",
    "resolution",
    "first",
    "last",
    "loop",
    "image",
    "image1",
    "image2",
    "image3",
    "image4",
    "image5",
    "images",
    "mask",
    "mask_black",
];

/// Where a vendor gets a picture from: an address for its bytes.
pub(crate) type UploadFn<'a> =
    &'a (dyn Fn(Bytes) -> BoxFuture<'a, Result<String, Fault>> + Send + Sync);

/// What placeholders stand for.
pub(crate) struct PlaceholderValues {
    prompt: String,
    negative: String,
    seed: Option<u64>,
    size: Option<Size>,
    strength: f64,
    seconds: u32,
    looped: bool,
    first: Option<String>,
    last: Option<String>,
    images: Vec<String>,
    mask: Option<String>,
    /// How pictures are finished.
    pub(crate) finish: FinishOptions,
}

impl PlaceholderValues {
    /// The values for a piece of work, its pictures put where the vendor finds them.
    pub(super) async fn of_work(
        work: &Work,
        films: &VideoCapabilities,
        pictures: &ImageCapabilities,
        place: UploadFn<'_>,
    ) -> Result<Self, Fault> {
        let brief = &work.brief;
        let mut values = Self {
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
            if let Some(bytes) = scene.first {
                values.first = Some(place(bytes).await?);
            }
            if let Some(bytes) = scene.last {
                values.last = Some(place(bytes).await?);
            }
            for bytes in scene.references {
                values.images.push(place(bytes).await?);
            }
            values.prompt = scene.prompt;
            values.seconds = scene.seconds;
            values.size = Some(scene.size);
            return Ok(values);
        }
        let sheet = ImageRequest::of(work, pictures).await?;
        for bytes in sheet.images {
            values.images.push(place(bytes).await?);
        }
        if let Some(bytes) = sheet.mask {
            values.mask = Some(place(bytes).await?);
        }
        values.prompt = sheet.prompt;
        values.size = sheet.size;
        values.finish = sheet.finish;
        Ok(values)
    }

    /// What a placeholder stands for in the start at a place.
    pub(super) fn of(&self, name: &str, place: u32, ratios: &[String]) -> Value {
        let image = |index: usize| json!(self.images.get(index));
        match name {
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
            "first" => json!(self.first),
            "last" => json!(self.last),
            "loop" => json!(self.looped),
            "images" if self.images.is_empty() => Value::Null,
            "images" => json!(self.images),
            "image" | "image1" => image(0),
            "image2" => image(1),
            "image3" => image(2),
            "image4" => image(3),
            "image5" => image(4),
            "mask" | "mask_black" => json!(self.mask),
            _ => Value::Null,
        }
    }
}

fn ratio(size: Size, offered: &[String]) -> String {
    const USUAL: &[&str] = &["16:9", "9:16", "1:1", "4:3", "3:4"];
    let own: Vec<&str> = offered.iter().map(String::as_str).collect();
    let offered = if own.is_empty() { USUAL } else { &own };
    nearest_ratio(size, offered).to_owned()
}

fn resolution((width, height): Size) -> &'static str {
    match width.min(height) {
        0..=480 => "480p",
        481..=800 => "720p",
        _ => "1080p",
    }
}
