//! What a stored request keeps of the catalogue: the model, its revision, and the words that `like` does not know. With it a
//! job runs, is taken over and is shown without the catalogue.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::names::SPELLINGS;
use super::price::PriceLine;
use super::words::{AUTO_SIDE, FreeKind, pixels, seconds, text_of};
use crate::body::Fields;
use crate::brief::{Brief, VideoDefinition};

/// The field of a stored request that keeps the model; no caller can send it, because requests keep only documented fields.
pub const CATALOGUE_FIELD: &str = "$model";

/// The model of a job, as its stored request keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelNote {
    /// Name of the model in the catalogue.
    pub name: String,
    /// The revision that the job was accepted with.
    pub revision: u32,
    /// The caller's words where the request holds those of `like`.
    #[serde(default, skip_serializing_if = "Fields::is_empty")]
    pub said: Fields,
}

/// The note of a stored request, if it names a model of the catalogue.
pub fn note_of(stored: &Fields) -> Option<ModelNote> {
    let note = stored.get(CATALOGUE_FIELD).filter(|note| !note.is_null())?;
    ModelNote::deserialize(note).ok()
}

/// A stored request in the caller's words, without the note.
pub fn as_asked(stored: &Fields) -> Fields {
    let mut fields = stored.clone();
    put_back(&mut fields);
    fields
}

/// Puts the caller's words into a stored request and takes the note out of it.
pub(crate) fn put_back(fields: &mut Fields) {
    let note = note_of(fields);
    fields.remove(CATALOGUE_FIELD);
    if let Some(note) = note {
        fields.extend(note.said);
    }
}

impl ModelNote {
    /// As the stored request keeps it.
    pub(super) fn value(&self) -> Value {
        let mut note = Fields::new();
        note.insert("name".to_owned(), self.name.clone().into());
        note.insert("revision".to_owned(), self.revision.into());
        if !self.said.is_empty() {
            note.insert("said".to_owned(), self.said.clone().into());
        }
        note.into()
    }

    /// Whether a line of a price is of this model, and not one of the tariff.
    pub(super) fn wrote(&self, line: &PriceLine) -> bool {
        let rest = line.line.strip_prefix(&self.name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
    }

    /// The model by the name that the caller knows, unless `like` knows it too.
    fn model(&self) -> Option<&str> {
        let mut spellings = SPELLINGS.iter();
        spellings.find_map(|spelling| self.said.get(*spelling)?.as_str())
    }

    /// Puts the caller's words over what was made of those of `like`. What the work has no size or length of stays without.
    pub(super) fn apply(&self, brief: &mut Brief) {
        if let Some(model) = self.model() {
            model.clone_into(&mut brief.model);
        }
        for (field, word) in &self.said {
            match FreeKind::of(field) {
                Some(FreeKind::Size) if brief.width > 0 => resize(brief, &text_of(word)),
                Some(FreeKind::Seconds) if brief.seconds > 0 => {
                    brief.seconds = seconds(word).unwrap_or(brief.seconds);
                }
                Some(FreeKind::Quality) => {
                    let quality = text_of(word).into_owned().into();
                    brief.model_words.insert("quality".to_owned(), quality);
                }
                _ => {}
            }
        }
    }
}

fn resize(brief: &mut Brief, word: &str) {
    let old = (brief.width, brief.height);
    let new = pixels(word).unwrap_or((AUTO_SIDE, AUTO_SIDE));
    (brief.width, brief.height) = new;
    brief.definition = VideoDefinition::BySize;
    // A picture that had to have the size of the result has to have the new one.
    let hints = brief.hints.iter_mut().map(|hint| &mut hint.source);
    let sources = brief.sources.iter_mut().chain(hints);
    for source in sources.chain(brief.mask.as_mut()) {
        if source.wanted.size == Some(old) {
            source.wanted.size = Some(new);
        }
    }
}
