//! Puts a character together back to front and places it in the world.

use std::sync::Arc;

use tiny_skia::{Path, Transform};

use super::style::SOFT;
use super::{Pose, Traits, body, eyes, hair, outfit, stance};
use crate::scene::{Field, Item, Region, Rgb, Role, mix, with_alpha};

/// Collects the parts of a character in its own units: the face is about 100 wide, its middle is at 0, 0.
pub(crate) struct Drawing {
    parts: Vec<(Path, Field, bool)>,
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

    /// Adds an outlined part that goes from one colour at `top` to another at `bottom`.
    pub(crate) fn shaded(
        &mut self,
        path: Option<Path>,
        colours: (Rgb, Rgb),
        (top, bottom): (f32, f32),
    ) {
        let field: Field = Arc::new(move |_, y| {
            with_alpha(mix(colours.0, colours.1, (y - top) / (bottom - top)), 1.0)
        });
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

/// The items of a character whose face is at a place of the world.
pub(crate) fn items(traits: &Traits, (x, y): (f32, f32), scale: f32) -> Vec<Item> {
    let mut all = Drawing { parts: Vec::new() };
    hair::behind(&mut all, traits);
    if traits.pose == Pose::Full {
        stance::behind(&mut all, traits);
    }
    outfit::outfit(&mut all, traits);
    body::head(&mut all, traits);
    eyes::eyes(&mut all, traits);
    body::mouth(&mut all, traits);
    hair::front(&mut all, traits);
    body::extras(&mut all, traits);
    let place = Transform::from_row(scale, 0.0, 0.0, scale, x, y);
    all.parts
        .into_iter()
        .filter_map(|(path, field, outlined)| {
            let path = path.transform(place)?;
            let own: Field = Arc::new(move |wx, wy| field((wx - x) / scale, (wy - y) / scale));
            // Outlined parts are told from soft ones by their depth; nothing here moves with the camera.
            let depth = if outlined { 0.0 } else { SOFT };
            Some(Item::Fill(Region::new(path, own, Role::Subject, depth)))
        })
        .collect()
}
