//! What lies beyond the edges of a picture: its mirror image, sharp at the edge and softer with every step away.

use rayon::prelude::*;

use crate::Picture;
use crate::sampling::Field;

/// Levels of softness; each is twice as soft as the one before.
const LEVELS: usize = 6;
/// How fast the softness grows: steps away from the edge for one pixel of blur.
const STEPS: f32 = 5.0;

/// A canvas with the picture at a place and its soft mirror image around it.
pub(super) fn beyond(picture: &Picture, width: u32, height: u32, at: (i64, i64)) -> Picture {
    let canvas = Canvas { picture, at };
    let mut levels = vec![canvas.halved(width as usize, height as usize)];
    while let Some(last) = levels.last()
        && levels.len() < LEVELS
        && last.width.min(last.height) > 4
    {
        levels.push(last.halved().blurred(1));
    }
    let mut out = Picture::filled(width, height, [0, 0, 0, 255]);
    out.rgba
        .par_chunks_exact_mut(width as usize * 4)
        .enumerate()
        .for_each(|(y, row)| {
            for (x, pixel) in row.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                let (x, y) = (x as i64, y as i64);
                let softness = (1.0 + canvas.away(x, y) / STEPS).log2();
                let colour = softened(&canvas, &levels, (x, y), softness);
                for (channel, value) in pixel.iter_mut().zip(colour) {
                    *channel = (value + 0.5).clamp(0.0, 255.0) as u8;
                }
            }
        });
    out
}

/// A picture at a place on an endless ground of its mirror images.
struct Canvas<'a> {
    picture: &'a Picture,
    at: (i64, i64),
}

impl Canvas<'_> {
    fn colour(&self, x: i64, y: i64) -> [f32; 3] {
        let from_x = mirrored(x - self.at.0, self.picture.width);
        let from_y = mirrored(y - self.at.1, self.picture.height);
        let [r, g, b, _] = self.picture.pixel(from_x, from_y);
        [r, g, b].map(f32::from)
    }

    /// How far a place lies outside the picture.
    fn away(&self, x: i64, y: i64) -> f32 {
        let outside = |at: i64, low: i64, length: u32| {
            (low - at).max(at - low - i64::from(length) + 1).max(0) as f32
        };
        outside(x, self.at.0, self.picture.width).hypot(outside(y, self.at.1, self.picture.height))
    }

    /// The canvas at half its size; the whole of it is never held in numbers.
    fn halved(&self, width: usize, height: usize) -> Field<3> {
        let mut half = Field::new(width.div_ceil(2), height.div_ceil(2), [0.0; 3]);
        let across = half.width;
        half.nodes
            .par_chunks_exact_mut(across)
            .enumerate()
            .for_each(|(y, row)| {
                for (x, node) in row.iter_mut().enumerate() {
                    let (x, y) = (x as i64 * 2, y as i64 * 2);
                    let four = [(0, 0), (1, 0), (0, 1), (1, 1)]
                        .map(|(dx, dy)| self.colour(x + dx, y + dy));
                    *node =
                        std::array::from_fn(|c| four.iter().map(|one| one[c]).sum::<f32>() * 0.25);
                }
            });
        half
    }
}

/// The colour at a place, between two levels of softness; the sharpest is the canvas itself.
fn softened(canvas: &Canvas, levels: &[Field<3>], (x, y): (i64, i64), softness: f32) -> [f32; 3] {
    let read = |level: usize| {
        if level == 0 {
            return canvas.colour(x, y);
        }
        let scale = (1 << level) as f32;
        levels[level - 1].at(
            (x as f32 + 0.5) / scale - 0.5,
            (y as f32 + 0.5) / scale - 0.5,
        )
    };
    let softness = softness.min(levels.len() as f32);
    let level = softness as usize;
    let (one, share) = (read(level), softness - softness.floor());
    if share == 0.0 {
        return one;
    }
    let other = read(level + 1);
    std::array::from_fn(|c| one[c] + (other[c] - one[c]) * share)
}

/// A place beyond a stretch as seen in mirrors at its ends, and a place inside it as it is.
fn mirrored(at: i64, length: u32) -> u32 {
    let length = i64::from(length);
    let turn = at.rem_euclid(2 * length);
    turn.min(2 * length - 1 - turn) as u32
}
