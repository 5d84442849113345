//! Anime figures: a character put together back to front from its traits, and placed in the world.

mod body;
pub(crate) mod drawing;
mod eyes;
mod hair;
mod outfit;
pub(crate) mod stance;
pub(crate) mod traits;

use std::sync::Arc;

use tiny_skia::Transform;

use crate::paint::region::{Field, Item, Region, Role};
use drawing::{Drawing, SOFT};
use traits::{Pose, Traits};

/// The items of a character whose face is at a place of the world.
pub(crate) fn items(traits: &Traits, (x, y): (f32, f32), scale: f32) -> Vec<Item> {
    let mut all = Drawing::default();
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
