//! What an anime image is made of beside its prompt: characters with their places, vibes, references.

use crate::fields::{ImageData, Prompt, Real, Text, words};
use crate::prelude::*;

/// A place in the image, each side from 0 to 1.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct Centre {
    /// From left to right.
    #[serde(default)]
    pub x: Real<0, 1000, 500>,
    /// From top to bottom.
    #[serde(default)]
    pub y: Real<0, 1000, 500>,
}

/// One character of the image.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct CharacterPrompt {
    /// What the character is like.
    pub prompt: Prompt,
    /// What the result must not show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uc: Option<Text<32000>>,
    /// Where it stands in the image.
    #[serde(default)]
    pub center: Centre,
}

/// An image whose mood is adopted.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct Vibe {
    /// URL or base64 of the image.
    pub image: ImageData,
    /// How much of it.
    #[serde(default)]
    pub strength: Real<0, 1000, 600>,
}

words! {
    /// What is taken over from a reference.
    pub ReferenceKind = Both { Both "character&style", Character "character", Style "style" }
}

/// An image whose character or style is adopted.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct CharacterReference {
    /// URL or base64 of the image.
    pub image: ImageData,
    /// What is adopted from the image.
    #[serde(default, rename = "type")]
    pub kind: ReferenceKind,
    /// How much the reference dominates.
    #[serde(default)]
    pub strength: Real<0, 1000, 1000>,
    /// How faithful it is.
    #[serde(default)]
    pub fidelity: Real<0, 1000, 0>,
}

/// The texts of characters with their fields, for the list of banned words.
pub(super) fn character_texts(
    characters: &[CharacterPrompt],
) -> impl Iterator<Item = (String, &str)> {
    characters.iter().enumerate().map(|(index, character)| {
        let field = format!("character_prompts[{index}].prompt");
        (field, &*character.prompt)
    })
}
