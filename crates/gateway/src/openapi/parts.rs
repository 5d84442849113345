//! Pieces that many operations share.

use serde_json::{Map, Value, json};

/// The statuses any call with a key may be answered with, besides its own.
const ANY: &[(&str, &str)] = &[
    (
        "400",
        "Refused: a parameter, the quota, the queue, or the job does not allow it.",
    ),
    (
        "401",
        "The key is missing, unknown or revoked, or the e-mail is not verified.",
    ),
    ("403", "The credential does not allow this call."),
    ("404", "There is nothing here."),
    ("405", "The path exists, but not with this method."),
    ("408", "The request did not arrive in time."),
    ("409", "The change conflicts with what is stored."),
    ("413", "The body is too large."),
    (
        "415",
        "The body's content type or encoding is not supported.",
    ),
    ("422", "The Idempotency-Key was used with another body."),
    ("429", "Too many requests; see Retry-After."),
    ("500", "Something went wrong here."),
    (
        "502",
        "The back end failed; the held quota has been returned.",
    ),
    (
        "503",
        "The service cannot take the request now; see Retry-After.",
    ),
    (
        "504",
        "The back end took too long; the held quota has been returned.",
    ),
];

/// The shared responses by name.
pub(super) fn responses() -> Value {
    let one = |(status, meaning): &(&str, &str)| {
        let body = json!({
            "description": meaning,
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Refusal" } } },
        });
        (format!("R{status}"), body)
    };
    Value::Object(ANY.iter().map(one).collect())
}

/// The responses of an operation whose good answer has a schema.
pub(super) fn answers(good: &Value) -> Value {
    let mut all = Map::new();
    all.insert(
        "200".into(),
        json!({ "description": "Good.", "content": { "application/json": { "schema": good } } }),
    );
    refusals(&mut all);
    Value::Object(all)
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
pub(super) fn later(schema: &Value) -> Value {
    let mut all = Map::new();
    all.insert(
        "200".into(),
        json!({ "description": "The body of the synchronous call.", "content": { "application/json": {} } }),
    );
    all.insert("202".into(), pending(schema));
    all.insert(
        "410".into(),
        json!({
            "description": "The files of the answer have expired.",
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Refusal" } } },
        }),
    );
    refusals(&mut all);
    Value::Object(all)
}

/// The responses of an operation that streams events.
pub(super) fn streamed() -> Value {
    let mut all = Map::new();
    all.insert(
        "200".into(),
        json!({ "description": "Events.", "content": { "text/event-stream": {} } }),
    );
    all.insert(
        "204".into(),
        json!({ "description": "The job is final and its last event was seen." }),
    );
    refusals(&mut all);
    Value::Object(all)
}

/// The responses of an operation that has a protocol of its own.
pub(super) fn messages() -> Value {
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
    refusals(&mut all);
    Value::Object(all)
}

/// The responses of an operation that answers with something else than JSON.
pub(super) fn plain(media: &str) -> Value {
    let mut all = Map::new();
    all.insert(
        "200".into(),
        json!({ "description": "Good.", "content": { media: {} } }),
    );
    refusals(&mut all);
    Value::Object(all)
}

/// Adds the refusals any call may meet.
fn refusals(all: &mut Map<String, Value>) {
    for (status, _) in ANY {
        all.insert(
            (*status).to_owned(),
            json!({ "$ref": format!("#/components/responses/R{status}") }),
        );
    }
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
