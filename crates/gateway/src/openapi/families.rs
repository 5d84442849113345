//! The families' endpoints, from the contract's table.

use atelier_contract::FAMILIES;
use atelier_contract::family::{Delivery, Family, Fetch, Submit};
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

use super::parts::{answers, idempotency_key, query};

/// Adds every submit and fetch.
pub(super) fn add(paths: &mut Map<String, Value>, generator: &mut SchemaGenerator) {
    for family in FAMILIES {
        for submit in family.submits {
            paths.insert(
                submit.path.to_owned(),
                json!({ "post": submit_of(family, submit, generator) }),
            );
        }
        for fetch in family.fetches {
            paths.insert(fetch.path.to_owned(), fetch_of(family, fetch, generator));
        }
    }
}

fn submit_of(family: &Family, submit: &Submit, generator: &mut SchemaGenerator) -> Value {
    let schema = (submit.schema)(generator).to_value();
    let example: Value = serde_json::from_str(submit.example).unwrap_or(Value::Null);
    let mut content = Map::new();
    content.insert(
        "application/json".into(),
        json!({ "schema": schema, "example": example }),
    );
    if !submit.files.is_empty() {
        content.insert(
            "multipart/form-data".into(),
            json!({ "schema": form_of(submit, &schema, generator) }),
        );
    }
    let mut operation = json!({
        "operationId": submit.name,
        "tags": [family.title],
        "summary": summary(generator, &schema),
        "parameters": [idempotency_key()],
        "requestBody": { "required": true, "content": content },
        "responses": answers(&(submit.answer_shape)(generator).to_value()),
    });
    if matches!(submit.delivery, Delivery::Job) {
        operation["callbacks"] = callback(family, hook_field(generator, &schema), generator);
    }
    operation
}

/// The definition a schema refers to, or the schema itself.
fn resolved(generator: &SchemaGenerator, schema: &Value) -> Value {
    let name = schema["$ref"]
        .as_str()
        .and_then(|path| path.rsplit('/').next());
    name.and_then(|name| generator.definitions().get(name))
        .cloned()
        .unwrap_or_else(|| schema.clone())
}

/// The first sentence of the request's own documentation.
fn summary(generator: &SchemaGenerator, schema: &Value) -> Value {
    resolved(generator, schema)["description"].clone()
}

/// The spelling of the callback address this operation documents.
fn hook_field(generator: &SchemaGenerator, schema: &Value) -> &'static str {
    let fields = resolved(generator, schema)["properties"].clone();
    if fields.get("hook_url").is_some() {
        "hook_url"
    } else {
        "hookUrl"
    }
}

/// The multipart form of a request: its files as files, everything else as text.
fn form_of(submit: &Submit, schema: &Value, generator: &SchemaGenerator) -> Value {
    let mut form = resolved(generator, schema);
    for name in submit.files {
        let file = json!({ "type": "string", "format": "binary" });
        form["properties"][*name] = if *name == "image" {
            json!({ "type": "array", "items": file })
        } else {
            file
        };
    }
    form
}

fn callback(family: &Family, field: &str, generator: &mut SchemaGenerator) -> Value {
    let body = (family.shape)(generator).to_value();
    let expression = format!("{{$request.body#/{field}}}");
    json!({
        "finished": {
            expression: {
                "post": {
                    "operationId": format!("{}.callback.{field}", family.name),
                    "summary": "Sent when the job has finished or failed: the body of fetch, signed.",
                    "security": [],
                    "parameters": (["webhook-id", "webhook-timestamp", "webhook-signature"].map(|name| json!({
                        "name": name, "in": "header", "required": true, "schema": { "type": "string" },
                    }))),
                    "requestBody": { "content": { "application/json": { "schema": body } } },
                    "responses": {
                        "2XX": { "description": "Taken; it is not sent again." },
                        "410": { "description": "Not wanted; it is not sent again." },
                    },
                },
            },
        },
    })
}

fn fetch_of(family: &Family, fetch: &Fetch, generator: &mut SchemaGenerator) -> Value {
    let good = (family.shape)(generator).to_value();
    let id = json!({ "type": "string" });
    let body = json!({ "type": "object", "required": [fetch.param], "properties": { fetch.param: id.clone() } });
    let name = fetch.path.trim_matches('/').replace('/', ".");
    json!({
        "get": {
            "operationId": format!("{name}.get"),
            "tags": [family.title],
            "summary": "How far a job is, and its result.",
            "parameters": [query(fetch.param, true, &id)],
            "responses": answers(&good),
        },
        "post": {
            "operationId": format!("{name}.post"),
            "tags": [family.title],
            "summary": "How far a job is, and its result.",
            "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
            "responses": answers(&good),
        },
    })
}
