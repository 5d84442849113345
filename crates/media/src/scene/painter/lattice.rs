//! Colours that hardly change from pixel to pixel, worked out on a coarse grid of the world and read between its
//! points. The grid stays where it is whatever part of the world is seen, so every window shows the same colours.

use std::sync::Arc;

use rayon::prelude::*;

use crate::scene::canvas::Frame;
use crate::scene::colour::Rgba;
use crate::scene::mask::Cover;
use crate::scene::region::{Field, Region};

/// A step must be at least this many pixels long, or the grid would save nothing.
const LEAST_PIXELS: f32 = 1.5;
/// Styles look this far around a pixel for the colour of its stroke or cell.
const AROUND: f32 = 0.05;

/// Colours at the points of a grid, premultiplied so that they can be mixed.
struct Lattice {
    step: f32,
    first: (i32, i32),
    wide: usize,
    points: Vec<Rgba>,
    exact: Field,
}

/// The region with its colours read from a grid; `None` where that would save nothing.
pub(super) fn read_from_grid(region: &Region, cover: &Cover, frame: &Frame) -> Option<Region> {
    let step = region.step;
    if step * frame.scale < LEAST_PIXELS {
        return None;
    }
    let (dx, dy) = frame.shift(region.depth);
    let (left, top) = frame.world(cover.x as f32, cover.y as f32);
    let (right, bottom) = frame.world(
        (cover.x + cover.width) as f32,
        (cover.y + cover.height) as f32,
    );
    let cell = |place: f32| (place / step).floor() as i32;
    let first = (cell(left - dx - AROUND), cell(top - dy - AROUND));
    let last = (
        cell(right - dx + AROUND) + 1,
        cell(bottom - dy + AROUND) + 1,
    );
    let wide = (last.0 - first.0 + 1) as usize;
    let high = (last.1 - first.1 + 1) as usize;
    let mut points = vec![[0.0; 4]; wide * high];
    points
        .par_chunks_mut(wide)
        .enumerate()
        .for_each(|(row, line)| {
            let y = (first.1 + row as i32) as f32 * step;
            for (column, point) in line.iter_mut().enumerate() {
                let x = (first.0 + column as i32) as f32 * step;
                let [r, g, b, a] = (region.field)(x, y);
                *point = [r * a, g * a, b * a, a];
            }
        });
    let lattice = Lattice {
        step,
        first,
        wide,
        points,
        exact: region.field.clone(),
    };
    Some(Region {
        field: Arc::new(move |x, y| lattice.at(x, y)),
        ..region.clone()
    })
}

impl Lattice {
    fn at(&self, x: f32, y: f32) -> Rgba {
        let u = x / self.step - self.first.0 as f32;
        let v = y / self.step - self.first.1 as f32;
        let (column, row) = (u as usize, v as usize);
        let at = row.wrapping_mul(self.wide).wrapping_add(column);
        let inside = u >= 0.0 && v >= 0.0 && column.wrapping_add(1) < self.wide;
        let rows = (
            self.points.get(at..at.wrapping_add(2)),
            self.points
                .get(at.wrapping_add(self.wide)..at.wrapping_add(self.wide).wrapping_add(2)),
        );
        let (true, (Some(upper), Some(lower))) = (inside, rows) else {
            return (self.exact)(x, y);
        };
        let (s, t) = (u - column as f32, v - row as f32);
        let between = |channel: usize| {
            let top = upper[0][channel] + (upper[1][channel] - upper[0][channel]) * s;
            let low = lower[0][channel] + (lower[1][channel] - lower[0][channel]) * s;
            top + (low - top) * t
        };
        let alpha = between(3);
        if alpha <= 0.0 {
            return [0.0; 4];
        }
        let undo = 1.0 / alpha;
        [
            between(0) * undo,
            between(1) * undo,
            between(2) * undo,
            alpha,
        ]
    }
}
