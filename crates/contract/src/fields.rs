//! A type is a rule: each field type accepts exactly the values its documentation allows, in the lenient forms
//! callers really send, and says in plain words what it wants when it refuses.

mod address;
mod deferred;
mod image;
mod length;
mod list;
mod moment;
mod number;
mod order;
mod text;
#[macro_use]
mod words;

pub use address::{HookUrl, ImageUrl};
pub use deferred::DeferredField;
pub(crate) use image::is_stored_file_name;
pub use image::{ImageData, ImageHeader, InlineData, InlineImage};
pub use length::{SecondsText, Span};
pub use list::List;
pub use moment::Moment;
pub use number::{Count, Flag, NumberChoice, Real, Seconds, SteppedCount};
pub use order::field_order;
pub use text::{Prompt, SeedText, Text};
pub(crate) use words::words;

use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

/// Reads a value as the text that stands for it: a number counts as its decimal text.
pub(crate) fn as_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(de::Error::custom(format_args!(
            "must be text, is {}",
            kind(&other)
        ))),
    }
}

/// Shows a refused value, shortened: an echo must not become a copy of the caller's file.
fn shown(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST {
        format!("`{text}`")
    } else {
        format!("`{}…`", text.chars().take(MOST).collect::<String>())
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The text of an enum field.
pub(crate) fn word_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    as_text(deserializer)
}

/// What an enum field says of a word it does not know.
pub(crate) fn not_a_word<E: de::Error>(text: &str, words: &[&str]) -> E {
    E::custom(format_args!(
        "must be one of {}, is {}",
        words.join(", "),
        shown(text)
    ))
}
