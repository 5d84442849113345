//! Scenes: what a prompt asks for, stored as a description that one build always renders to the same pixels.

mod actor;
mod as_anime;
mod cloud;
mod describe;
mod figure;
mod flora;
mod follow;
mod from_words;
mod islet;
mod isometric;
mod light;
mod patch;
pub(crate) mod render;
mod setting;
mod silhouette;
mod sky;
mod stage;
mod stir;
mod terrain;
mod tile;
mod water;
mod weather;
pub(crate) mod window;

use serde::{Deserialize, Serialize};

use crate::choices::RequestedSubject;
use crate::choices::habitat::Habitat;
use crate::choices::kinds::{Season, Setting, StyleName, Time, Weather};
use crate::paint::dice::Dice;
use crate::words::reading::Tongue;
use figure::Figure;
use window::Window;

/// What a prompt asks for; one build always renders the same scene to the same pixels, and shows the same at any size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// The words it came from.
    pub prompt: String,
    /// What stands in it.
    pub subjects: Vec<RequestedSubject>,
    pub setting: Setting,
    pub time: Time,
    pub weather: Weather,
    /// The time of year.
    pub season: Season,
    /// How it is made.
    pub style: StyleName,
    /// Colours asked for, in the prompt's own order.
    pub palette: Vec<[u8; 3]>,
    /// The English names of those colours.
    pub palette_names: Vec<String>,
    /// Whether the moon must be full.
    pub full_moon: bool,
    /// What must not be in it, in English.
    pub left_out: Vec<String>,
    /// Source of all choices the words leave open.
    pub(crate) dice: Dice,
    /// Which part of the world is seen.
    pub window: Window,
    /// How strongly the style shows: 1 as usual, towards 0 less, up to 2 more.
    #[serde(default = "usual", skip_serializing_if = "is_usual")]
    pub flair: f32,
    /// Whether the picture meets itself when it is laid edge to edge.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tiled: bool,
    /// Which languages its words are read in.
    #[serde(default, skip_serializing_if = "is_any")]
    pub tongue: Tongue,
    /// Anime characters before everything else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) figures: Vec<Figure>,
    /// Regions that were repainted later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) patches: Vec<Patch>,
}

/// A region of the world and the scene that is seen in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Patch {
    /// Where the cells lie.
    pub window: Window,
    /// Lengths of runs of cells, outside first.
    pub runs: Vec<u16>,
    /// What is seen in it.
    pub scene: Box<Scene>,
}

/// How strongly a style shows where nobody asks for more or less.
fn usual() -> f32 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_usual(flair: &f32) -> bool {
    (*flair - 1.0).abs() < f32::EPSILON
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_any(tongue: &Tongue) -> bool {
    *tongue == Tongue::Any
}

impl Scene {
    /// The seed of its choices.
    pub fn seed(&self) -> u64 {
        self.dice.seed
    }

    /// The same scene made in another style.
    #[must_use]
    pub fn with_style(&self, style: StyleName) -> Self {
        Self {
            style,
            ..self.clone()
        }
    }

    /// Whether a thing must not be in the scene.
    pub(crate) fn leaves_out(&self, name: &str) -> bool {
        self.left_out.iter().any(|word| word == name)
    }

    /// Whether anything in it needs ground to stand on.
    pub(crate) fn stands_on_ground(&self) -> bool {
        self.subjects
            .iter()
            .any(|one| matches!(one.kind.habitat, Habitat::Ground | Habitat::Table))
    }
}
