//! What the making of a result leaves behind for follow-ups. Nobody but the embedded engine looks inside.

use std::borrow::Cow;
use std::fmt;

use atelier_contract::Notes as StoredNotes;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer as _, Serialize};
use serde_json::Value;

use super::video::character::Character;
use super::video::storyboard::Storyboard;
use super::world::World;

/// Private notes on a finished job.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum EmbeddedNotes {
    /// Pictures of scenes; each can be rendered again at any size and from further away.
    Scene {
        /// The seed of the job.
        seed: u64,
        /// The words all scenes share; kept once, because prompts may be long.
        prompt: String,
        /// One world for each picture, in their order.
        worlds: Vec<World>,
    },
    /// Pictures made from other pictures; follow-ups work on the stored file.
    Picture {
        /// The seed of the job.
        seed: u64,
    },
    Film {
        /// The seed of the job.
        seed: u64,
        /// The plans of those that may have to be made again.
        reels: Vec<Storyboard>,
    },
    /// A character for later videos.
    Character {
        /// The seed of the job.
        seed: u64,
        /// What is known of it.
        character: Character,
    },
}

impl EmbeddedNotes {
    /// Notes on pictures of scenes.
    pub(super) fn scenes(seed: u64, mut worlds: Vec<World>) -> Self {
        let prompt = worlds.first().map(|world| world.scene.prompt.clone());
        let prompt = prompt.unwrap_or_default();
        for world in &mut worlds {
            if world.scene.prompt == prompt {
                world.scene.prompt.clear();
            }
        }
        Self::Scene {
            seed,
            prompt,
            worlds,
        }
    }

    /// Reads what an earlier job left; `None` when another back end made it.
    pub(super) fn read(kept: &StoredNotes) -> Option<Self> {
        let mut notes = kept.read()?;
        if let Self::Scene { prompt, worlds, .. } = &mut notes {
            for world in worlds {
                if world.scene.prompt.is_empty() {
                    world.scene.prompt.clone_from(prompt);
                }
            }
        }
        Some(notes)
    }

    /// The form in which they are stored.
    pub(super) fn write(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }

    /// The seed of an earlier job; `None` when another back end made it. What comes after it, which is most, is not read.
    pub(super) fn seed(kept: &StoredNotes) -> Option<u64> {
        let mut seeker = SeedVisitor::default();
        let mut text = serde_json::Deserializer::from_str(kept.text());
        // It stops with an error when it has found what it looks for.
        let _ = text.deserialize_map(&mut seeker);
        seeker.seed.filter(|_| seeker.is_ours)
    }

    /// The world of a picture, when it is one of a scene.
    pub(super) fn world(&self, index: usize) -> Option<&World> {
        match self {
            Self::Scene { worlds, .. } => worlds.get(index),
            _ => None,
        }
    }
}

/// Looks for the seed in notes and reads no further.
#[derive(Default)]
struct SeedVisitor {
    /// Only this engine's notes say their kind and then a seed that is a number.
    is_ours: bool,
    seed: Option<u64>,
}

impl<'de> Visitor<'de> for &mut SeedVisitor {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("notes")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            match &*name {
                "seed" => {
                    self.seed = Some(map.next_value()?);
                    return Err(A::Error::custom("that is all"));
                }
                "kind" => self.is_ours = map.next_value::<IgnoredAny>().is_ok(),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Every kind of notes tells its seed; those of others, which have no kind or another kind of seed, do not.
    #[test]
    fn a_seed_is_told_from_our_notes_alone() {
        let character =
            json!({"kind": "character", "character": {"a": [1, "\"seed\":5"]}, "seed": u64::MAX});
        for (notes, seed) in [
            (EmbeddedNotes::Picture { seed: 7 }.write(), Some(7)),
            (EmbeddedNotes::scenes(8, Vec::new()).write(), Some(8)),
            (character, Some(u64::MAX)),
            (json!({"seed": 9}), None),
            (json!({"kind": "midjourney", "seed": "9"}), None),
            (json!({"kind": "relay", "jobId": "a"}), None),
            (Value::Null, None),
        ] {
            assert_eq!(
                EmbeddedNotes::seed(&StoredNotes::of(&notes)),
                seed,
                "{notes}"
            );
        }
    }
}
