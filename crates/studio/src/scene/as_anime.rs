//! A scene as an anime picture: its people become characters.

use super::Scene;
use super::figure::Figure;
use crate::choices::kinds::StyleName;
use crate::figure::stance;
use crate::figure::traits::{Pose, Traits};

/// World units of one unit of a figure, when it is alone.
const SCALE: f32 = 0.0036;
/// Where the middle of a face is.
const FACE: f32 = -0.06;
/// World height of a figure that is seen whole: it fits into every first window.
const WHOLE: f32 = 0.74;
/// More figures than these would hide each other.
const MOST: usize = 3;

/// Subjects that an anime picture shows as characters.
const PEOPLE: &[&str] = &[
    "person",
    "man",
    "woman",
    "child",
    "wanderer",
    "knight",
    "wizard",
    "witch",
    "monk",
    "princess",
    "king",
    "samurai",
    "portrait of a woman",
    "portrait of a man",
];

impl Scene {
    /// The same scene as an anime picture: people become characters, everything else is drawn in clear colours and
    /// lines.
    #[must_use]
    pub fn as_anime(&self) -> Self {
        let mut scene = self.with_style(StyleName::Anime);
        let people = |key: &str| PEOPLE.contains(&key);
        let count = scene
            .subjects
            .iter()
            .filter(|one| people(&one.key))
            .map(|one| usize::from(one.count))
            .sum::<usize>()
            .min(MOST);
        scene.subjects.retain(|one| !people(&one.key));
        let crowd = 1.0 / (1.0 + 0.35 * (count.max(1) as f32 - 1.0));
        let seed = scene.dice.part("figure", 0).seed;
        let (face, size) = match Traits::from_words(&self.prompt, seed).pose {
            Pose::Bust => (FACE * crowd, SCALE * crowd),
            Pose::Full => {
                let size = WHOLE / stance::TALL;
                (-stance::MIDDLE * size, size)
            }
        };
        scene.figures = (0..count)
            .map(|index| {
                let aside = (index as f32 + 0.5) / count as f32 - 0.5;
                Figure {
                    words: self.prompt.clone(),
                    seed: seed.wrapping_add(index as u64 * 7919),
                    at: [aside * 0.9, face],
                    scale: size,
                }
            })
            .collect();
        scene
    }
}
