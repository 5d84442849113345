//! What lies beyond the edges of a picture: its mirror image, bent and stretched the more the further away, so that
//! nobody sees a mirror, and a little softer there.

use atelier_media::Picture;
use atelier_media::sampling::Field;
use rayon::prelude::*;

use super::subject::Subject;
use crate::paint::noise;

/// Levels of softness beside the sharp picture; each is twice as soft as the one before.
const LEVELS: usize = 2;
/// The distance from the edge, in shares of the longer side, at which the image is as soft as it gets.
const FAR: f32 = 0.3;
/// How soft it gets, in levels.
const SOFTEST: f32 = 1.6;
/// How much the mirror image is stretched, and how far it sways, for each step away from the edge.
const STRETCHED: (f32, f32) = (0.55, 1.0);
const SWAY: f32 = 0.34;

/// A canvas with the picture at a place and its soft mirror image around it.
pub(super) fn outpaint(
    picture: &Picture,
    subject: Option<&Subject>,
    (width, height): (u32, u32),
    at: (i64, i64),
    bend: Bend,
) -> Picture {
    let canvas = MirroredGround {
        picture,
        subject,
        at,
        bend,
    };
    let mut levels = vec![canvas.halved(width as usize, height as usize)];
    while let Some(last) = levels.last()
        && levels.len() < LEVELS
        && last.width.min(last.height) > 4
    {
        levels.push(last.halved().blurred(1));
    }
    let far = width.max(height) as f32 * FAR;
    let mut out = Picture::filled(width, height, [0, 0, 0, 255]);
    out.rgba
        .par_chunks_exact_mut(width as usize * 4)
        .enumerate()
        .for_each(|(y, row)| {
            for (x, pixel) in row.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                let (x, y) = (x as i64, y as i64);
                let softness = (canvas.away(x, y) / far).min(1.0) * SOFTEST;
                let colour = softened(&canvas, &levels, (x, y), softness);
                for (channel, value) in pixel.iter_mut().zip(colour) {
                    *channel = (value + 0.5).clamp(0.0, 255.0) as u8;
                }
            }
        });
    out
}

/// A picture at a place on an endless ground of its mirror images.
struct MirroredGround<'a> {
    picture: &'a Picture,
    subject: Option<&'a Subject>,
    at: (i64, i64),
    bend: Bend,
}

impl MirroredGround<'_> {
    fn colour(&self, x: i64, y: i64) -> [f32; 3] {
        let plain = |picture: &Picture, x: u32, y: u32| {
            let [r, g, b, _] = picture.pixel(x, y);
            [r, g, b].map(f32::from)
        };
        let (inside_x, inside_y) = (x - self.at.0, y - self.at.1);
        let from_x = self.bend.at(inside_x, self.picture.width, y as f32);
        let from_y = self.bend.at(inside_y, self.picture.height, x as f32);
        let Some(subject) = self.subject.filter(|_| self.away(x, y) > 0.0) else {
            return plain(self.picture, from_x, from_y);
        };
        let ground = plain(&subject.without, from_x, from_y);
        let Some((sx, sy, share)) = subject.beyond(inside_x, inside_y) else {
            return ground;
        };
        let own = plain(self.picture, sx, sy);
        std::array::from_fn(|c| ground[c] + (own[c] - ground[c]) * share)
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
fn softened(
    canvas: &MirroredGround,
    levels: &[Field<3>],
    (x, y): (i64, i64),
    softness: f32,
) -> [f32; 3] {
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

/// How the mirrors around a picture are bent.
#[derive(Clone, Copy)]
pub(super) struct Bend {
    seed: u32,
    stretched: f32,
}

impl Bend {
    /// Each seed bends them in its own way, so that it sees something else beyond the same picture.
    pub(super) fn of(seed: u64) -> Self {
        let mixed = super::sources::hash(seed);
        let share = (mixed & 0xff) as f32 / 255.0;
        Self {
            seed: (mixed >> 8) as u32,
            stretched: STRETCHED.0 + (STRETCHED.1 - STRETCHED.0) * share,
        }
    }

    /// A place beyond a stretch as seen in a mirror at its end that bends with the distance; `along` is the way along
    /// it.
    fn at(self, at: i64, length: u32, along: f32) -> u32 {
        let last = i64::from(length) - 1;
        let out = (-at).max(at - last);
        if out <= 0 {
            return at as u32;
        }
        let away = out as f32;
        let sway = noise::gradient(along / 83.0, away / 61.0, self.seed) * away * SWAY;
        let back = (away * self.stretched + sway).max(0.0) as i64;
        mirrored(if at < 0 { back } else { last - back }, length)
    }
}

/// A place beyond a stretch as seen in mirrors at its ends, and a place inside it as it is.
fn mirrored(at: i64, length: u32) -> u32 {
    let length = i64::from(length);
    let turn = at.rem_euclid(2 * length);
    turn.min(2 * length - 1 - turn) as u32
}
