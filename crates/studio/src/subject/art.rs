//! The picture of a subject: coloured parts back to front, in its own units.

use std::sync::Arc;

use tiny_skia::{Path, Rect};

use crate::paint::colour::Rgb;

/// One flat region of a subject's picture.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Its outline in the subject's own units.
    pub path: Path,
    pub colour: Rgb,
    pub alpha: f32,
    /// Whether a colour in the prompt changes it.
    pub dye: bool,
}

/// The picture of a subject: parts back to front.
#[derive(Clone, Debug)]
pub(crate) struct Art {
    pub parts: Arc<Vec<Part>>,
    /// What the parts fill together.
    pub bounds: Rect,
}

impl Art {
    /// A picture from parts; `None` when there is nothing to see.
    pub(crate) fn new(parts: Vec<Part>) -> Option<Self> {
        let mut bounds = parts.first()?.path.bounds();
        for part in &parts {
            let more = part.path.bounds();
            bounds = Rect::from_ltrb(
                bounds.left().min(more.left()),
                bounds.top().min(more.top()),
                bounds.right().max(more.right()),
                bounds.bottom().max(more.bottom()),
            )?;
        }
        Some(Self {
            parts: Arc::new(parts),
            bounds,
        })
    }
}
