//! The 468 points of a face: a small network that looks at a square around it.

use super::detect::Face;
use super::network::{Map, NETWORK, SIDE};
use crate::Picture;
use crate::sampling::packed_at;

/// Outer corners of the eyes.
const EYES: (usize, usize) = (33, 263);

/// The points of one face in pixels of its picture.
pub(super) struct Points {
    pub(super) places: Vec<(f32, f32)>,
}

/// A turned square in the picture.
#[derive(Clone, Copy)]
struct Square {
    middle: (f32, f32),
    size: f32,
    /// Sine and cosine of its turn.
    turn: (f32, f32),
}

impl Square {
    fn place(self, u: f32, v: f32) -> (f32, f32) {
        let (across, down) = ((u - 0.5) * self.size, (v - 0.5) * self.size);
        let (sine, cosine) = self.turn;
        (
            self.middle.0 + across * cosine - down * sine,
            self.middle.1 + across * sine + down * cosine,
        )
    }
}

/// Looks twice: at the upright square of the detector, then at one turned and sized by what the first look found.
pub(super) fn points(picture: &Picture, face: Face) -> Option<Points> {
    let half = face.size / 2.0;
    let first = Square {
        middle: (face.x + half, face.y + half),
        size: face.size * 1.7,
        turn: (0.0, 1.0),
    };
    let (rough, _) = look(picture, first);
    let (mut low, mut high) = (rough[0], rough[0]);
    for &(x, y) in &rough {
        low = (low.0.min(x), low.1.min(y));
        high = (high.0.max(x), high.1.max(y));
    }
    let (left, right) = (rough[EYES.0], rough[EYES.1]);
    let second = Square {
        middle: (f32::midpoint(low.0, high.0), f32::midpoint(low.1, high.1)),
        size: (high.0 - low.0).max(high.1 - low.1) * 1.5,
        turn: (right.1 - left.1).atan2(right.0 - left.0).sin_cos(),
    };
    let (places, flag) = look(picture, second);
    (flag > 0.5).then_some(Points { places })
}

fn look(picture: &Picture, square: Square) -> (Vec<(f32, f32)>, f32) {
    // A copy around the square at about the network's own size, so that a large face is not sampled in gaps.
    let reach = (square.size * 0.75).ceil().max(8.0) as i64;
    let corner = (
        square.middle.0 as i64 - reach,
        square.middle.1 as i64 - reach,
    );
    let around = picture.cropped(corner.0, corner.1, reach as u32 * 2, reach as u32 * 2);
    let scale = (SIDE as f32 * 1.5 / around.width as f32).min(1.0);
    let side = (around.width as f32 * scale) as u32;
    let around = around.on([0; 3]).resized(side, side);
    let mut values = Vec::with_capacity(SIDE * SIDE * 3);
    for at in 0..SIDE * SIDE {
        let u = ((at % SIDE) as f32 + 0.5) / SIDE as f32;
        let v = ((at / SIDE) as f32 + 0.5) / SIDE as f32;
        let (x, y) = square.place(u, v);
        let (x, y) = (x - corner.0 as f32, y - corner.1 as f32);
        let pixel = packed_at(&around, x * scale - 0.5, y * scale - 0.5).to_le_bytes();
        values.extend(pixel[..3].iter().map(|&channel| f32::from(channel) / 255.0));
    }
    let map = Map {
        side: SIDE,
        channels: 3,
        values,
    }
    .run(&NETWORK.trunk);
    let flag = map.clone().run(&NETWORK.flag).values[0];
    let found = map.run(&NETWORK.points).values;
    let places = found
        .as_chunks::<3>()
        .0
        .iter()
        .map(|[x, y, _]| square.place(x / SIDE as f32, y / SIDE as f32))
        .collect();
    (places, 1.0 / (1.0 + (-flag).exp()))
}
