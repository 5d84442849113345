//! One scale of the fill: for every open place the known place that looks most like it, and the vote of all of them.

use rayon::prelude::*;

use super::sources::{Sources, touched};
use crate::Picture;

/// Half a patch: patches are 7 by 7.
pub(super) const HALF: i32 = 3;

/// A picture at one scale and which of its pixels are missing.
pub(super) struct Level {
    pub(super) picture: Picture,
    pub(super) open: Vec<bool>,
    /// Places whose whole patch is known.
    known: Vec<bool>,
    /// How much a patch around each place is worth in the vote: more the nearer it is to what is known.
    trust: Vec<f32>,
    pub(super) anchors: Vec<(i32, i32)>,
}

impl Level {
    pub(super) fn new(picture: Picture, open: Vec<bool>) -> Self {
        let (width, height) = (picture.width as i32, picture.height as i32);
        let touched = touched(&open, width, height);
        let whole =
            |x: i32, y: i32| x >= HALF && y >= HALF && x + HALF < width && y + HALF < height;
        let mut known = vec![false; open.len()];
        let mut anchors = Vec::new();
        for y in 0..height {
            for x in 0..width {
                let at = (y * width + x) as usize;
                if whole(x, y) && !touched[at] {
                    known[at] = true;
                    anchors.push((x, y));
                }
            }
        }
        // So little is known that no whole patch is: single pixels must do.
        if anchors.is_empty() {
            for (at, _) in open.iter().enumerate().filter(|(_, open)| !**open) {
                known[at] = true;
                anchors.push((at as i32 % width, at as i32 / width));
            }
        }
        let trust = steps_inward(&open, width as usize)
            .iter()
            .map(|&steps| 0.78_f32.powi(i32::from(steps)).max(1e-4))
            .collect();
        Self {
            picture,
            open,
            known,
            trust,
            anchors,
        }
    }

    pub(super) fn width(&self) -> u32 {
        self.picture.width
    }

    pub(super) fn height(&self) -> u32 {
        self.picture.height
    }

    pub(super) fn longest(&self) -> u32 {
        self.width().max(self.height())
    }

    /// A smaller copy; a pixel is missing when any part of it was.
    pub(super) fn fitted(&self, longest: u32) -> Self {
        if self.longest() <= longest {
            return Self::new(self.picture.clone(), self.open.clone());
        }
        // Missing pixels must not colour their neighbours while the picture shrinks.
        let mut seen = self.picture.clone();
        for (pixel, open) in seen.pixels_mut().iter_mut().zip(&self.open) {
            pixel[3] = if *open { 0 } else { 255 };
        }
        let small = seen.fitted(longest);
        let open: Vec<bool> = small.pixels().iter().map(|pixel| pixel[3] < 250).collect();
        if open.contains(&false) {
            return Self::new(small.on([0; 3]), open);
        }
        let open = small.pixels().iter().map(|pixel| pixel[3] == 0).collect();
        Self::new(small.on([0; 3]), open)
    }

    /// The known pixels, with the missing ones from another picture.
    pub(super) fn joined(&self, other: &Picture) -> Picture {
        let mut out = self.picture.clone();
        for ((pixel, other), open) in out
            .pixels_mut()
            .iter_mut()
            .zip(other.pixels())
            .zip(&self.open)
        {
            if *open {
                *pixel = [other[0], other[1], other[2], 255];
            }
        }
        out
    }

    /// Lets the sources improve and vote a number of times.
    pub(super) fn agreed(
        &self,
        mut guess: Picture,
        mut sources: Sources,
        (first, rounds): (usize, usize),
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
                let said = self.picture.pixel(from_x as u32, from_y as u32);
                for c in 0..3 {
                    sum[c] += weight * f32::from(said[c]);
                }
                sum[3] += weight;
            }
        }
        let channel = |c: usize| (sum[c] / sum[3] + 0.5) as u8;
        (sum[3] > 0.0).then(|| [channel(0), channel(1), channel(2), 255])
    }

    pub(super) fn is_known(&self, (x, y): (i32, i32)) -> bool {
        let (width, height) = (self.width() as i32, self.height() as i32);
        x >= 0 && y >= 0 && x < width && y < height && self.known[(y * width + x) as usize]
    }

    fn is_seen(&self, x: i32, y: i32) -> bool {
        let (width, height) = (self.width() as i32, self.height() as i32);
        x >= 0 && y >= 0 && x < width && y < height && !self.open[(y * width + x) as usize]
    }
}

/// Votes weigh less with the square of the distance from the middle of the patch (0 to 18).
const VOTES: [f32; 19] = [
    6.4, 5.2, 4.2, 3.6, 3.0, 2.4, 2.0, 1.8, 1.6, 1.3, 1.1, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.5, 0.4,
];

/// How many steps every missing pixel lies inside the gap, at most 60.
fn steps_inward(open: &[bool], width: usize) -> Vec<u8> {
    const MOST: u8 = 60;
    let mut steps: Vec<u8> = open
        .iter()
        .map(|open| if *open { MOST } else { 0 })
        .collect();
    for at in 0..steps.len() {
        let left = if at % width > 0 { steps[at - 1] } else { MOST };
        let above = if at >= width { steps[at - width] } else { MOST };
        steps[at] = steps[at].min(left.min(above) + 1).min(MOST);
    }
    for at in (0..steps.len()).rev() {
        let right = if at % width + 1 < width {
            steps[at + 1]
        } else {
            MOST
        };
        let below = steps.get(at + width).copied().unwrap_or(MOST);
        steps[at] = steps[at].min(right.min(below) + 1).min(MOST);
    }
    steps
}
