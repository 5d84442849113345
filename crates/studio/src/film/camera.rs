//! Motion for a picture of which nothing is known: the camera moves in, and what stands out moves before the rest.

use std::f32::consts::TAU;

use atelier_media::Picture;
use atelier_media::sampling::Field;

use super::plate::{Plate, woven};

/// A prepared camera move over one picture, to be asked for any moment of it.
pub struct CameraMove {
    picture: Picture,
    plate: Plate,
    /// How near each place seems, 0 to 1.
    near: Field<1>,
    /// The place the camera goes to, in shares of the sides.
    focus: (f32, f32),
    amount: f32,
    phase: f32,
}

impl CameraMove {
    /// Prepares a move; `high` moves much further, the seed chooses where to.
    pub fn new(picture: &Picture, high: bool, seed: u64) -> Self {
        let mixed = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let share = |shift: u32| (mixed >> shift & 0xffff) as f32 / 65_535.0;
        Self {
            picture: picture.clone(),
            plate: Plate::of(picture),
            near: nearness(picture),
            focus: (0.28 + 0.44 * share(8), 0.32 + 0.36 * share(24)),
            amount: if high { 0.44 } else { 0.2 },
            phase: share(40) * TAU,
        }
    }

    /// The picture at a moment, 0 to 1; at 0 it is the picture itself.
    pub fn at(&self, t: f32) -> Picture {
        if t <= 0.0 {
            return self.picture.clone();
        }
        let t = t.min(1.0);
        let eased = 0.8 * t + 0.2 * t * t * (3.0 - 2.0 * t);
        let travel = self.amount * eased;
        let (width, height) = (self.picture.width as f32, self.picture.height as f32);
        let (focus_x, focus_y) = (self.focus.0 * width, self.focus.1 * height);
        let sway = travel * 0.06 * width * (self.phase + t * 0.7 * TAU).sin();
        let knot = |x: f32, y: f32, [near]: [f32; 1]| {
            let closer = 1.0 / (1.0 + travel * (0.72 + 0.28 * near));
            [
                focus_x + (x - focus_x) * closer + sway * (near - 0.4),
                focus_y + (y - focus_y) * closer,
            ]
        };
        let size = (self.picture.width, self.picture.height);
        woven(size, &self.near, knot, |[x, y]| self.plate.at(x, y))
    }
}

/// The picture at a moment of a camera move; for many moments prepare a [`CameraMove`] once.
pub fn camera_move(picture: &Picture, t: f32, high: bool, seed: u64) -> Picture {
    CameraMove::new(picture, high, seed).at(t)
}

/// The moment to show so that a clip ends where it began: 0 at 0, 1 halfway, 0 again at 1.
///
/// It turns round gently but never stands still, or the frames around the turn would be frozen.
pub fn loop_time(t: f32) -> f32 {
    let there_and_back = 1.0 - (1.0 - 2.0 * t).abs();
    let gentle = 0.5 - 0.5 * (t * TAU).cos();
    0.75 * there_and_back + 0.25 * gentle
}

/// A guess at depth: low places are near, and so are those that differ from the border of the picture.
fn nearness(picture: &Picture) -> Field<1> {
    let small = picture.fitted(64);
    let (width, height) = (small.width as usize, small.height as usize);
    let mut border = [0.0; 3];
    let mut count = 0.0;
    for (index, pixel) in small.pixels().iter().enumerate() {
        let (x, y) = (index % width, index / width);
        if x == 0 || x + 1 == width || y < height / 8 + 1 {
            (0..3).for_each(|c| border[c] += f32::from(pixel[c]));
            count += 1.0;
        }
    }
    let border = border.map(|sum| sum / count);
    let nodes = small
        .pixels()
        .iter()
        .enumerate()
        .map(|(index, pixel)| {
            let stands_out: f32 = (0..3)
                .map(|c| (f32::from(pixel[c]) - border[c]).abs())
                .sum();
            let low = (index / width) as f32 / height as f32;
            [(stands_out / 300.0).min(1.0) * 0.5 + low * 0.5]
        })
        .collect();
    let radius = (width.min(height) / 16).max(1);
    Field {
        width,
        height,
        nodes,
    }
    .blurred(radius)
    .blurred(radius)
}
