//! What the making of a result leaves behind for follow-ups. Nobody but the embedded engine looks inside.

use atelier_contract::Notes as Kept;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::film::character::Character;
use super::film::reel::Reel;
use super::world::World;

/// Private notes on a finished job.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Notes {
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
    /// Videos.
    Film {
        /// The seed of the job.
        seed: u64,
        /// The plans of those that may have to be made again.
        reels: Vec<Reel>,
    },
    /// A character for later videos.
    Character {
        /// The seed of the job.
        seed: u64,
        /// What is known of it.
        character: Character,
    },
}

impl Notes {
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
    pub(super) fn read(kept: &Kept) -> Option<Self> {
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

    /// The seed of an earlier job, without the rest; `None` when another back end made it.
    pub(super) fn seed(kept: &Kept) -> Option<u64> {
        #[derive(Deserialize)]
        struct Seeded {
            #[serde(rename = "kind")]
            _kind: IgnoredAny,
            seed: u64,
        }
        kept.read().map(|Seeded { seed, .. }| seed)
    }

    /// The world of a picture, when it is one of a scene.
    pub(super) fn world(&self, index: usize) -> Option<&World> {
        match self {
            Self::Scene { worlds, .. } => worlds.get(index),
            _ => None,
        }
    }
}
