//! All words of all languages with what they mean, built once from two tables.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::annotations::table;
use super::glyphs::of_glyph;
use super::meaning::{Meaning, of_code};
use super::stop_words::VAGUE;
use super::text;
use crate::choices::habitat;
use crate::choices::habitat::Kind;
use crate::choices::kinds::Setting;
use crate::subject::built_in;

/// Our own words: a code, then columns of a language and its words.
const CORE: &str = include_str!("../../assets/words/core.tsv");

/// Languages, in the order of the annotation columns.
pub(crate) const LANGUAGES: [&str; 18] = [
    "en", "es", "fr", "de", "it", "pt", "nl", "pl", "ru", "uk", "tr", "zh", "ja", "ko", "ar", "hi",
    "sv", "id",
];

/// A thing that can be drawn.
#[derive(Clone, Debug)]
pub(crate) struct Thing {
    /// Names the drawing in the set of subjects.
    pub key: String,
    pub name: String,
    /// Where it belongs and how large it is.
    pub kind: Kind,
}

/// One meaning of a word in one language; a lower rank is a closer match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Index into [`LANGUAGES`].
    pub language: u8,
    /// 0 our own words, 1 names, 2 keywords.
    pub rank: u8,
    pub meaning: Meaning,
}

/// Every word that is understood, in every language.
pub(crate) struct Lexicon {
    words: HashMap<String, Vec<Entry>>,
    stems: HashMap<String, Vec<Entry>>,
    pub things: Vec<Thing>,
    by_key: HashMap<String, u16>,
    longest_dense: usize,
}

/// The one lexicon of the process.
pub(crate) fn lexicon() -> &'static Lexicon {
    static ONE: OnceLock<Lexicon> = OnceLock::new();
    ONE.get_or_init(Lexicon::build)
}

impl Lexicon {
    fn build() -> Self {
        let mut all = Self {
            words: HashMap::new(),
            stems: HashMap::new(),
            things: Vec::new(),
            by_key: HashMap::new(),
            longest_dense: 1,
        };
        for own in built_in::OWN {
            all.thing(
                own.key,
                own.key,
                Kind {
                    habitat: own.habitat,
                    size: own.size,
                },
            );
        }
        let annotations = table();
        for row in annotations.lines().skip(1) {
            let mut columns = row.split('\t');
            let (Some(glyph), Some(group), Some(name)) =
                (columns.next(), columns.next(), columns.next())
            else {
                continue;
            };
            if built_in::own_for(glyph).is_none() {
                all.thing(glyph, short_name(name), habitat::of_emoji(group, name));
            }
        }
        all.core();
        all.annotations(&annotations);
        all.index_stems();
        all
    }

    fn thing(&mut self, key: &str, name: &str, kind: Kind) -> u16 {
        let id = self.things.len() as u16;
        self.things.push(Thing {
            key: key.to_owned(),
            name: name.to_owned(),
            kind,
        });
        self.by_key.insert(key.to_owned(), id);
        id
    }

    /// The meaning of a code or a glyph.
    fn meaning(&self, code: &str) -> Option<Meaning> {
        of_code(code).or_else(|| {
            let key = built_in::own_for(code).unwrap_or(code);
            self.by_key.get(key).map(|id| Meaning::Thing(*id))
        })
    }

    fn core(&mut self) {
        for row in CORE.lines().filter(|row| !row.starts_with('#')) {
            let mut columns = row.split('\t');
            let Some(meaning) = columns.next().and_then(|code| self.meaning(code.trim())) else {
                continue;
            };
            for column in columns {
                let Some((language, words)) = column.split_once(' ') else {
                    continue;
                };
                let Some(language) = LANGUAGES.iter().position(|l| *l == language) else {
                    continue;
                };
                for word in words.split('|') {
                    self.insert(
                        word,
                        Entry {
                            language: language as u8,
                            rank: 0,
                            meaning,
                        },
                    );
                }
            }
        }
    }

