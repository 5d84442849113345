//! Looking for better sources: what the neighbours take, and a few places at random.

use atelier_media::Picture;
use rayon::prelude::*;

use super::level::{HALF, Level};
use super::sources::{Sources, hash};

/// Cost of taking a patch from the other end of the picture.
const NEARBY: f32 = 70_000.0;

impl Level {
    /// One step for every place: try what the neighbours take, and a few places at random.
    pub(super) fn improved(&self, guess: &Picture, sources: &Sources, salt: u64) -> Sources {
        let width = sources.width;
        let mut next = sources.clone();
        let rows = next.places.par_chunks_exact_mut(width as usize);
        rows.enumerate().for_each(|(y, row)| {
            for (x, place) in row.iter_mut().enumerate() {
                if place.0 >= 0 {
                    let here = (x as i32, y as i32);
                    *place = self.better(guess, sources, here, salt);
                }
            }
        });
        next
    }

    /// The best source found for one place.
    fn better(
        &self,
        guess: &Picture,
        sources: &Sources,
        (x, y): (i32, i32),
        salt: u64,
    ) -> (i32, i32) {
        let (width, height) = (sources.width, sources.height);
        let old = sources.places[(y * width + x) as usize];
        let mut best = (self.distance(guess, (x, y), old, u32::MAX), old);
        let mut consider = |candidate: (i32, i32)| {
            if self.is_known(candidate) && candidate != best.1 {
                let cost = self.distance(guess, (x, y), candidate, best.0);
                if cost < best.0 {
                    best = (cost, candidate);
                }
            }
        };
        let jump = 2 + (salt % 3) as i32 * 2;
        for (dx, dy) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
            for reach in [1, jump] {
                let (dx, dy) = (dx * reach, dy * reach);
                if x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height {
                    let other = sources.places[((y + dy) * width + x + dx) as usize];
                    if other.0 >= 0 {
                        consider((other.0 - dx, other.1 - dy));
                    }
                }
            }
        }
        let mut noise = hash(salt ^ ((y as u64) << 32 | x as u64));
        consider(self.anchors[noise as usize % self.anchors.len()]);
        let mut radius = width.max(height) / 4;
        while radius > 1 {
            noise = hash(noise);
            let across = (noise & 0xffff) as i32 % (radius * 2 + 1) - radius;
            let down = (noise >> 16 & 0xffff) as i32 % (radius * 2 + 1) - radius;
            consider((old.0 + across, old.1 + down));
            radius /= 3;
        }
        best.1
    }

    /// How unlike two patches are; gives up once it is worse than `limit`.
    fn distance(&self, guess: &Picture, here: (i32, i32), there: (i32, i32), limit: u32) -> u32 {
        let (width, height) = (self.width() as i32, self.height() as i32);
        let reach = |at: i32, other: i32, length: i32| {
            let low = HALF.min(at).min(other);
            (low, HALF.min(length - 1 - at).min(length - 1 - other))
        };
        let (left, right) = reach(here.0, there.0, width);
        let (up, down) = reach(here.1, there.1, height);
        let span = (left + right + 1) as usize * 4;
        let mut sum = 0_u32;
        for dy in -up..=down {
            let one = (((here.1 + dy) * width + here.0 - left) * 4) as usize;
            let other = (((there.1 + dy) * width + there.0 - left) * 4) as usize;
            let pairs = guess.rgba[one..one + span]
                .iter()
                .zip(&self.picture.rgba[other..other + span]);
            let row: i32 = pairs.fold(0, |sum: i32, (a, b)| {
                let step = i32::from(*a) - i32::from(*b);
                sum.wrapping_add(step.wrapping_mul(step))
            });
            sum = sum.wrapping_add(row as u32);
            if sum >= limit {
                return sum;
            }
        }
        // A patch cut by the border is judged by its mean, as if it were whole.
        let seen = ((left + right + 1) * (up + down + 1)) as u32;
        // What lies near, above all at the same height, is more likely to belong here.
        let across = (here.0 - there.0) as f32 / width as f32;
        let down = (here.1 - there.1) as f32 / height as f32;
        let far = NEARBY * (0.4 * across * across + down * down);
        sum / seen * 49 + far as u32
    }
}
