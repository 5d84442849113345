//! Every choice of a scene comes from here: a seed, and perhaps a second seed that moves all choices a little or a lot.

use serde::{Deserialize, Serialize};

use super::noise;

/// Earlier drifts that are remembered beside the last one.
const REMEMBERED: usize = 3;

/// A step of all choices towards those of another seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Drift {
    /// The seed the choices drift towards.
    other: u64,
    /// How far they drift, 0..1.
    drift: f32,
}

/// A source of choices that are named, not drawn in turn, so that adding one never changes another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Dice {
    /// The seed of the first choices.
    pub seed: u64,
    /// The drifts before the last one, oldest first: a variation of a variation goes on from there.
    #[serde(default, skip_serializing_if = "is_none")]
    before: [Drift; REMEMBERED],
    #[serde(flatten)]
    last: Drift,
}

fn is_none(before: &[Drift; REMEMBERED]) -> bool {
    before.iter().all(|one| one.drift <= 0.0)
}

impl Dice {
    /// Choices of one seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            before: [Drift::default(); REMEMBERED],
            last: Drift {
                other: seed,
                drift: 0.0,
            },
        }
    }

    /// The same choices, moved from where they are now towards those of another seed.
    pub(crate) fn drifted(mut self, drift: f32, other: u64) -> Self {
        if self.last.drift > 0.0 {
            self.before.rotate_left(1);
            self.before[REMEMBERED - 1] = self.last;
        }
        self.last = Drift {
            other,
            drift: drift.clamp(0.0, 1.0),
        };
        self
    }

    /// The drifts that move anything, oldest first.
    fn drifts(&self) -> impl Iterator<Item = &Drift> {
        let all = self.before.iter().chain(std::iter::once(&self.last));
        all.filter(|one| one.drift > 0.0)
    }

    /// The seed that steps of at least so much have led to.
    fn led_to(&self, least: f32) -> u64 {
        let strong = self.drifts().filter(|one| one.drift > least);
        strong.last().map_or(self.seed, |one| one.other)
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
        self.drifts().fold(first, |value, one| {
            value + (noise::cell(x, y, key ^ fold(one.other)) - value) * one.drift
        })
    }

    /// One of `count` for a name; drifts in steps, so that a subtle variation keeps the composition.
    pub(crate) fn pick(&self, name: &str, count: usize) -> usize {
        let at = noise::cell(0, 0, word(name) ^ fold(self.led_to(0.6)));
        ((at * count as f32) as usize).min(count.saturating_sub(1))
    }

    /// A seed for noise; only a strong variation changes it.
    pub(crate) fn noise(&self, name: &str) -> u32 {
        word(name) ^ fold(self.led_to(0.45))
    }

    /// Choices of their own for a part of the scene.
    pub(crate) fn part(&self, name: &str, index: i32) -> Self {
        let salt = u64::from(noise::hash(index, 7, word(name)));
        let stir = |seed: u64| (seed ^ salt.rotate_left(17)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.with_seeds(stir)
    }

    /// Other choices for each salt.
    pub(crate) fn salted(&self, salt: u64) -> Self {
        self.with_seeds(|seed| seed ^ salt)
    }

    fn with_seeds(&self, change: impl Fn(u64) -> u64) -> Self {
        let changed = |one: Drift| Drift {
            other: change(one.other),
            ..one
        };
        Self {
            seed: change(self.seed),
            before: self.before.map(changed),
            last: changed(self.last),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_has_a_name_and_depends_on_nothing_but_the_seed() {
        let (one, other) = (Dice::new(7), Dice::new(8));
        let first = one.roll("tree");
        let _ = one.roll("stone");
        assert!((one.roll("tree") - first).abs() < f32::EPSILON);
        let same = |name: &str| (one.roll(name) - other.roll(name)).abs() < 0.001;
        assert!(
            ["a", "b", "c", "d"]
                .iter()
                .filter(|name| same(name))
                .count()
                < 2
        );
    }

    #[test]
    fn choices_stay_in_their_bounds_and_reach_all_of_them() {
        let mut seen = [false; 4];
        for seed in 0..200 {
            let dice = Dice::new(seed * 977);
            let between = dice.between("between", -2.0, 3.0);
            assert!((-2.0..=3.0).contains(&between), "{between}");
            seen[dice.pick("pick", 4)] = true;
            assert_eq!(dice.pick("only", 1), 0);
            assert_eq!(dice.pick("none", 0), 0);
        }
        assert_eq!(seen, [true; 4]);
    }

    #[test]
    fn a_drift_goes_from_one_seed_to_the_other() {
        let (from, to) = (Dice::new(1), Dice::new(2));
        let at = |drift: f32| from.drifted(drift, 2).roll("hill");
        let (start, end) = (from.roll("hill"), to.roll("hill"));
        assert!((at(0.0) - start).abs() < 1e-6);
        assert!((at(1.0) - end).abs() < 1e-6);
        assert!((at(0.5) - start.midpoint(end)).abs() < 1e-6);
        assert!((at(9.0) - end).abs() < 1e-6, "and no further");
        let subtle = from.drifted(0.3, 2);
        assert_eq!(
            subtle.pick("third", 4),
            from.pick("third", 4),
            "the composition stays"
        );
        assert_eq!(subtle.noise("rock"), from.noise("rock"));
        assert_ne!(from.drifted(0.9, 2).noise("rock"), from.noise("rock"));
    }

    #[test]
    fn parts_have_choices_of_their_own() {
        let dice = Dice::new(5);
        let rolls: Vec<f32> = (0..20).map(|i| dice.part("fox", i).roll("flip")).collect();
        let low = rolls.iter().filter(|roll| **roll < 0.5).count();
        assert!((3..=17).contains(&low), "{rolls:?}");
        assert_eq!(dice.part("fox", 3), dice.part("fox", 3));
    }
}
