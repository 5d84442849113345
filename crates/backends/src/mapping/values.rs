//! What placeholders stand for in a piece of work, its pictures put where the vendor finds them.

use bytes::Bytes;
use serde_json::{Value, json};

use super::order_values::OrderValues;
use crate::backend::{BoxFuture, Fault, Work};
use crate::images::FinishOptions;
use crate::task_vendor::{ImageCapabilities, VideoCapabilities};

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
    order: OrderValues,
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
        let mut order = OrderValues::of_work(work, films, pictures).await?;
        let mut images = Vec::new();
        let first = placed(order.first.take(), place).await?;
        let last = placed(order.last.take(), place).await?;
        for bytes in std::mem::take(&mut order.images) {
            images.push(place(bytes).await?);
        }
        let mask = placed(order.mask.take(), place).await?;
        Ok(Self {
            finish: std::mem::take(&mut order.finish),
            order,
            first,
            last,
            images,
            mask,
        })
    }

    /// What a placeholder stands for in the start at a place.
    pub(super) fn of(&self, name: &str, place: u32, ratios: &[String]) -> Value {
        let image = |index: usize| json!(self.images.get(index));
        match name {
            "first" => json!(self.first),
            "last" => json!(self.last),
            "images" if self.images.is_empty() => Value::Null,
            "images" => json!(self.images),
            "image" | "image1" => image(0),
            "image2" => image(1),
            "image3" => image(2),
            "image4" => image(3),
            "image5" => image(4),
            "mask" | "mask_black" => json!(self.mask),
            other => self.order.scalar(other, place, ratios).unwrap_or_default(),
        }
    }
}

async fn placed(picture: Option<Bytes>, place: UploadFn<'_>) -> Result<Option<String>, Fault> {
    match picture {
        Some(bytes) => place(bytes).await.map(Some),
        None => Ok(None),
    }
}
