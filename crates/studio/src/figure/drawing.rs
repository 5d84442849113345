//! A character while it is drawn: its parts in its own units, back to front.

use std::sync::Arc;

use tiny_skia::Path;

use crate::paint::colour::{Rgb, mix, with_alpha};
use crate::paint::region::Field;

/// Parts of a character without outline lie at this depth.
pub(crate) const SOFT: f32 = 0.02;

/// One colour at `top` that becomes another at `bottom`.
#[derive(Clone, Copy)]
pub(crate) struct Shade {
    pub from: Rgb,
    pub to: Rgb,
    pub top: f32,
    pub bottom: f32,
}

/// Collects the parts of a character in its own units: the face is about 100 wide, its middle is at 0, 0.
#[derive(Default)]
pub(crate) struct Drawing {
    pub(super) parts: Vec<(Path, Field, bool)>,
}

impl Drawing {
    /// Adds an outlined part of one colour.
    pub(crate) fn part(&mut self, path: Option<Path>, colour: Rgb) {
        self.add(path, flat(colour), true);
    }

    /// Adds a part without outline.
    pub(crate) fn soft(&mut self, path: Option<Path>, colour: Rgb) {
        self.add(path, flat(colour), false);
    }

    /// Adds an outlined part that goes from one colour to another.
    pub(crate) fn shaded(&mut self, path: Option<Path>, shade: Shade) {
        let Shade {
            from,
            to,
            top,
            bottom,
        } = shade;
        let field: Field =
            Arc::new(move |_, y| with_alpha(mix(from, to, (y - top) / (bottom - top)), 1.0));
        self.add(path, field, true);
    }

    /// Adds a part with its own colours.
    pub(crate) fn add(&mut self, path: Option<Path>, field: Field, outlined: bool) {
        if let Some(path) = path {
            self.parts.push((path, field, outlined));
        }
    }
}

fn flat(colour: Rgb) -> Field {
    let rgba = with_alpha(colour, 1.0);
    Arc::new(move |_, _| rgba)
}
