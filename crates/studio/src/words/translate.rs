//! Puts the known words of a foreign prompt into English.

use super::lexicon::lexicon;
use super::meaning::{Meaning, english};
use super::pieces::{language, meaning, pieces};
use super::reading::Tongue;

/// An English rendering of the known words of a prompt; an English prompt comes back as it is.
pub fn translated_prompt(prompt: &str) -> String {
    let pieces = pieces(prompt, Tongue::Any);
    let language = language(&pieces);
    if language == 0 {
        return prompt.to_owned();
    }
    let mut out = String::new();
    for piece in &pieces {
        if piece.word.is_empty() {
            out.push(',');
            continue;
        }
        let word = match meaning(piece, language) {
            Some(Meaning::Thing(id)) => lexicon().things[id as usize].name.clone(),
            Some(Meaning::Nothing) => continue,
            Some(other) => english(other).unwrap_or_default().to_owned(),
            // Short unknown words are articles and the like; long ones may be names.
            None if piece.word.chars().count() > 3 => piece.word.clone(),
            None => continue,
        };
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&word);
    }
    out.trim_matches([' ', ',']).to_owned()
}
