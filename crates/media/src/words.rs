//! Reads prompts: which subjects, how many, in which colour, where, when, in what weather and style.

use serde::{Deserialize, Serialize};

use crate::scene::{Place, Season, Setting, StyleName, Time, Wanted, Weather};

mod glyphs;
mod lexicon;
mod meaning;
mod pieces;
mod reader;
mod text;
mod translate;
mod vague;

pub(crate) use lexicon::home_of;
pub use translate::translated_prompt;

/// What was understood of a prompt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// Subjects in the order they are named.
    pub subjects: Vec<Wanted>,
    /// The place.
    pub setting: Option<Setting>,
    /// The time.
    pub time: Option<Time>,
    /// The weather.
    pub weather: Option<Weather>,
    /// The time of year.
    pub season: Option<Season>,
    /// The style.
    pub style: Option<StyleName>,
    /// Colours that belong to no subject, in order.
    pub palette: Vec<[u8; 3]>,
    /// Their names.
    pub palette_names: Vec<String>,
    /// Whether the moon is asked for.
    pub full_moon: bool,
    /// What to leave out, in English.
    pub left_out: Vec<String>,
    /// The picture's shape, when the prompt says it.
    pub aspect: Option<(u32, u32)>,
    /// Where the next subject belongs.
    pub(crate) place: Option<Place>,
}

/// Which languages are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tongue {
    /// All that there are dictionaries for.
    #[default]
    Any,
    /// English alone; other words say nothing.
    English,
}

/// Reads a prompt and the words to leave out.
pub(crate) fn read(prompt: &str, negative: &str, tongue: Tongue) -> Reading {
    reader::read(prompt, negative, tongue)
}

/// The folded words of a text.
pub(crate) fn plain_words(text: &str) -> Vec<String> {
    text::tokens(text)
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect()
}

/// The colour a word names in any language.
pub(crate) fn word_colour(word: &str) -> Option<[u8; 3]> {
    let entries = lexicon::lexicon().find(word)?;
    entries.iter().find_map(|entry| match entry.meaning {
        meaning::Meaning::Colour(colour) => Some(meaning::COLOURS[colour as usize].1),
        _ => None,
    })
}