    fn annotations(&mut self, annotations: &str) {
        let uses = keyword_uses(annotations);
        for row in annotations.lines().skip(1) {
            let columns: Vec<&str> = row.split('\t').collect();
            let [glyph, group, _, languages @ ..] = columns.as_slice() else {
                continue;
            };
            let meaning = of_glyph(glyph)
                .and_then(of_code)
                .or_else(|| self.meaning(glyph));
            let Some(meaning) = meaning else { continue };
            self.insert(
                glyph,
                Entry {
                    language: 0,
                    rank: 0,
                    meaning,
                },
            );
            for (language, cell) in languages.iter().enumerate() {
                for (place, word) in cell.split('|').enumerate() {
                    let rank = 1 + u8::from(place > 0) + if is_pictured(group) { 0 } else { 2 };
                    let common = uses.get(&(language as u8, word)).copied().unwrap_or(0) > 3;
                    // Gestures carry keywords such as "above" that are no pictures in any language.
                    let gesture = place > 0 && language > 0 && !is_pictured(group);
                    if word.is_empty()
                        || gesture
                        || (place > 0 && (common || language == 0 && VAGUE.contains(&word)))
                    {
                        continue;
                    }
                    let entry = Entry {
                        language: language as u8,
                        rank,
                        meaning,
                    };
                    self.insert(word, entry);
                    if let Some(bare) = word.strip_suffix(" face").filter(|_| place == 0) {
                        self.insert(bare, entry);
                    }
                }
            }
        }
    }

    fn insert(&mut self, word: &str, entry: Entry) {
        let word = text::tokens(word).join(" ");
        if word.is_empty() {
            return;
        }
        if word.chars().all(text::is_dense) {
            self.longest_dense = self.longest_dense.max(word.chars().count()).min(8);
        } else if word.chars().count() < 2 && word.is_ascii() {
            return;
        }
        let known = self.words.entry(word).or_default();
        match known.iter_mut().find(|e| e.language == entry.language) {
            Some(old) if old.rank <= entry.rank => {}
            Some(old) => *old = entry,
            None => known.push(entry),
        }
    }

    fn index_stems(&mut self) {
        let mut words: Vec<(&String, &Vec<Entry>)> = self.words.iter().collect();
        words.sort_by(|a, b| a.0.cmp(b.0));
        for (word, entries) in words {
            let Some(stem) = text::stem(word) else {
                continue;
            };
            let known = self.stems.entry(stem).or_default();
            for entry in entries.iter().filter(|e| e.language != 0) {
                match known.iter_mut().find(|e| e.language == entry.language) {
                    Some(old) if old.rank <= entry.rank => {}
                    Some(old) => *old = *entry,
                    None => known.push(*entry),
                }
            }
        }
    }

    /// All meanings of a word or phrase, in whatever language; the forms of a word count as the word.
    pub(crate) fn find(&self, word: &str) -> Option<&[Entry]> {
        let exact = text::forms(word)
            .into_iter()
            .find_map(|form| self.words.get(&form));
        exact.map(Vec::as_slice)
    }

    /// Meanings of a word whose ending is not in the lexicon.
    pub(crate) fn find_inflected(&self, word: &str) -> Option<&[Entry]> {
        self.stems.get(&text::stem(word)?).map(Vec::as_slice)
    }

    /// How many characters of a dense script can make one word.
    pub(crate) fn longest_dense(&self) -> usize {
        self.longest_dense
    }
}

/// How often a keyword is used within a language: words of many things name none of them.
fn keyword_uses(annotations: &str) -> HashMap<(u8, &str), u32> {
    let mut uses = HashMap::new();
    for row in annotations.lines().skip(1) {
        for (language, cell) in row.split('\t').skip(3).enumerate() {
            for word in cell.split('|').skip(1) {
                *uses.entry((language as u8, word)).or_insert(0) += 1;
            }
        }
    }
    uses
}

fn is_pictured(group: &str) -> bool {
    !(group.starts_with("face-")
        || group.starts_with("hand")
        || group.starts_with("person-gesture")
        || matches!(
            group,
            "emotion" | "time" | "cat-face" | "monkey-face" | "sky & weather" | "body-parts"
        ))
}

fn short_name(name: &str) -> &str {
    name.strip_suffix(" face").unwrap_or(name)
}

/// Where a thing of our own lives when nobody says.
pub(crate) fn home_of(key: &str) -> Option<Setting> {
    built_in::home(key)
}
