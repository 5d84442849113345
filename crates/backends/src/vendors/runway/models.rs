//! The vendor's models, by what can be asked of each: a table beside this file, taken from the vendor's own client.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::field_error::FieldError;
use crate::fit::{self, Size};
use crate::task_vendor::{
    ImageCapabilities, Lengths, MaskSupport, VideoCapabilities, nearest_ratio,
};

/// References beside the words of one video.
const REFERENCES: usize = 9;

/// One way to ask a model.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunwayModel {
    /// Shapes, as pixels or as numbers.
    #[serde(default)]
    ratios: Vec<String>,
    #[serde(default)]
    resolutions: Vec<String>,
    /// The only lengths, where it does not take any in a range.
    #[serde(default)]
    seconds: Vec<u32>,
    /// Its shortest and its longest video.
    #[serde(default)]
    between: Option<[u32; 2]>,
    /// Fields that it has beyond those of all.
    #[serde(default)]
    takes: Vec<String>,
}

/// What an operator says of a model that the table does not know, or knows differently: the ways it can be asked.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ModelRules {
    text_to_video: Option<RunwayModel>,
    image_to_video: Option<RunwayModel>,
    text_to_image: Option<RunwayModel>,
}

/// Every model, by the way it is asked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelTable {
    pub(super) text_to_video: BTreeMap<String, RunwayModel>,
    pub(super) image_to_video: BTreeMap<String, RunwayModel>,
    pub(super) text_to_image: BTreeMap<String, RunwayModel>,
}

impl ModelTable {
    /// Reads the table that comes with the program.
    pub(super) fn read() -> Result<Self, FieldError> {
        serde_json::from_str(include_str!("models.json")).map_err(FieldError::settings)
    }

    /// Takes over what an operator says of models; it wins over the table.
    pub(super) fn with_rules(mut self, rules: BTreeMap<String, ModelRules>) -> Self {
        for (name, own) in rules {
            let ways = [
                (&mut self.text_to_video, own.text_to_video),
                (&mut self.image_to_video, own.image_to_video),
                (&mut self.text_to_image, own.text_to_image),
            ];
            for (table, rule) in ways {
                table.remove(&name);
                table.extend(rule.map(|rule| (name.clone(), rule)));
            }
        }
        self
    }

    /// Refuses a model that is not in the table.
    pub(super) fn check(&self, name: &str) -> Result<(), FieldError> {
        let tables = [
            &self.text_to_video,
            &self.image_to_video,
            &self.text_to_image,
        ];
        if tables.iter().any(|table| table.contains_key(name)) {
            return Ok(());
        }
        let known = tables.iter().flat_map(|table| table.keys());
        let mut known: Vec<_> = known.map(String::as_str).collect();
        known.sort_unstable();
        known.dedup();
        Err(FieldError::settings(format!(
            "{name} is not a model that is known here; say under rules how it is asked, or name one of {}",
            known.join(", ")
        )))
    }
}

impl RunwayModel {
    pub(super) fn takes(&self, field: &str) -> bool {
        self.takes.iter().any(|taken| taken == field)
    }

    /// The offered shape that loses least; `None` where the model has none.
    pub(super) fn ratio(&self, size: Size) -> Option<&str> {
        let pixels = |text: &String| {
            let (width, height) = text.split_once(':')?;
            let size: Size = (width.parse().ok()?, height.parse().ok()?);
            (size.0 >= 100).then_some(size)
        };
        let sizes: Vec<Size> = self.ratios.iter().filter_map(pixels).collect();
        if !sizes.is_empty() {
            let (width, height) = fit::nearest(size, &sizes);
            let best = format!("{width}:{height}");
            let known = self.ratios.iter().find(|text| **text == best);
            return known.map(String::as_str);
        }
        let short = size.0.min(size.1);
        let automatic = self.ratios.iter().filter(|text| text.starts_with("auto_"));
        let automatic: Vec<&str> = automatic.map(String::as_str).collect();
        if !automatic.is_empty() {
            let class = if short > 800 {
                "auto_1080p"
            } else {
                "auto_720p"
            };
            return automatic.into_iter().find(|text| *text == class);
        }
        let shapes = self.ratios.iter().map(String::as_str);
        let shapes: Vec<&str> = shapes.filter(|text| text.contains(':')).collect();
        (!shapes.is_empty()).then(|| nearest_ratio(size, &shapes))
    }

    /// The offered resolution that is large enough.
    pub(super) fn resolution(&self, size: Size) -> Option<&str> {
        let wanted = size.0.min(size.1);
        let side = |text: &str| match text {
            "2k" => 1440,
            text => text.trim_end_matches('p').parse().unwrap_or(0),
        };
        let enough = self.resolutions.iter().find(|text| side(text) >= wanted);
        enough.or(self.resolutions.last()).map(String::as_str)
    }
}

/// What a video model can do, by words and by frames.
pub(super) fn films(free: Option<&RunwayModel>, framed: Option<&RunwayModel>) -> VideoCapabilities {
    let lengths = match framed.or(free) {
        Some(model) if !model.seconds.is_empty() => Lengths::Of(model.seconds.clone()),
        Some(RunwayModel {
            between: Some([from, to]),
            ..
        }) => Lengths::Between(*from, *to),
        _ => Lengths::Between(1, 10),
    };
    let references = free.is_some_and(|model| model.takes("references"));
    VideoCapabilities {
        lengths,
        ends: framed.is_some_and(|model| model.takes("last")),
        loops: false,
        references: if references { REFERENCES } else { 0 },
    }
}

/// What an image model can do.
pub(super) fn pictures(model: &RunwayModel) -> ImageCapabilities {
    ImageCapabilities {
        masks: if model.takes("maskUri") {
            MaskSupport::White
        } else {
            MaskSupport::None
        },
        references: if model.takes("referenceImages") {
            10
        } else {
            0
        },
        negative: false,
        transparent: false,
        backgrounds: true,
    }
}
