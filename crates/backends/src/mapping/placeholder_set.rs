//! The placeholders of a template, and what follows from them for what its model can do.

use std::collections::BTreeSet;

use atelier_contract::brief::Brief;

use crate::backend::Fault;
use crate::inputs::unsupported;
use crate::task_vendor::{ImageCapabilities, Lengths, MaskSupport, VideoCapabilities};

/// Pictures that a list of them may have.
const MOST_IMAGES: usize = 10;

/// The names of the placeholders of a template.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlaceholderSet(BTreeSet<String>);

impl<'a> FromIterator<&'a str> for PlaceholderSet {
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Self {
        Self(names.into_iter().map(str::to_owned).collect())
    }
}

impl PlaceholderSet {
    /// Whether there is a place for one of these.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.0.contains(*name))
    }

    /// What a model of these lengths can do, if it makes videos.
    pub(crate) fn films(&self, lengths: Lengths) -> VideoCapabilities {
        VideoCapabilities {
            lengths,
            ends: self.has(&["last"]),
            loops: self.has(&["loop"]),
            references: if self.has(&["images"]) {
                MOST_IMAGES
            } else {
                0
            },
        }
    }

    /// Refuses a video that begins with a picture where the model has no place for one.
    pub(crate) fn check_frames(&self, brief: &Brief) -> Result<(), Fault> {
        let takes = self.has(&["first", "images", "image", "image1"]);
        match brief.sources.first() {
            Some(source) if brief.task.is_video() && !takes => Err(unsupported(
                &source.field,
                "no back end for images is available",
            )),
            _ => Ok(()),
        }
    }

    /// What a model can do, if it makes pictures.
    pub(crate) fn pictures(&self) -> ImageCapabilities {
        let references = (1..=5).rev().find(|number| match number {
            1 => self.has(&["image", "image1"]),
            number => self.has(&[&*format!("image{number}")]),
        });
        ImageCapabilities {
            masks: match (self.has(&["mask"]), self.has(&["mask_black"])) {
                (true, _) => MaskSupport::White,
                (_, true) => MaskSupport::Black,
                _ => MaskSupport::None,
            },
            references: match (self.has(&["images"]), references) {
                (true, _) => MOST_IMAGES,
                (false, some) => some.unwrap_or(0),
            },
            negative: self.has(&["negative"]),
            transparent: false,
            backgrounds: true,
        }
    }
}
