//! Colours that hardly change from pixel to pixel, worked out on a coarse grid of the world and read between its
//! points. The grid stays where it is whatever part of the world is seen, so every window shows the same colours.
//! Each tile of it is worked out when somebody looks there first: much of a region is hidden by what is before it.

use std::sync::{Arc, OnceLock};

use crate::paint::canvas::Frame;
use crate::paint::colour::Rgba;
use crate::paint::cover::Cover;
use crate::paint::region::{Field, Region};

/// A step must be at least this many pixels long, or the grid would save nothing.
const LEAST_PIXELS: f32 = 1.5;
/// Styles look this far around a pixel for the colour of its stroke or cell.
const AROUND: f32 = 0.05;
/// From here on a colour covers everything; most do.
const OPAQUE: f32 = 1.0 - 1e-5;
/// Cells along each side of a tile.
const TILE: usize = 16;
/// Points along each side of a tile; its last ones are the first of the next.
const POINTS: usize = TILE + 1;

/// Colours at the points of a grid, premultiplied so that they can be mixed.
struct Lattice {
    step: f32,
    /// Points in a world unit.
    density: f32,
    first: (i32, i32),
    wide: usize,
    tiles: Vec<OnceLock<Box<[Rgba]>>>,
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
    let tiles = |from: i32, to: i32| ((to - from) as usize).div_ceil(TILE);
    let (wide, high) = (tiles(first.0, last.0), tiles(first.1, last.1));
    let lattice = Lattice {
        step,
        density: 1.0 / step,
        first,
        wide,
        tiles: vec![OnceLock::new(); wide * high],
        exact: region.field.clone(),
    };
    Some(Region {
        field: Arc::new(move |x, y| lattice.at(x, y)),
        ..region.clone()
    })
}

impl Lattice {
    /// The points of a tile.
    fn tile(&self, across: usize, down: usize) -> Box<[Rgba]> {
        let place = |first: i32, tile: usize, point: usize| {
            (first + (tile * TILE + point) as i32) as f32 * self.step
        };
        (0..POINTS * POINTS)
            .map(|at| {
                let x = place(self.first.0, across, at % POINTS);
                let y = place(self.first.1, down, at / POINTS);
                let [r, g, b, a] = (self.exact)(x, y);
                [r * a, g * a, b * a, a]
            })
            .collect()
    }

    fn at(&self, x: f32, y: f32) -> Rgba {
        let u = x * self.density - self.first.0 as f32;
        let v = y * self.density - self.first.1 as f32;
        let (column, row) = (u as usize, v as usize);
        let (across, down) = (column / TILE, row / TILE);
        let inside = u >= 0.0 && v >= 0.0 && across < self.wide;
        let tile = self
            .tiles
            .get(down.wrapping_mul(self.wide).wrapping_add(across));
        let (true, Some(tile)) = (inside, tile) else {
            return (self.exact)(x, y);
        };
        let points = tile.get_or_init(|| self.tile(across, down));
        let at = row % TILE * POINTS + column % TILE;
        let (upper, lower) = (&points[at..at + 2], &points[at + POINTS..at + POINTS + 2]);
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
        if alpha >= OPAQUE {
            return [between(0), between(1), between(2), 1.0];
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
