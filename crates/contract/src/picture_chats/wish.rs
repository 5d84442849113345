//! What a conversation asks for.

use serde_json::Value;

use crate::body::Fields;

/// Names of fields that are told as ignored, at most, and letters of each.
const NAMES_MOST: usize = 50;
const NAME_MOST: usize = 100;

/// What a conversation asks for.
#[derive(Debug, Default)]
pub struct PictureWish {
    /// The last message's words.
    pub(super) prompt: String,
    /// Where they stood.
    pub(super) prompt_field: String,
    /// Its images, each with the place where it stood: addresses, data-URIs or base64.
    pub(super) images: Vec<(String, Value)>,
    /// How many pictures, with the field that says so.
    pub(super) count: Option<(String, Value)>,
    /// The shape, as `16:9`, with the field that says so.
    pub(super) ratio: Option<(String, String)>,
    /// What picture models read beside it, by its own name.
    pub(super) options: Fields,
    /// The end user.
    pub(super) user: Option<Value>,
    /// What has no effect.
    pub(super) ignored: Vec<String>,
}

impl PictureWish {
    /// Whether it comes with images to work from.
    pub fn has_images(&self) -> bool {
        !self.images.is_empty()
    }

    /// Names fields that have no effect.
    pub(super) fn ignore(&mut self, names: impl IntoIterator<Item = String>) {
        let room = NAMES_MOST.saturating_sub(self.ignored.len());
        let names = names.into_iter().take(room);
        let names = names.map(|name| name.chars().take(NAME_MOST).collect::<String>());
        self.ignored.extend(names);
    }
}

/// A field that says something.
pub(super) fn take(fields: &mut Fields, names: &[&str]) -> Option<Value> {
    let mut found = None;
    for name in names {
        if let Some(value) = fields.remove(*name).filter(|value| !value.is_null()) {
            found.get_or_insert(value);
        }
    }
    found
}

/// The names of what is left of an object, as its caller knows them.
pub(super) fn left(place: &str, fields: Fields) -> impl Iterator<Item = String> {
    let said = fields.into_iter().filter(|(_, value)| !value.is_null());
    said.map(move |(name, _)| {
        if place.is_empty() {
            name
        } else {
            format!("{place}.{name}")
        }
    })
}
