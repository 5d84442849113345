//! The vote of all patches over an open place on what is seen there.

use atelier_media::Picture;
use rayon::prelude::*;

use super::level::{HALF, Level};
use super::sources::Sources;

impl Level {
    /// Lets the sources improve and vote a number of times.
    pub(super) fn agreed(
        &self,
        mut guess: Picture,
        mut sources: Sources,
        first: usize,
        rounds: usize,
        seed: u64,
    ) -> (Picture, Sources) {
        for round in 0..rounds {
            // The first vote must not throw the start away, so its sources get longer to settle.
            for step in 0..if round == 0 { first } else { 3 } {
                let salt = seed.wrapping_add((round * 16 + step) as u64 * 7919);
                sources = self.improved(&guess, &sources, salt);
            }
            guess = self.voted(&guess, &sources);
        }
        (guess, sources)
    }

    /// Every missing pixel becomes the mean of what the patches over it say.
    pub(super) fn voted(&self, guess: &Picture, sources: &Sources) -> Picture {
        let width = sources.width as usize;
        let mut out = guess.clone();
        out.rgba
            .par_chunks_exact_mut(width * 4)
            .enumerate()
            .for_each(|(y, row)| {
                for (x, pixel) in row.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                    if self.open[y * width + x]
                        && let Some(colour) = self.vote(sources, (x as i32, y as i32))
                    {
                        *pixel = colour;
                    }
                }
            });
        out
    }

    fn vote(&self, sources: &Sources, (x, y): (i32, i32)) -> Option<[u8; 4]> {
        let (width, height) = (sources.width, sources.height);
        let mut sum = [0.0_f32; 4];
        for dy in -HALF..=HALF {
            for dx in -HALF..=HALF {
                let (at_x, at_y) = (x + dx, y + dy);
                if at_x < 0 || at_y < 0 || at_x >= width || at_y >= height {
                    continue;
                }
                let at = (at_y * width + at_x) as usize;
                let place = sources.places[at];
                let (from_x, from_y) = (place.0 - dx, place.1 - dy);
                if place.0 < 0 || !self.is_seen(from_x, from_y) {
                    continue;
                }
                let weight = VOTES[(dx * dx + dy * dy) as usize] * self.trust[at];
                let pixel = self.picture.pixel(from_x as u32, from_y as u32);
                for c in 0..3 {
                    sum[c] += weight * f32::from(pixel[c]);
                }
                sum[3] += weight;
            }
        }
        let channel = |c: usize| (sum[c] / sum[3] + 0.5) as u8;
        (sum[3] > 0.0).then(|| [channel(0), channel(1), channel(2), 255])
    }
}

/// Votes weigh less with the square of the distance from the middle of the patch (0 to 18).
const VOTES: [f32; 19] = [
    6.4, 5.2, 4.2, 3.6, 3.0, 2.4, 2.0, 1.8, 1.6, 1.3, 1.1, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.5, 0.4,
];
