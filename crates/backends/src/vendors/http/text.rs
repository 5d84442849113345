//! Texts with placeholders: `{{name}}`, or `{{name|word}}` with what stands there when nothing is given.

use serde_json::Value;

use super::names::TemplateScope;
use super::pointer::text_of;
use crate::field_error::FieldError;
use crate::mapping::pieces;

/// A text with places for values.
#[derive(Clone, Debug)]
pub(super) struct TextTemplate(Vec<TextPiece>);

#[derive(Clone, Debug)]
enum TextPiece {
    Plain(String),
    Value {
        name: String,
        /// What stands there when the value is not given.
        otherwise: Option<String>,
    },
}

/// What placeholders stand for; null for what is not given.
pub(super) type ValueOf<'a> = &'a dyn Fn(&str) -> Value;

impl TextTemplate {
    /// A text whose placeholders are known where it stands.
    pub(super) fn parse(
        text: &str,
        scope: &TemplateScope<'_>,
        place: &str,
    ) -> Result<Self, FieldError> {
        let wrong = |why: String| FieldError::new(place, why);
        let mut all = Vec::new();
        for (before, name) in pieces(text) {
            if before.contains("{{") {
                return Err(wrong("has {{ without }} behind it".to_owned()));
            }
            if !before.is_empty() {
                all.push(TextPiece::Plain(before.to_owned()));
            }
            let Some(name) = name else { continue };
            let (name, otherwise) = match name.split_once('|') {
                Some((name, otherwise)) => (name, Some(otherwise.to_owned())),
                None => (name, None),
            };
            let name = name.trim().to_owned();
            scope.check(&name).map_err(wrong)?;
            all.push(TextPiece::Value { name, otherwise });
        }
        Ok(Self(all))
    }

    /// The only thing in it, where that is a placeholder.
    pub(super) fn alone(&self) -> Option<&str> {
        match &*self.0 {
            [TextPiece::Value { name, .. }] => Some(name),
            _ => None,
        }
    }

    /// Every placeholder in it.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            TextPiece::Value { name, .. } => Some(name.as_str()),
            TextPiece::Plain(_) => None,
        })
    }

    /// The value: that of its only placeholder as it is, or else a text; `None` where one is not given.
    pub(super) fn value(&self, of: ValueOf<'_>) -> Option<Value> {
        match &*self.0 {
            [TextPiece::Value { name, otherwise }] => match (of(name), otherwise) {
                (Value::Null, Some(otherwise)) => Some(otherwise.as_str().into()),
                (Value::Null, None) => None,
                (value, _) => Some(value),
            },
            _ => self.text(of, |_, text| text).map(Value::String),
        }
    }

    /// The text, each value made fit for where it stands; `None` where one is not given.
    pub(super) fn text(
        &self,
        of: ValueOf<'_>,
        fit: impl Fn(&str, String) -> String,
    ) -> Option<String> {
        let mut whole = String::new();
        for piece in &self.0 {
            match piece {
                TextPiece::Plain(text) => whole.push_str(text),
                TextPiece::Value { name, otherwise } => {
                    let text = match of(name) {
                        Value::Null => otherwise.clone()?,
                        value => text_of(&value).unwrap_or_else(|| value.to_string()),
                    };
                    whole.push_str(&fit(name, text));
                }
            }
        }
        Some(whole)
    }
}
