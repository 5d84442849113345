//! One thing that can be called: a path with a method.

use serde_json::{Value, json};

use crate::pages::{Access, Method};

/// One thing that can be called.
pub struct ApiOperation {
    /// Its name; no other operation has it.
    pub name: String,
    /// The operation that does the same with another method and is named first.
    pub twin_of: Option<String>,
    /// The title of its group.
    pub group: &'static str,
    /// How it is asked.
    pub method: Method,
    /// Where it is, with placeholders in braces.
    pub path: String,
    /// Who may call it.
    pub access: Access,
    /// What it does, in a sentence.
    pub summary: Value,
    /// Whether another operation does the same better.
    pub deprecated: bool,
    /// What it reads from the query: the schema of an object.
    pub query: Option<Value>,
    /// What it reads from a JSON body.
    pub body: Option<Value>,
    /// The same as a multipart form.
    pub form: Option<Value>,
    /// A body that the operation accepts, for documents and forms.
    pub example: Option<Value>,
    /// Whether it takes an `Idempotency-Key`.
    pub idempotent: bool,
    /// What is posted to the caller when its job has finished.
    pub callback: Option<Callback>,
    /// What it answers when all is well.
    pub answer: ResponseKind,
    /// What it answers instead when its caller does not wait (202).
    pub pending: Option<Value>,
    /// Whether it answers with server-sent events where its caller asks for them.
    pub streams: bool,
    /// The names of its body's fields in the order people want to read them; none when nobody said.
    pub order: &'static [&'static str],
    /// What comes of it, `picture` or `video`, when something does.
    pub makes: Option<&'static str>,
}

/// What is posted when a job has finished.
pub struct Callback {
    /// Name given by its owner.
    pub name: String,
    /// The field of the request that holds the address.
    pub field: &'static str,
    /// The schema of what is posted.
    pub body: Value,
}

/// What an operation answers when all is well.
pub enum ResponseKind {
    /// JSON, by its schema.
    Json(Value),
    /// The answer of another operation, and until then (202) something of this schema.
    Later(Value),
    /// A stream of server-sent events.
    Events,
    /// Messages of a protocol of their own.
    Messages,
    /// Something else, by its media type.
    Media(&'static str),
}

/// The name of an operation that does what another does with another method.
pub(super) fn twin_name(name: &str, method: Method) -> String {
    format!("{name}.{}", method.word().to_lowercase())
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
