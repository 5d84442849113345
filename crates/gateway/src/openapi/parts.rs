//! Pieces that many operations share.

use serde_json::{Map, Value, json};

/// The responses of an operation whose good answer has a schema.
pub(super) fn answers(good: &Value) -> Map<String, Value> {
    let mut all = Map::new();
    all.insert(
        "200".into(),
        json!({ "description": "Success.", "content": { "application/json": { "schema": good } } }),
    );
    all
}

/// The response that only says where the answer will be.
pub(super) fn pending(schema: &Value) -> Value {
    let text =
        |description: &str| json!({ "description": description, "schema": { "type": "string" } });
    json!({
        "description": "Accepted and not waited for (`async`, or `Prefer: respond-async`).",
        "headers": {
            "Location": text("Where the answer will be; the body's `poll`."),
            "Retry-After": text("Seconds after which to look there."),
            "Preference-Applied": text("`respond-async`."),
            "X-Atelier-Job-Id": text("Identifier of the job."),
        },
        "content": { "application/json": { "schema": schema } },
    })
}

/// The responses of a page that gives the answer of another operation.
pub(super) fn later(schema: &Value) -> Map<String, Value> {
    let mut all = Map::new();
    all.insert(
        "200".into(),
        json!({ "description": "The body of the synchronous call.", "content": { "application/json": {} } }),
    );
    all.insert("202".into(), pending(schema));
    all
}

/// The responses of an operation that streams events.
pub(super) fn streamed() -> Map<String, Value> {
    let mut all = Map::new();
    all.insert(
        "200".into(),
        json!({ "description": "Events.", "content": { "text/event-stream": {} } }),
    );
    all.insert(
        "204".into(),
        json!({ "description": "The job is final and its last event was seen." }),
    );
    all
}

/// The responses of an operation that has a protocol of its own.
pub(super) fn messages() -> Map<String, Value> {
    let mut all = Map::new();
    let content = json!({ "application/json": {}, "text/event-stream": {} });
    all.insert(
        "200".into(),
        json!({ "description": "An answer, or answers as events.", "content": content }),
    );
    all.insert(
        "202".into(),
        json!({ "description": "Taken; there is nothing to say." }),
    );
    all
}

/// The responses of an operation that answers with something else than JSON.
pub(super) fn plain(media: &str) -> Map<String, Value> {
    let mut all = Map::new();
    let schema = match media {
        "application/json" => json!({}),
        "application/octet-stream" => json!({ "type": "string", "format": "binary" }),
        _ => json!({ "type": "string" }),
    };
    let content = json!({ media: { "schema": schema } });
    all.insert(
        "200".into(),
        json!({ "description": "Success. `Content-Type` says what it is.", "content": content }),
    );
    all
}

/// The header by which a caller says that it does not wait.
pub(super) fn prefer() -> Value {
    json!({
        "name": "Prefer",
        "in": "header",
        "required": false,
        "description": "`respond-async` does what `\"async\": true` does in the body.",
        "schema": { "type": "string" },
    })
}

/// The header every submit takes.
pub(super) fn idempotency_key() -> Value {
    json!({
        "name": "Idempotency-Key",
        "in": "header",
        "required": false,
        "description": "The same key and body within 24 hours give the first answer again and cost nothing more.",
        "schema": { "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$" },
    })
}
