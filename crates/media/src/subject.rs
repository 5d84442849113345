//! What can be drawn: a name, the coloured parts of its picture, where it belongs and how large it is.

use std::sync::Arc;

use tiny_skia::{Path, Rect};

use crate::scene::{Dice, Rgb, Wanted};

mod beast;
mod bird;
mod build;
mod emoji;
pub(crate) mod kind;
mod own;
mod person;
mod plant;
mod portrait;
mod vector;
mod writing;

pub(crate) use build::{blob, both, limb, oval, shape};
pub use kind::{Habitat, Kind};
pub(crate) use own::{OWN, home, own_for};
pub(crate) use writing::has_writing;

/// One flat region of a subject's picture.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Its outline in the subject's own units.
    pub path: Path,
    /// Its colour.
    pub colour: Rgb,
    /// Its opacity.
    pub alpha: f32,
    /// Whether a colour in the prompt changes it.
    pub dye: bool,
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
pub(crate) fn drawn(want: &Wanted, dice: &Dice) -> Option<Art> {
    if let Some(drawing) = &want.drawing {
        return Art::new(vector::parts(drawing));
    }
    let cloth = want.colour.map(|c| c.map(|v| f32::from(v) / 255.0));
    let own = dice.part(&want.key, 3);
    beast::art(&want.key, &own)
        .or_else(|| bird::art(&want.key, &own))
        .or_else(|| person::art(&want.key, cloth, &own))
        .or_else(|| plant::art(&want.key, &own))
        .or_else(|| portrait::art(&want.key, cloth, &own))
        .or_else(|| svg(&want.key).and_then(|svg| Art::new(vector::parts(svg))))
        .or_else(|| emoji::art(&want.key))
}

/// The drawings we keep as vector files.
fn svg(key: &str) -> Option<&'static str> {
    Some(match key {
        "sailboat" => include_str!("../assets/subjects/sailboat.svg"),
        "galleon" => include_str!("../assets/subjects/galleon.svg"),
        "steamship" => include_str!("../assets/subjects/steamship.svg"),
        "lighthouse" => include_str!("../assets/subjects/lighthouse.svg"),
        "house" => include_str!("../assets/subjects/house.svg"),
        "windmill" => include_str!("../assets/subjects/windmill.svg"),
        "hot air balloon" => include_str!("../assets/subjects/balloon.svg"),
        "vase of flowers" => include_str!("../assets/subjects/vase.svg"),
        "bowl of fruit" => include_str!("../assets/subjects/fruit_bowl.svg"),
        "robot" => include_str!("../assets/subjects/robot.svg"),
        "bridge" => include_str!("../assets/subjects/bridge.svg"),
        "pagoda" => include_str!("../assets/subjects/temple.svg"),
        _ => return None,
    })
}
