//! Anime images from words.

use super::cast::{CharacterReference, Vibe};
use super::request::anime_request;
use crate::fields::List;
use crate::prelude::*;

anime_request! {
    /// Makes anime-style images from a prompt.
    #[schemars(rename = "AnimegenTextToImage")]
    AnimegenTextToImage, steps: steps,
    first {}
    then {
        /// Images whose mood is adopted.
        #[serde(default)]
        vibe_transfer: List<Vibe, 0, 4>,
        /// Images whose character or style is adopted.
        #[serde(default)]
        character_reference: List<CharacterReference, 0, 4>,
    }
}

impl Operation for AnimegenTextToImage {
    fn prompts(&self) -> Vec<(String, &str)> {
        self.texts()
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let mut brief = self.brief();
        for (index, vibe) in self.vibe_transfer.iter().enumerate() {
            let field = format!("vibe_transfer[{index}].image");
            brief = brief.from(field, vibe.image.clone());
        }
        for (index, reference) in self.character_reference.iter().enumerate() {
            let field = format!("character_reference[{index}].image");
            brief = brief.from(field, reference.image.clone());
        }
        Ok(self.order_of("animegen.text_to_image", brief))
    }
}
