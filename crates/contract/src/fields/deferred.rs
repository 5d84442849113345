//! A field that is judged only when it turns out to be needed, because another field may make it irrelevant.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::body::typed;
use crate::refusal::Refusal;

/// A value of `T`, or why it is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeferredField<T>(Result<T, String>);

impl<T> DeferredField<T> {
    /// The value; a bad one is refused now, by the name of its field.
    pub fn get(&self, field: &str) -> Result<&T, Refusal> {
        self.0
            .as_ref()
            .map_err(|message| Refusal::invalid(field, message))
    }

    /// The value, when it is good.
    pub fn ok(&self) -> Option<&T> {
        self.0.as_ref().ok()
    }
}

impl<T: Serialize> Serialize for DeferredField<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.ok().serialize(serializer)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for DeferredField<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let parsed = typed::read(&value).map_err(|mistake| mistake.to_string());
        Ok(Self(parsed))
    }
}

impl<T: JsonSchema> JsonSchema for DeferredField<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
