//! Anime characters in a scene: where they stand in the world and what is said about them.

use serde::{Deserialize, Serialize};

use crate::figure::items;
use crate::figure::traits::Traits;
use crate::paint::region::Item;

/// An anime character in a scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figure {
    /// What is said about it.
    pub words: String,
    /// The seed of its looks.
    pub seed: u64,
    /// World place of the middle of its face.
    pub at: [f32; 2],
    /// World units of one of its own units.
    pub scale: f32,
}

impl Figure {
    /// What it is drawn with.
    pub(crate) fn items(&self) -> Vec<Item> {
        let traits = Traits::from_words(&self.words, self.seed);
        items(&traits, (self.at[0], self.at[1]), self.scale)
    }
}
