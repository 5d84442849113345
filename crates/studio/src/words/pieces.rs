//! Cuts a prompt into known pieces and finds out which language it is in.

use super::lexicon::{Entry, LANGUAGES, lexicon};
use super::meaning::Meaning;
use super::reading::Tongue;
use super::text;

/// A piece of a prompt: its words and everything they may mean.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// The words as they were written, folded.
    pub word: String,
    /// What they may mean; empty when unknown.
    pub entries: Vec<Entry>,
}

/// Cuts a prompt into pieces of the languages that are read.
pub(crate) fn pieces(prompt: &str, tongue: Tongue) -> Vec<Piece> {
    let mut all = known_pieces(prompt);
    if tongue == Tongue::English {
        for piece in &mut all {
            piece.entries.retain(|entry| entry.language == 0);
        }
    }
    all
}

/// Cuts a prompt into pieces, longest known phrase first.
fn known_pieces(prompt: &str) -> Vec<Piece> {
    let tokens = text::tokens(prompt);
    let mut all = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let most = (tokens.len() - at).min(4);
        let found = (2..=most).rev().find_map(|count| {
            let phrase = &tokens[at..at + count];
            if phrase.iter().any(String::is_empty) {
                return None;
            }
            let phrase = phrase.join(" ");
            lexicon()
                .find(&phrase)
                .map(|entries| (count, phrase.clone(), entries))
        });
        if let Some((count, word, entries)) = found {
            all.push(Piece {
                word,
                entries: entries.to_vec(),
            });
            at += count;
            continue;
        }
        let word = &tokens[at];
        if word.chars().any(text::is_dense) {
            dense(word, &mut all);
        } else {
            let entries = known(word);
            all.push(Piece {
                word: word.clone(),
                entries,
            });
        }
        at += 1;
    }
    all
}

fn known(word: &str) -> Vec<Entry> {
    let lexicon = lexicon();
    if let Some(entries) = lexicon.find(word) {
        return entries.to_vec();
    }
    // Korean particles are written onto the noun.
    if word.chars().all(|c| matches!(c, '\u{ac00}'..='\u{d7a3}')) {
        let chars: Vec<char> = word.chars().collect();
        for keep in (1..chars.len()).rev() {
            let head: String = chars[..keep].iter().collect();
            if let Some(entries) = lexicon.find(&head) {
                return entries.to_vec();
            }
        }
    }
    lexicon
        .find_inflected(word)
        .map(<[Entry]>::to_vec)
        .unwrap_or_default()
}

/// Cuts a run of a script without spaces, always taking the longest known word.
fn dense(run: &str, all: &mut Vec<Piece>) {
    let chars: Vec<char> = run.chars().collect();
    let lexicon = lexicon();
    let mut at = 0;
    while at < chars.len() {
        let most = lexicon.longest_dense().min(chars.len() - at);
        let found = (1..=most).rev().find_map(|count| {
            let word: String = chars[at..at + count].iter().collect();
            lexicon
                .find(&word)
                .map(|entries| (count, word.clone(), entries))
        });
        match found {
            Some((count, word, entries)) => {
                all.push(Piece {
                    word,
                    entries: entries.to_vec(),
                });
                at += count;
            }
            None => at += 1,
        }
    }
}

/// The language most of the pieces belong to.
pub(crate) fn language(pieces: &[Piece]) -> u8 {
    let mut scores = [0.0_f32; LANGUAGES.len()];
    for piece in pieces {
        for entry in &piece.entries {
            let weight = [2.0, 1.5, 1.0, 0.5, 0.4][usize::from(entry.rank).min(4)];
            // A word of few languages says more about the language.
            scores[entry.language as usize] += weight / (piece.entries.len() as f32).sqrt();
        }
    }
    scores[0] += 0.6;
    let best = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]).then(b.cmp(a)));
    best.unwrap_or(0) as u8
}

/// What a piece means to someone who speaks this language.
pub(crate) fn meaning(piece: &Piece, language: u8) -> Option<Meaning> {
    let own = piece.entries.iter().find(|e| e.language == language);
    let english = || piece.entries.iter().find(|e| e.language == 0);
    let any = || {
        piece
            .entries
            .iter()
            .min_by_key(|e| e.rank)
            .filter(|e| e.rank < 2)
    };
    own.or_else(english).or_else(any).map(|e| e.meaning)
}
