//! One thing that can be called: a path with a method.

use atelier_contract::pages::{Access, Method};
use serde_json::{Value, json};

/// One thing that can be called.
pub(crate) struct Operation {
    /// Its name; no other operation has it.
    pub(crate) name: String,
    /// The title of its group.
    pub(crate) group: &'static str,
    /// How it is asked.
    pub(crate) method: Method,
    /// Where it is, with placeholders in braces.
    pub(crate) path: String,
    /// Who may.
    pub(crate) access: Access,
    /// What it does, in a sentence.
    pub(crate) summary: Value,
    /// What it reads from the query: the schema of an object.
    pub(crate) query: Option<Value>,
    /// What it reads from a JSON body.
    pub(crate) body: Option<Value>,
    /// The same as a multipart form.
    pub(crate) form: Option<Value>,
    /// A valid body.
    pub(crate) example: Option<Value>,
    /// Whether it takes an `Idempotency-Key`.
    pub(crate) idempotent: bool,
    /// What is posted to the caller when its job has finished.
    pub(crate) callback: Option<Callback>,
    /// What it answers when all is well.
    pub(crate) answer: ResponseKind,
    /// The names of its body's fields in the order people want to read them; none when nobody said.
    pub(crate) order: &'static [&'static str],
    /// What comes of it, `picture` or `video`, when something does.
    pub(crate) makes: Option<&'static str>,
}

/// What is posted when a job has finished.
pub(crate) struct Callback {
    /// Its name.
    pub(crate) name: String,
    /// The field of the request that holds the address.
    pub(crate) field: &'static str,
    /// The schema of what is posted.
    pub(crate) body: Value,
}

/// A good answer.
pub(crate) enum ResponseKind {
    /// JSON, by its schema.
    Json(Value),
    /// Server-sent events.
    Events,
    /// Messages of a protocol of their own.
    Messages,
    /// Something else, by its media type.
    Media(&'static str),
}

/// The usual envelope around a schema of `data`.
pub(super) fn envelope(data: &Value) -> Value {
    json!({
        "type": "object",
        "required": ["status", "message", "data"],
        "properties": { "status": { "type": "string" }, "message": { "type": ["string", "null"] }, "data": data },
    })
}

/// The usual envelope around one page of a list.
pub(super) fn paged(item: &Value) -> Value {
    json!({
        "type": "object",
        "required": ["status", "message", "data", "total", "page", "limit"],
        "properties": {
            "status": { "type": "string" },
            "message": { "type": ["string", "null"] },
            "data": { "type": "array", "items": item },
            "total": { "type": "integer" },
            "page": { "type": "integer" },
            "limit": { "type": "integer" },
        },
    })
}

/// The same for a list that says where it goes on.
pub(super) fn continued(item: &Value) -> Value {
    let mut page = paged(item);
    page["properties"]["next"] = json!({
        "type": ["string", "null"],
        "description": "Where the list goes on: the `after` of the next call; null at the end.",
    });
    if let Some(required) = page["required"].as_array_mut() {
        required.push("next".into());
    }
    page
}
