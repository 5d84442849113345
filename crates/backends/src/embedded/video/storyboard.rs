//! The plan of a video: its size, its length and its shots. The same plan always gives the same frames.

use atelier_studio::Scene;
use serde::{Deserialize, Serialize};

/// In frames per second.
pub(super) const RATE: u32 = 24;

/// The plan of a video.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::embedded) struct Storyboard {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) seconds: u32,
    /// Whether it ends where it began.
    pub(super) looped: bool,
    /// Whether the camera and the subjects move much.
    pub(super) high: bool,
    /// Whether it is drawn and encoded finely.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) fine: bool,
    /// The seed of its choices.
    pub(super) seed: u64,
    /// What is seen, one after the other.
    pub(super) shots: Vec<Shot>,
}

/// One shot of a video.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Shot {
    Scene(Box<Scene>),
    /// A camera move over the given frame at a place.
    Still(usize),
    /// From one given frame to another.
    Change(usize, usize),
}

impl Storyboard {
    /// How many frames it has.
    pub(super) fn frames(&self) -> usize {
        (self.seconds * RATE) as usize
    }

    /// The first shot that is a scene.
    pub(super) fn scene(&self) -> Option<&Scene> {
        self.shots.iter().find_map(|shot| match shot {
            Shot::Scene(scene) => Some(scene.as_ref()),
            Shot::Still(_) | Shot::Change(..) => None,
        })
    }
}
