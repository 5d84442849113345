//! Reads prompts: which subjects, how many, in which colour, where, when, in what weather and style.

mod annotations;
mod glyphs;
pub(crate) mod lexicon;
mod meaning;
mod pieces;
mod reader;
pub(crate) mod reading;
mod stop_words;
mod text;
pub(crate) mod translate;

use reading::{Reading, Tongue};

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

/// Words that join others or praise, and name nothing.
const FILLERS: &[&str] = &[
    "a",
    "an",
    "the",
    "of",
    "in",
    "on",
    "at",
    "to",
    "with",
    "and",
    "or",
    "by",
    "for",
    "from",
    "is",
    "are",
    "very",
    "highly",
    "extremely",
    "really",
    "quite",
    "some",
    "that",
    "this",
    "it",
    "its",
    "as",
    "into",
    "please",
    "draw",
    "make",
    "create",
];

/// A word as it is compared, and how much it matters: 0 for one that names nothing, most for one that the lexicon knows.
pub(crate) fn importance(word: &str) -> (String, u8) {
    let folded = text::folded(word);
    let bare = folded
        .trim_matches(|c: char| !c.is_alphanumeric())
        .to_owned();
    let weight = if bare.is_empty() || FILLERS.contains(&bare.as_str()) {
        0
    } else if stop_words::VAGUE.contains(&bare.as_str()) {
        1
    } else if lexicon::lexicon().find_inflected(&bare).is_some() {
        3
    } else {
        2
    };
    (bare, weight)
}
