//! Builds pictures from simple solids: limbs, blobs, ribbons.

use tiny_skia::{Path, PathBuilder};

use super::art::{Art, Part};
use crate::paint::colour::Rgb;

/// Collects parts back to front.
#[derive(Default)]
pub(crate) struct Builder {
    parts: Vec<Part>,
}

impl Builder {
    /// Adds a part whose colour may be changed by the prompt.
    pub(crate) fn main(&mut self, path: Option<Path>, colour: Rgb) {
        self.push(path, colour, true);
    }

    /// Adds a part that keeps its colour.
    pub(crate) fn fixed(&mut self, path: Option<Path>, colour: Rgb) {
        self.push(path, colour, false);
    }

    fn push(&mut self, path: Option<Path>, colour: Rgb, dye: bool) {
        if let Some(path) = path {
            self.parts.push(Part {
                path,
                colour,
                alpha: 1.0,
                dye,
            });
        }
    }

    /// The parts so far.
    pub(crate) fn parts(self) -> Vec<Part> {
        self.parts
    }

    pub(crate) fn art(self) -> Option<Art> {
        Art::new(self.parts)
    }
}

/// A run of joints with a thickness each, drawn as one rounded limb.
pub(crate) fn limb(joints: &[(f32, f32, f32)]) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for &(x, y, r) in joints {
        ring(&mut builder, x, y, r);
    }
    for pair in joints.windows(2) {
        let ((ax, ay, ar), (bx, by, br)) = (pair[0], pair[1]);
        let (dx, dy) = (bx - ax, by - ay);
        let length = dx.hypot(dy).max(1e-4);
        let (nx, ny) = (-dy / length, dx / length);
        // Same turning sense as the rings, so that overlaps never cancel out.
        builder.move_to(ax - nx * ar, ay - ny * ar);
        builder.line_to(bx - nx * br, by - ny * br);
        builder.line_to(bx + nx * br, by + ny * br);
        builder.line_to(ax + nx * ar, ay + ny * ar);
        builder.close();
    }
    builder.finish()
}

fn ring(builder: &mut PathBuilder, x: f32, y: f32, r: f32) {
    for i in 0..20 {
        let turn = i as f32 / 20.0 * std::f32::consts::TAU;
        let (px, py) = (x + turn.cos() * r, y + turn.sin() * r);
        if i == 0 {
            builder.move_to(px, py);
        } else {
            builder.line_to(px, py);
        }
    }
    builder.close();
}

/// An ellipse around a middle; `None` without an area.
pub(crate) fn oval(x: f32, y: f32, rx: f32, ry: f32) -> Option<Path> {
    PathBuilder::from_oval(tiny_skia::Rect::from_ltrb(x - rx, y - ry, x + rx, y + ry)?)
}

/// A smooth closed shape near the given corners.
pub(crate) fn blob(points: &[(f32, f32)]) -> Option<Path> {
    crate::paint::region::rounded(points)
}

/// A closed shape with straight sides.
pub(crate) fn shape(points: &[(f32, f32)]) -> Option<Path> {
    crate::paint::region::polygon(points)
}

/// The same points seen in a mirror at x = 0, appended in reverse.
pub(crate) fn both(half: &[(f32, f32)]) -> Vec<(f32, f32)> {
    let mut all = half.to_vec();
    all.extend(half.iter().rev().map(|(x, y)| (-x, *y)));
    all
}
