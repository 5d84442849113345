//! Texts as they are compared: what looks alike to a reader is alike, and what nobody sees is not there.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

/// Characters that show nothing (`Default_Ignorable_Code_Point` of Unicode 16), first and last of each range.
const IGNORABLE: &[(char, char)] = &[
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fff8}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

fn is_ignorable(c: char) -> bool {
    !c.is_ascii()
        && IGNORABLE
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&c))
}

/// A text in the form to compare: small letters, compatibility forms (NFKC), nothing that shows nothing. Most texts are
/// ASCII, where only the case can differ.
pub(super) fn normalized(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            text.to_ascii_lowercase().into()
        } else {
            text.into()
        };
    }
    let seen = text.chars().filter(|c| !is_ignorable(*c));
    let small = seen.nfkc().flat_map(char::to_lowercase);
    // The two small forms of one Greek letter.
    small.map(|c| if c == 'ς' { 'σ' } else { c }).collect()
}

/// Whether a word stands in a text as a whole; both are in the form to compare. An underscore ends a word.
pub(super) fn holds_word(text: &str, word: &str) -> bool {
    let Some(first) = word.bytes().next().filter(|_| !word.trim().is_empty()) else {
        return false;
    };
    // Every prompt is asked about every word: a general search prepares itself for longer than it takes to look here.
    let (bytes, length) = (text.as_bytes(), word.len());
    let stands = |at: &usize| bytes[*at] == first && bytes[*at..].starts_with(word.as_bytes());
    (0..bytes.len()).filter(stands).any(|at| {
        let before = text[..at].chars().next_back();
        let after = text[at + length..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}
