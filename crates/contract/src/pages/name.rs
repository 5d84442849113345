//! What somebody calls a thing.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::body::BLANK;
use crate::fields::as_text;

/// Characters of a name.
const MOST: usize = 100;

/// A name of 1 to 100 characters; empty only where none was ever given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    /// A name that was read before, or follows from another one.
    pub fn kept(text: &str) -> Self {
        Self(text.trim().chars().take(MOST).collect())
    }
}

impl Deref for Name {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = as_text(deserializer)?;
        let text = text.trim();
        if text.is_empty() {
            return Err(de::Error::custom(BLANK));
        }
        if text.chars().count() > MOST || text.chars().any(char::is_control) {
            return Err(de::Error::custom(format_args!(
                "must be 1 to {MOST} characters"
            )));
        }
        Ok(Self(text.to_owned()))
    }
}

impl JsonSchema for Name {
    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "maxLength": MOST })
    }
}
