//! What serves an operation: which call, with which model, and what that model makes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::pointer::text_of;
use crate::field_error::FieldError;
use crate::fit::{self, Size};
use crate::models::ModelNames;
use crate::task_vendor::Lengths;

/// The longest side that a size may have.
const MOST_SIDE: u32 = 16_384;
/// No picture has more pixels where sizes go in steps.
const MOST_PIXELS: f64 = 64e6;

/// What serves an operation.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelEntry {
    /// Which of `calls`.
    pub(super) call: String,
    /// The vendor's name of the model, or one for each of ours (`*` for any other).
    #[serde(default)]
    pub(super) model: Option<ModelNames>,
    /// Values of your own for the call, as `{{with.NAME}}`.
    #[serde(default)]
    pub(super) with: Map<String, Value>,
    /// The lengths of videos that it offers, in seconds; any when empty. Otherwise the next longer one is ordered.
    #[serde(default)]
    seconds: Vec<u32>,
    /// The shortest and the longest video, where any length between them is offered.
    #[serde(default)]
    seconds_between: Option<[u32; 2]>,
    /// The shapes that it offers, such as `16:9`.
    #[serde(default)]
    pub(super) ratios: Vec<String>,
    /// The sizes that it offers, such as `1024x1024`; any when empty.
    #[serde(default)]
    sizes: Vec<String>,
    /// Sides are multiples of this.
    #[serde(default)]
    size_step: Option<u32>,
    /// The words for the shorter side of a video, such as `{"720p": 720}`.
    #[serde(default)]
    resolutions: BTreeMap<String, u32>,
    /// The most pictures that it takes.
    #[serde(default)]
    pub(super) most_images: Option<usize>,
    /// The most results of one call that has `{{count}}`; or how many every call makes without being told.
    #[serde(default)]
    per_call: Option<u32>,
}

/// The same, understood.
#[derive(Clone, Debug)]
pub(super) struct ModelOffer {
    pub(super) written: ModelEntry,
    sizes: Vec<Size>,
    /// By the side, the shortest first.
    resolutions: Vec<(String, u32)>,
}

impl ModelOffer {
    pub(super) fn new(written: ModelEntry, place: &str) -> Result<Self, FieldError> {
        let wrong = |name: &str, why: &str| Err(FieldError::new(format!("{place}.{name}"), why));
        let sizes: Option<Vec<Size>> = written.sizes.iter().map(|text| size(text)).collect();
        let Some(sizes) = sizes else {
            return wrong("sizes", "must be sizes such as 1024x1024");
        };
        if !written.seconds.is_empty() && written.seconds_between.is_some() {
            return wrong("seconds", "must not stand beside seconds_between");
        }
        if written
            .seconds_between
            .is_some_and(|[from, to]| from > to || to > 3600)
        {
            return wrong(
                "seconds_between",
                "must be two lengths, the shorter one first",
            );
        }
        let is_ratio = |text: &String| {
            let sides = text.split_once([':', 'x']);
            sides.is_some_and(|(wide, high)| {
                let side = |text: &str| text.parse::<f64>().is_ok_and(|side| side > 0.0);
                side(wide) && side(high)
            })
        };
        if !written.ratios.iter().all(is_ratio) {
            return wrong("ratios", "must be shapes such as 16:9");
        }
        if written.with.values().any(|value| text_of(value).is_none()) {
            return wrong("with", "must have texts, numbers or truths");
        }
        let mut resolutions: Vec<_> = written.resolutions.clone().into_iter().collect();
        resolutions.sort_by_key(|(_, side)| *side);
        Ok(Self {
            written,
            sizes,
            resolutions,
        })
    }

    /// The lengths of videos.
    pub(super) fn lengths(&self) -> Lengths {
        match (self.written.seconds_between, &*self.written.seconds) {
            (Some([from, to]), _) => Lengths::Between(from, to),
            (None, []) => Lengths::Between(1, 60),
            (None, some) => Lengths::Of(some.to_vec()),
        }
    }

    /// The size to ask for so that the wanted one can be cut from it.
    pub(super) fn size(&self, wanted: Size) -> Size {
        match (self.sizes.is_empty(), self.written.size_step) {
            (false, _) => fit::nearest(wanted, &self.sizes),
            (true, Some(step)) => fit::stepped(wanted, step, MOST_PIXELS),
            (true, None) => wanted,
        }
    }

    /// The word for a video whose shorter side is so long; `None` where it has no words of its own.
    pub(super) fn resolution(&self, (width, height): Size) -> Option<&str> {
        let side = width.min(height);
        let enough = self.resolutions.iter().find(|(_, one)| *one >= side);
        let word = enough.or(self.resolutions.last());
        word.map(|(word, _)| word.as_str())
    }

    /// How many results one call makes of so many.
    pub(super) fn per_call(&self, counts: bool) -> u32 {
        let usual = if counts { 16 } else { 1 };
        self.written.per_call.unwrap_or(usual).clamp(1, 16)
    }

    /// The vendor's name of one of our models.
    pub(super) fn model(&self, ours: &str) -> Option<&str> {
        match self.written.model.as_ref()? {
            ModelNames::One(name) => Some(name),
            ModelNames::Each(names) => {
                let name = names.get(ours).or_else(|| names.get("*"));
                name.map(String::as_str)
            }
        }
    }
}

/// A size such as `1024x1024`.
fn size(text: &str) -> Option<Size> {
    let side = |text: &str| {
        text.parse()
            .ok()
            .filter(|side| (1..=MOST_SIDE).contains(side))
    };
    let (width, height) = text.split_once('x')?;
    Some((side(width)?, side(height)?))
}
