//! The usual frame around a result, described.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;

/// The schema of the usual frame around a `data` of type `T` that is null until there is a result; waiting has no word
/// of its own.
pub fn envelope_schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let data = generator.subschema_for::<Option<T>>();
    around(&data, &["ON_QUEUE", "SUCCESS", "FAILED"])
}

/// The schema of the usual frame around a `data` of type `T` that is always there; waiting has a word of its own.
pub fn envelope_schema_with_queue<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let data = generator.subschema_for::<T>();
    around(&data, &["PENDING_QUEUE", "ON_QUEUE", "SUCCESS", "FAILED"])
}

fn around(data: &Schema, states: &[&str]) -> Schema {
    schemars::json_schema!({
        "type": "object",
        "required": ["status", "message", "jobId", "data"],
        "properties": {
            "status": { "type": "string", "enum": states },
            "message": { "type": ["string", "null"] },
            "jobId": { "type": "string" },
            "data": data,
        },
    })
}

/// Serialises a shape; shapes are plain structs, so this cannot fail.
pub fn to_json<T: Serialize>(shape: &T) -> Value {
    serde_json::to_value(shape).unwrap_or(Value::Null)
}
