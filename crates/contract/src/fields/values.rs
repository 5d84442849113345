//! What field types do with the value they are given: read it as text or as a whole number, and show it when they refuse.

use serde::{Deserialize, Deserializer, de};
use serde_json::{Number, Value};

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
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST {
        format!("`{text}`")
    } else {
        format!("`{}…`", text.chars().take(MOST).collect::<String>())
    }
}

/// What a value is, for messages.
pub(super) fn kind(value: &Value) -> &'static str {
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

/// `300` and `300.0` are the same whole number.
pub(super) fn whole(number: &Number) -> Option<i64> {
    number.as_i64().or_else(|| {
        let value = number.as_f64()?;
        (value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i64)
    })
}

/// Shows a refused value of any kind.
pub(super) fn as_shown(value: &Value) -> String {
    match value {
        Value::String(text) => shown(text),
        other => other.to_string(),
    }
}
