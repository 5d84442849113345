//! What is said about something that may be there already: what is left out stays as it is.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::body::{self, Fields};
use crate::refusal::Refusal;

/// Some fields of a `T`. There is one shape of each thing; a change of it is the same shape with fields left out.
#[derive(Clone)]
pub struct Patch<T> {
    fields: Fields,
    shape: PhantomData<fn() -> T>,
}

/// The names only: a value may be a secret.
impl<T> fmt::Debug for Patch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names())
    }
}

impl<T> Default for Patch<T> {
    fn default() -> Self {
        Self::new(Fields::new())
    }
}

impl<T> Patch<T> {
    /// What a body says.
    pub fn new(mut fields: Fields) -> Self {
        fields.retain(|name, value| !says_nothing(name, value));
        Self {
            fields,
            shape: PhantomData,
        }
    }

    /// Whether a field is given.
    pub fn gives(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// A text that is given.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    /// The same with a field that is given unless it was.
    #[must_use]
    pub fn or(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.entry(name).or_insert_with(|| value.into());
        self
    }

    /// The names of the fields that are given; their values may be secret.
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.fields.keys().map(String::as_str).collect();
        names.join(" ")
    }
}

impl<T: Serialize + DeserializeOwned> Patch<T> {
    /// Something new that is all of this.
    pub fn made(&self) -> Result<T, Refusal> {
        body::read_stored(self.fields.clone())
    }

    /// What there was, with this changed.
    pub fn over(&self, old: &T) -> Result<T, Refusal> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(old) else {
            return self.made();
        };
        fields.retain(|name, value| !says_nothing(name, value));
        fields.extend(self.fields.clone());
        body::read_stored(fields)
    }
}

/// The fields of which null says something: it takes away what was there.
const TAKEN_AWAY: [&str; 6] = [
    "spend_cap",
    "title",
    "price",
    "retires",
    "successor",
    "shadow",
];

/// Nothing means absent, except where it takes something away.
fn says_nothing(name: &str, value: &Value) -> bool {
    match value {
        Value::Null => !TAKEN_AWAY.contains(&name),
        Value::String(text) => text.is_empty() && name != "hours",
        _ => false,
    }
}

impl<'de, T> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Fields::deserialize(deserializer).map(Self::new)
    }
}

/// The same shape, and nothing of it is required.
impl<T: JsonSchema> JsonSchema for Patch<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}Patch", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        schema.remove("required");
        schema
    }
}

/// For callers inside the service, who write what they mean as JSON.
impl<T> From<Value> for Patch<T> {
    fn from(value: Value) -> Self {
        match value {
            Value::Object(fields) => Self::new(fields),
            _ => Self::default(),
        }
    }
}
