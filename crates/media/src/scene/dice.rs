//! Every choice of a scene comes from here: a seed, and perhaps a second seed that moves all choices a little or a lot.

use serde::{Deserialize, Serialize};

use super::noise;

/// A source of choices that are named, not drawn in turn, so that adding one never changes another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Dice {
    /// The seed of the first choices.
    pub seed: u64,
    /// The seed the choices drift towards.
    pub other: u64,
    /// How far they drift, 0..1.
    pub drift: f32,
}

impl Dice {
    /// Choices of one seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            other: seed,
            drift: 0.0,
        }
    }

    /// A number in 0..1 for a name.
    pub(crate) fn roll(&self, name: &str) -> f32 {
        self.cell(name, 0, 0)
    }

    /// A number in `low..high` for a name.
    pub(crate) fn between(&self, name: &str, low: f32, high: f32) -> f32 {
        low + (high - low) * self.roll(name)
    }

    /// A number in 0..1 for a name and a cell of the world.
    pub(crate) fn cell(&self, name: &str, x: i32, y: i32) -> f32 {
        let key = word(name);
        let first = noise::cell(x, y, key ^ fold(self.seed));
        if self.drift <= 0.0 {
            return first;
        }
        let second = noise::cell(x, y, key ^ fold(self.other));
        first + (second - first) * self.drift
    }

    /// One of `count` for a name; drifts in steps, so that a subtle variation keeps the composition.
    pub(crate) fn pick(&self, name: &str, count: usize) -> usize {
        let chosen = if self.drift > 0.6 {
            self.other
        } else {
            self.seed
        };
        let at = noise::cell(0, 0, word(name) ^ fold(chosen));
        ((at * count as f32) as usize).min(count.saturating_sub(1))
    }

    /// A seed for noise; only a strong variation changes it.
    pub(crate) fn noise(&self, name: &str) -> u32 {
        let chosen = if self.drift > 0.45 {
            self.other
        } else {
            self.seed
        };
        word(name) ^ fold(chosen)
    }

    /// Choices of their own for a part of the scene.
    pub(crate) fn part(&self, name: &str, index: i32) -> Self {
        let salt = u64::from(noise::hash(index, 7, word(name)));
        let stir = |seed: u64| (seed ^ salt.rotate_left(17)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self {
            seed: stir(self.seed),
            other: stir(self.other),
            drift: self.drift,
        }
    }
}

fn fold(seed: u64) -> u32 {
    let mixed = seed.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (mixed ^ (mixed >> 32)) as u32
}

/// A number for a word, the same on every machine.
pub(crate) fn word(text: &str) -> u32 {
    text.bytes().fold(0x811C_9DC5, |h, b| {
        (h ^ u32::from(b)).wrapping_mul(0x0100_0193)
    })
}
