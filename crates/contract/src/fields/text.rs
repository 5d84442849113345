//! Text: prompts, free words, seeds. Lengths are counted in characters.

use std::borrow::Cow;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::values::{as_text, shown};
use crate::body::BLANK;

/// Characters that show nothing: a prompt made of them is missing.
fn is_blank(text: &str) -> bool {
    let invisible = |c: char| {
        c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
    };
    text.chars().all(invisible)
}

fn within<E: de::Error>(text: &str, most: usize) -> Result<(), E> {
    let length = text.chars().count();
    if length > most {
        return Err(E::custom(format_args!(
            "must be at most {most} characters, is {length}"
        )));
    }
    Ok(())
}

/// Words to generate from: not blank, at most `MOST` characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt<const MOST: usize = 32000>(String);

impl<const MOST: usize> Deref for Prompt<MOST> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MOST: usize> Serialize for Prompt<MOST> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de, const MOST: usize> Deserialize<'de> for Prompt<MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = as_text(deserializer)?;
        if is_blank(&text) {
            return Err(de::Error::custom(BLANK));
        }
        within(&text, MOST)?;
        Ok(Self(text))
    }
}

impl<const MOST: usize> JsonSchema for Prompt<MOST> {
    fn schema_name() -> Cow<'static, str> {
        format!("Prompt_{MOST}").into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "maxLength": MOST, "x-widget": "prompt" })
    }
}

/// Any text of at most `MOST` characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text<const MOST: usize>(String);

impl<const MOST: usize> Text<MOST> {
    /// A text that was read before; what does not fit is cut off.
    pub fn cut(text: &str) -> Self {
        Self(text.chars().take(MOST).collect())
    }
}

impl<const MOST: usize> Deref for Text<MOST> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MOST: usize> Serialize for Text<MOST> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de, const MOST: usize> Deserialize<'de> for Text<MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = as_text(deserializer)?;
        within(&text, MOST)?;
        Ok(Self(text))
    }
}

impl<const MOST: usize> JsonSchema for Text<MOST> {
    fn schema_name() -> Cow<'static, str> {
        format!("Text_{MOST}").into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": MOST })
    }
}

/// A seed: digits up to 4294967295, as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedText(u32);

impl SeedText {
    /// The seed as a number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl Serialize for SeedText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SeedText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = as_text(deserializer)?;
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(seed) if digits => Ok(Self(seed)),
            _ => Err(de::Error::custom(format_args!(
                "must be digits up to 4294967295, is {}",
                shown(&text)
            ))),
        }
    }
}

impl JsonSchema for SeedText {
    fn schema_name() -> Cow<'static, str> {
        "Seed".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]{1,10}$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_prompt_is_counted_in_characters() {
        let fits = "🦊".repeat(5);
        assert!(serde_json::from_value::<Prompt<5>>(json!(fits)).is_ok());
        let error = serde_json::from_value::<Prompt<5>>(json!("abcdef")).expect_err("too long");
        assert_eq!(error.to_string(), "must be at most 5 characters, is 6");
    }

    #[test]
    fn a_prompt_of_white_space_is_missing() {
        let error = serde_json::from_value::<Prompt>(json!(" \u{200b}\n")).expect_err("blank");
        assert_eq!(error.to_string(), BLANK);
    }
}
