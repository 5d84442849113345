//! Which known place every place of the gap takes its patch from.

use super::level::{Level, touched};

/// For every place whose patch touches the gap, the place it takes from.
#[derive(Clone)]
pub(super) struct Sources {
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) places: Vec<(i32, i32)>,
}

impl Sources {
    /// Any known place for every place that needs one.
    pub(super) fn random(level: &Level, seed: u64) -> Self {
        let (width, height) = (level.width() as i32, level.height() as i32);
        let touched = touched(&level.open, width, height);
        let places = touched
            .iter()
            .enumerate()
            .map(|(at, touched)| {
                let pick = hash(seed ^ at as u64) as usize % level.anchors.len();
                if *touched {
                    level.anchors[pick]
                } else {
                    (-1, -1)
                }
            })
            .collect();
        Self {
            width,
            height,
            places,
        }
    }

    /// The same choice at a finer scale.
    pub(super) fn finer(&self, level: &Level) -> Self {
        let (width, height) = (level.width() as i32, level.height() as i32);
        let touched = touched(&level.open, width, height);
        let mut places = vec![(-1, -1); touched.len()];
        for (at, place) in places.iter_mut().enumerate().filter(|(at, _)| touched[*at]) {
            let (x, y) = (at as i32 % width, at as i32 / width);
            let coarse_x = (x * self.width / width).min(self.width - 1);
            let coarse_y = (y * self.height / height).min(self.height - 1);
            let coarse = (coarse_y * self.width + coarse_x) as usize;
            let source = self.places[coarse];
            let candidate = (
                source.0 * width / self.width + (x - coarse_x * width / self.width),
                source.1 * height / self.height + (y - coarse_y * height / self.height),
            );
            *place = if source.0 >= 0 && level.is_known(candidate) {
                candidate
            } else {
                level.anchors[hash(at as u64) as usize % level.anchors.len()]
            };
        }
        Self {
            width,
            height,
            places,
        }
    }
}

/// Scattered bits from a number.
pub(super) fn hash(value: u64) -> u64 {
    let mixed = (value ^ value >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 16
}
