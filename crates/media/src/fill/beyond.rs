//! What lies beyond the edges of a picture: its mirror image, sharp at the edge and softer with every step away.

use rayon::prelude::*;

use crate::Picture;
use crate::sampling::Field;

/// Levels of softness; each is twice as soft as the one before.
const LEVELS: usize = 7;
/// How fast the softness grows: steps away from the edge for one pixel of blur.
const STEPS: f32 = 5.0;

/// A canvas with the picture at a place and its soft mirror image around it.
pub(super) fn beyond(
    picture: &Picture,
    width: u32,
    height: u32,
    (left, top): (i64, i64),
) -> Picture {
    let (right, bottom) = (
        left + i64::from(picture.width) - 1,
        top + i64::from(picture.height) - 1,
    );
    let mut whole = Field::new(width as usize, height as usize, [0.0; 3]);
    whole
        .nodes
        .par_chunks_exact_mut(width as usize)
        .enumerate()
        .for_each(|(y, row)| {
            let from_y = mirrored(y as i64 - top, picture.height);
            for (x, node) in row.iter_mut().enumerate() {
                let [r, g, b, _] = picture.pixel(mirrored(x as i64 - left, picture.width), from_y);
                *node = [r, g, b].map(f32::from);
            }
        });
    let mut levels = vec![whole];
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
            let y = y as i64;
            for (x, pixel) in row.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                let x = x as i64;
                let away = |at: i64, low: i64, high: i64| (low - at).max(at - high).max(0) as f32;
                let far = away(x, left, right).hypot(away(y, top, bottom));
                let colour = softened(&levels, x as f32, y as f32, (1.0 + far / STEPS).log2());
                for (channel, value) in pixel.iter_mut().zip(colour) {
                    *channel = (value + 0.5).clamp(0.0, 255.0) as u8;
                }
            }
        });
    out
}

/// The colour at a place, between two levels of softness.
fn softened(levels: &[Field<3>], x: f32, y: f32, softness: f32) -> [f32; 3] {
    let read = |level: usize| {
        let scale = (1 << level) as f32;
        levels[level].at((x + 0.5) / scale - 0.5, (y + 0.5) / scale - 0.5)
    };
    let softness = softness.min((levels.len() - 1) as f32);
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
