//! What can be drawn: a name, the coloured parts of its picture, where it belongs and how large it is.

use std::sync::Arc;

use tiny_skia::{Path, Rect};

use crate::scene::{Dice, Rgb, Wanted};

mod emoji;
pub(crate) mod kind;
mod vector;

pub use kind::{Habitat, Kind};

/// One flat region of a subject's picture.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Its outline in the subject's own units.
    pub path: Path,
    /// Its colour.
    pub colour: Rgb,
    /// Its opacity.
    pub alpha: f32,
}

/// The picture of a subject: parts back to front.
#[derive(Clone, Debug)]
pub(crate) struct Art {
    /// Flat regions.
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

/// The picture of a wanted subject.
pub(crate) fn drawn(want: &Wanted, _dice: &Dice) -> Option<Art> {
    emoji::art(&want.key)
}

/// A subject of our own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Own {
    /// Its name and key.
    pub key: &'static str,
    /// Where it belongs.
    pub habitat: Habitat,
    /// Its size, 0..1.
    pub size: f32,
}

/// All subjects of our own.
pub(crate) const OWN: &[Own] = &[];

/// The subject of our own that is better than this emoji's picture.
pub(crate) fn own_for(_glyph: &str) -> Option<&'static str> {
    None
}

/// Where a subject lives when nobody says.
pub(crate) fn home(_key: &str) -> Option<crate::scene::Setting> {
    None
}
