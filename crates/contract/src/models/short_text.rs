//! A short text that an operator writes, in one line.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::names::TEXT_MOST;
use crate::fields::as_text;

/// A short text without control characters; one that says nothing is none.
pub(super) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let Some(value) = Option::<Value>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let text = as_text(value).map_err(D::Error::custom)?;
    let text = text.trim();
    if text.chars().count() > TEXT_MOST || text.chars().any(char::is_control) {
        return Err(D::Error::custom(format_args!(
            "must be at most {TEXT_MOST} characters in one line"
        )));
    }
    Ok((!text.is_empty()).then(|| text.to_owned()))
}
