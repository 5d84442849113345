//! One operation of the catalogue as OpenAPI writes it.

use std::collections::BTreeMap;

use atelier_contract::catalogue::{ApiOperation, ResponseKind};
use atelier_contract::pages::Access;
use serde_json::{Map, Value, json};

use super::errors;
use super::parts::{answers, idempotency_key, later, messages, pending, plain, prefer, streamed};

pub(super) fn described(operation: &ApiOperation, place: usize) -> Value {
    let mut parameters: Vec<Value> = placeholders(&operation.path);
    if let Some(query) = &operation.query {
        parameters.extend(in_query(query));
    }
    if operation.idempotent {
        parameters.push(idempotency_key());
    }
    if operation.pending.is_some() {
        parameters.push(prefer());
    }
    let mut shown = json!({
        "operationId": operation.name,
        "tags": [operation.group],
        "x-place": place,
        "summary": operation.summary,
        "description": description(operation),
        "security": security(operation.access),
        "parameters": parameters,
        "responses": responses(operation),
    });
    if operation.deprecated {
        shown["deprecated"] = true.into();
    }
    if let Some(makes) = operation.makes {
        shown["x-makes"] = makes.into();
    }
    if let Some(body) = request_body(operation) {
        shown["requestBody"] = body;
    }
    if let Some(callback) = &operation.callback {
        let expression = format!("{{$request.body#/{}}}", callback.field);
        let post = json!({
            // Many operations post the same body, and each identifier may be there once.
            "operationId": format!("{}.callback", operation.name),
            "summary": "Sent when the job has finished or failed: the body of fetch, or the job as /jobs/v1/{jobId} shows it, signed.",
            "security": [],
            "parameters": (["webhook-id", "webhook-timestamp", "webhook-signature"].map(|name| json!({
                "name": name, "in": "header", "required": true, "schema": { "type": "string" },
            }))),
            "requestBody": { "content": { "application/json": { "schema": callback.body } } },
            "responses": {
                "2XX": { "description": "Taken; it is not sent again." },
                "410": { "description": "Not wanted; it is not sent again." },
            },
        });
        shown["callbacks"] = json!({ "finished": { expression: { "post": post } } });
    }
    shown
}

/// Who may call an operation, and how it answers.
fn description(operation: &ApiOperation) -> String {
    let mut sentences = vec![match operation.access {
        Access::Open => "Needs no credential.".to_owned(),
        Access::Caller(scope) => format!("Needs an API key with the scope `{}`.", scope.word()),
        Access::Viewer => "Needs the token of an operator or a viewer.".to_owned(),
        Access::Operator => "Needs an operator token.".to_owned(),
    }];
    if let Some(twin) = &operation.twin_of {
        sentences.push(format!(
            "The same as `{twin}`, with the parameters in the body."
        ));
    }
    if operation.pending.is_some() {
        sentences.push(
            "The response carries the result; with `\"async\": true` or `Prefer: respond-async` it says at once where the result will be."
                .to_owned(),
        );
    } else if operation.makes.is_some() {
        sentences.push("The response carries the id of a job, which ends later.".to_owned());
    }
    if operation.streams {
        sentences.push("With `\"stream\": true` the response is a stream of events.".to_owned());
    }
    if operation.idempotent {
        sentences.push("Repeat it safely with the same `Idempotency-Key`.".to_owned());
    }
    sentences.join(" ")
}

/// What an operation answers: when all is well, and when it is not.
fn responses(operation: &ApiOperation) -> Value {
    let mut all = match &operation.answer {
        ResponseKind::Json(schema) => answered(operation, schema),
        ResponseKind::Later(schema) => later(schema),
        ResponseKind::Events => streamed(),
        ResponseKind::Messages => messages(),
        ResponseKind::Media(media) => plain(media),
    };
    errors::add(operation, &mut all);
    Value::Object(all)
}

/// The responses of an operation with JSON for an answer, and whatever else its caller may ask for.
fn answered(operation: &ApiOperation, good: &Value) -> Map<String, Value> {
    let mut all = answers(good);
    if operation.streams {
        all["200"]["content"]["text/event-stream"] = json!({});
    }
    if let Some(schema) = &operation.pending {
        all.insert("202".into(), pending(schema));
    }
    all
}

/// The credentials that will do, each with what it must be good for.
fn security(access: Access) -> Value {
    match access {
        Access::Open => json!([]),
        Access::Caller(scope) => json!([{ "key": [scope.word()] }, { "bearer": [scope.word()] }]),
        Access::Viewer => json!([{ "operator": ["viewer"] }]),
        Access::Operator => json!([{ "operator": ["operator"] }]),
    }
}

fn placeholders(path: &str) -> Vec<Value> {
    let named = path
        .split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    let parameter = |name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } });
    named.map(parameter).collect()
}

/// The properties of an object, each as a parameter of the query.
fn in_query(object: &Value) -> Vec<Value> {
    let required = |name: &str| {
        let listed = object["required"].as_array();
        listed.is_some_and(|listed| listed.iter().any(|one| one == name))
    };
    let fields = object["properties"].as_object().into_iter().flatten();
    let fields: BTreeMap<&String, &Value> = fields.collect();
    fields
        .into_iter()
        .map(|(name, schema)| {
            let required = required(name);
            json!({ "name": name, "in": "query", "required": required, "schema": schema })
        })
        .collect()
}

fn request_body(operation: &ApiOperation) -> Option<Value> {
    let mut content = Map::new();
    if let Some(schema) = &operation.body {
        let mut json = json!({ "schema": schema });
        if let Some(example) = &operation.example {
            json["example"] = example.clone();
        }
        // Objects of this document are sorted by name, so that what comes first for people is said beside them.
        if !operation.order.is_empty() {
            json["x-order"] = json!(operation.order);
        }
        content.insert("application/json".into(), json);
    }
    if let Some(form) = &operation.form {
        content.insert("multipart/form-data".into(), json!({ "schema": form }));
    }
    // What may stand in the query needs no body.
    let required = operation.query.is_none();
    (!content.is_empty()).then(|| json!({ "required": required, "content": content }))
}
