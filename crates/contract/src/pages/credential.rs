//! A credential at a vendor: taken, sealed, sent to that vendor, and never shown.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use crate::fields::as_text;

/// Bytes of a credential.
const MOST: usize = 8_192;

/// A credential as it was given.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credential(String);

impl Credential {
    /// The text itself, for the one place that seals it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "none" } else { "hidden" })
    }
}

impl<'de> Deserialize<'de> for Credential {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = as_text(deserializer)?;
        if text.len() > MOST || text.contains('\0') {
            return Err(de::Error::custom(format_args!(
                "must be a text of at most {MOST} bytes"
            )));
        }
        Ok(Self(text.trim().to_owned()))
    }
}

impl JsonSchema for Credential {
    fn schema_name() -> Cow<'static, str> {
        "Credential".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": MOST, "writeOnly": true })
    }
}
