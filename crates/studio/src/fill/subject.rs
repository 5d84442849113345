//! The subject of a picture that is continued: it must not be seen a second time beyond the border, but where the
//! border cuts it off it has to go on.

use atelier_media::{Picture, cut_out, pieces};

use super::gap::patched;
use crate::paint::noise;

/// Longest side at which the subject is looked for.
const LOOKED_AT: u32 = 384;
/// A subject that takes less or more of the picture than this is none.
const SHARES: std::ops::RangeInclusive<f32> = 0.02..=0.7;
/// How fast shoulders fall beyond a side.
const FALL: f32 = 0.8;
/// How slowly what was cut off repeats itself.
const SLOW: f32 = 0.3;

/// Where the subject is, and the picture without it.
pub(super) struct Subject {
    pub(super) without: Picture,
    shares: Vec<u8>,
    width: usize,
    /// Middle and half width of what touches the upper border.
    crown: Option<(f32, f32)>,
}

/// The parts of a cut-out that stand free or on the lower border. What reaches a side but not the ground is no body
/// that would go on there: it is mirrored like everything else.
fn alone(mut cut: Picture) -> Picture {
    let (width, height) = (cut.width as usize, cut.height as usize);
    let inside: Vec<bool> = cut.pixels().iter().map(|pixel| pixel[3] > 127).collect();
    for piece in pieces(&inside, width, height, true) {
        let touching = |border: &dyn Fn(usize, usize) -> bool| {
            let at_border = piece.iter().filter(|at| border(*at % width, *at / width));
            at_border.count()
        };
        let low = touching(&|_, y| y + 1 == height);
        let sides = touching(&|x, _| x == 0 || x + 1 == width);
        if sides > height / 16 && low < width / 5 {
            for at in piece {
                cut.pixels_mut()[at][3] = 0;
            }
        }
    }
    for (pixel, inside) in cut.pixels_mut().iter_mut().zip(&inside) {
        pixel[3] = if *inside { pixel[3] } else { 0 };
    }
    cut
}

impl Subject {
    /// Finds the subject, if there is one to speak of.
    pub(super) fn of(picture: &Picture, seed: u64) -> Option<Self> {
        let (width, height) = (picture.width, picture.height);
        if width.min(height) < 32 {
            return None;
        }
        let small = alone(cut_out(&picture.fitted(LOOKED_AT))).resized(width, height);
        let shares: Vec<u8> = small.pixels().iter().map(|pixel| pixel[3]).collect();
        let taken = shares.iter().filter(|share| **share > 127).count();
        if !SHARES.contains(&(taken as f32 / shares.len() as f32)) {
            return None;
        }
        let mask = atelier_media::Mask {
            width,
            height,
            shares,
        };
        let around = mask.dilated((width.max(height) / 64).max(2));
        let open = around.shares.iter().map(|share| *share > 16).collect();
        let row = &mask.shares[..width as usize];
        let touching: Vec<usize> = (0..row.len()).filter(|x| row[*x] > 127).collect();
        let crown = touching.first().zip(touching.last()).map(|(left, right)| {
            let middle = (left + right) as f32 * 0.5;
            (middle, (right - left) as f32 * 0.5 + 1.0)
        });
        Some(Self {
            without: patched(picture.clone(), open, seed),
            shares: mask.shares,
            width: width as usize,
            crown,
        })
    }

    /// The place of the picture that is seen at a place beyond it where the subject goes on, and how much of it.
    pub(super) fn beyond(&self, x: i64, y: i64) -> Option<(u32, u32, f32)> {
        let (right, bottom) = (
            self.width as f32 - 1.0,
            (self.shares.len() / self.width) as f32 - 1.0,
        );
        let (px, py) = (x as f32, y as f32);
        let slow = |out: f32, along: f32| {
            let sway = noise::gradient(along / 47.0, out / 90.0, 31) * 0.4;
            (out * (SLOW + sway * SLOW)).max(0.0)
        };
        let (sx, sy) = if py < 0.0 {
            // A head that is cut off is closed like a dome.
            let (middle, half) = self.crown?;
            let up = -py / (half * 0.9);
            let narrow = (1.0 - up * up).max(0.0).sqrt();
            if narrow < 0.02 {
                return None;
            }
            (middle + (px - middle) / narrow, slow(-py, px))
        } else {
            let out = (-px).max(px - right).max(0.0);
            let row = py - out * FALL;
            let row = if row > bottom {
                bottom - slow(row - bottom, px)
            } else {
                row
            };
            let inward = slow(out, py);
            let column = if px < 0.0 { inward } else { px };
            (if px > right { right - inward } else { column }, row)
        };
        if !(0.0..=right).contains(&sx) || !(0.0..=bottom).contains(&sy) {
            return None;
        }
        let (sx, sy) = (sx as u32, sy as u32);
        let share = self.shares[sy as usize * self.width + sx as usize];
        (share > 0).then_some((sx, sy, f32::from(share) / 255.0))
    }
}
