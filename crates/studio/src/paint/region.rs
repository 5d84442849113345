//! What a scene is made of before any style touches it: regions of the world, each with a colour for every point.

use std::sync::Arc;

use tiny_skia::{Path, PathBuilder};

use super::colour::{Rgb, Rgba, with_alpha};

/// The colour of a point of the world.
pub(crate) type Field = Arc<dyn Fn(f32, f32) -> Rgba + Send + Sync>;

/// What a region shows; styles treat each kind in their own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The sky or the wall behind everything.
    Sky,
    /// Sun, moon, stars, lamps, beams.
    Light,
    Cloud,
    /// Mountains and other far land.
    Far,
    /// The ground one could stand on.
    Ground,
    /// Water seen from above.
    Water,
    /// Trees, grass, flowers.
    Plant,
    /// Things that were built.
    Building,
    /// What the prompt names.
    Subject,
    /// A shadow on the ground.
    Shadow,
    /// Rain, snow and sparks in front of everything.
    Weather,
}

/// How a region joins what is behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blend {
    Cover,
    Darken,
    Glow,
}

/// One region of the world.
#[derive(Clone)]
pub(crate) struct Region {
    /// Its outline in world units.
    pub path: Path,
    pub field: Field,
    pub role: Role,
    /// 0 is right before the camera, 1 at the end of the world.
    pub depth: f32,
    /// How it joins what is behind.
    pub blend: Blend,
    /// World units within which its colours hardly change; 0 when they may jump anywhere.
    pub step: f32,
}

/// Still water: what is above the line is seen again below it.
#[derive(Clone)]
pub(crate) struct Mirror {
    /// Where the water is.
    pub path: Path,
    /// The line things are mirrored at.
    pub line: f32,
    /// How much of the mirror image shows, 0..1.
    pub strength: f32,
    /// How far the waves have come, in turns.
    pub phase: f32,
}

/// One step in drawing a scene.
#[derive(Clone)]
pub(crate) enum Item {
    Fill(Region),
    /// Mirror what is painted so far.
    Mirror(Mirror),
}

impl Region {
    /// A region that covers what is behind it.
    pub(crate) fn new(path: Path, field: Field, role: Role, depth: f32) -> Self {
        Self {
            path,
            field,
            role,
            depth,
            blend: Blend::Cover,
            step: 0.0,
        }
    }

    /// The same region, joined otherwise.
    pub(crate) fn blended(mut self, blend: Blend) -> Self {
        self.blend = blend;
        self
    }

    /// The same region, whose colours hardly change within so many world units: they need not be worked out for
    /// every pixel.
    pub(crate) fn smooth(mut self, step: f32) -> Self {
        self.step = step;
        self
    }
}

pub(crate) fn plain(colour: Rgb) -> Field {
    let rgba = with_alpha(colour, 1.0);
    Arc::new(move |_, _| rgba)
}

/// A closed polygon; `None` when it has no area to speak of.
pub(crate) fn polygon(points: &[(f32, f32)]) -> Option<Path> {
    let (first, rest) = points.split_first()?;
    let mut builder = PathBuilder::new();
    builder.move_to(first.0, first.1);
    for &(x, y) in rest {
        builder.line_to(x, y);
    }
    builder.close();
    builder.finish()
}

/// A rectangle by its corners.
pub(crate) fn rectangle(left: f32, top: f32, right: f32, bottom: f32) -> Option<Path> {
    tiny_skia::Rect::from_ltrb(left, top, right, bottom).map(PathBuilder::from_rect)
}

/// An ellipse by centre and radii.
pub(crate) fn ellipse(x: f32, y: f32, rx: f32, ry: f32) -> Option<Path> {
    let rect = tiny_skia::Rect::from_ltrb(x - rx, y - ry, x + rx, y + ry)?;
    PathBuilder::from_oval(rect)
}

/// A closed smooth curve through the middles between the given corners.
pub(crate) fn rounded(points: &[(f32, f32)]) -> Option<Path> {
    let count = points.len();
    if count < 3 {
        return None;
    }
    let middle = |a: (f32, f32), b: (f32, f32)| ((a.0 + b.0) * 0.5, (a.1 + b.1) * 0.5);
    let mut builder = PathBuilder::new();
    let start = middle(points[count - 1], points[0]);
    builder.move_to(start.0, start.1);
    for index in 0..count {
        let (corner, next) = (points[index], points[(index + 1) % count]);
        let end = middle(corner, next);
        builder.quad_to(corner.0, corner.1, end.0, end.1);
    }
    builder.close();
    builder.finish()
}
