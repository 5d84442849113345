//! Tables of words: what one of a job's values is called at the vendor.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::names::JOB;
use super::pointer::text_of;
use crate::field_error::FieldError;

/// A table for one value, which `{{map.NAME}}` looks into.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WordMap {
    /// The value of the job that is looked up, such as `ratio`.
    of: String,
    /// What each of its values is called there.
    to: BTreeMap<String, Value>,
    /// What any other is called; nothing is sent when left out.
    #[serde(default)]
    other: Option<Value>,
}

impl WordMap {
    /// Refuses a table of anything but a value of the job: so no table leads to another, and none to itself.
    pub(super) fn check(&self, place: &str) -> Result<(), FieldError> {
        if !JOB.contains(&&*self.of) {
            let why = format!(
                "{} is no value of a job, there are {}",
                self.of,
                JOB.join(", ")
            );
            return Err(FieldError::new(format!("{place}.of"), why));
        }
        let mut values = self.to.values().chain(&self.other);
        if values.any(|value| text_of(value).is_none()) {
            let why = "must be texts, numbers or truths";
            return Err(FieldError::new(format!("{place}.to"), why));
        }
        Ok(())
    }

    /// Whether it is a table for a value.
    pub(super) fn looks_up(&self, name: &str) -> bool {
        self.of == name
    }

    /// Whether every value has a word.
    pub(super) fn is_total(&self) -> bool {
        self.other.is_some()
    }

    /// The word for a value.
    pub(super) fn word(&self, of: impl Fn(&str) -> Value) -> Value {
        let text = text_of(&of(&self.of));
        let word = text.and_then(|text| self.to.get(&text));
        word.or(self.other.as_ref()).cloned().unwrap_or_default()
    }
}
