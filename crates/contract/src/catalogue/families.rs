//! The families' operations, from their table.

use schemars::SchemaGenerator;
use serde_json::{Value, json};

use super::operation::{ApiOperation, Callback, ResponseKind, twin_name};
use crate::families::FAMILIES;
use crate::family::{AnswerMode, Family, FetchEndpoint, SubmitEndpoint};
use crate::pages::answers::PendingAnswer;
use crate::pages::jobs::{JobView, media_kind};
use crate::pages::{Access, Method};
use crate::scopes::Scope;

/// Every submit and fetch.
pub(super) fn operations(generator: &mut SchemaGenerator) -> Vec<ApiOperation> {
    let mut all = Vec::new();
    for family in FAMILIES {
        for submit in family.submits {
            all.push(submit_of(family, submit, generator));
        }
        for fetch in family.fetches {
            all.push(fetch_of(family, fetch, Method::Get, generator));
            all.push(fetch_of(family, fetch, Method::Post, generator));
        }
    }
    all
}

fn submit_of(
    family: &Family,
    submit: &SubmitEndpoint,
    generator: &mut SchemaGenerator,
) -> ApiOperation {
    let schema = (submit.schema)(generator).to_value();
    let request = resolved(generator, &schema);
    let waits = matches!(submit.answers_with, AnswerMode::Answer(_));
    let callback = if waits {
        job_callback(generator)
    } else {
        callback(family, hook_field(&request), generator)
    };
    let pending = waits.then(|| generator.subschema_for::<PendingAnswer>().to_value());
    ApiOperation {
        name: submit.name.to_owned(),
        twin_of: None,
        group: family.title,
        method: Method::Post,
        path: submit.path.to_owned(),
        access: Access::Caller(Scope::Submit),
        summary: request["description"].clone(),
        deprecated: request["deprecated"] == true,
        query: submit.reads_query.then(|| in_query(&request)),
        form: (!submit.files.is_empty()).then(|| form_of(submit, &schema, &request, generator)),
        body: Some(schema),
        example: serde_json::from_str(submit.example).ok(),
        idempotent: true,
        order: (submit.field_order)(),
        makes: Some(media_kind(submit).word()),
        callback: Some(callback),
        pending,
        streams: !submit.streamed_models.is_empty(),
        answer: ResponseKind::Json((submit.answer_shape)(generator).to_value()),
    }
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

/// The spelling of the callback address this operation documents.
fn hook_field(request: &Value) -> &'static str {
    if request["properties"].get("hook_url").is_some() {
        "hook_url"
    } else {
        "hookUrl"
    }
}

/// The fields of a request that may stand in the query: all of them, and none must.
fn in_query(request: &Value) -> Value {
    json!({ "type": "object", "properties": request["properties"] })
}

/// The multipart form of a request: its files as files, everything else as text. It has a name of its own, by which generated clients
/// know it.
fn form_of(
    submit: &SubmitEndpoint,
    schema: &Value,
    request: &Value,
    generator: &mut SchemaGenerator,
) -> Value {
    let mut form = request.clone();
    for name in submit.files {
        let file = json!({ "type": "string", "format": "binary" });
        form["properties"][*name] = if *name == "image" {
            json!({ "type": "array", "items": file })
        } else {
            file
        };
    }
    let Some(path) = schema["$ref"].as_str() else {
        return form;
    };
    let path = format!("{path}Form");
    let name = path.rsplit('/').next().unwrap_or_default().to_owned();
    generator.definitions_mut().insert(name, form);
    json!({ "$ref": path })
}

/// An operation that answers with its result has no fetch: its job is posted as every job is shown.
fn job_callback(generator: &mut SchemaGenerator) -> Callback {
    Callback {
        name: "jobs.callback.hookUrl".to_owned(),
        field: "hookUrl",
        body: generator.subschema_for::<JobView>().to_value(),
    }
}

fn callback(family: &Family, field: &'static str, generator: &mut SchemaGenerator) -> Callback {
    Callback {
        name: format!("{}.callback.{field}", family.name),
        field,
        body: (family.shape)(generator).to_value(),
    }
}

/// The name of the operation that reads a job, from its path: as that of any other operation, and without the version.
fn fetch_name(path: &str) -> String {
    let words = path
        .split('/')
        .filter(|word| !word.is_empty() && *word != "v1");
    words.collect::<Vec<_>>().join(".").replace('-', "_")
}

fn fetch_of(
    family: &Family,
    fetch: &FetchEndpoint,
    method: Method,
    generator: &mut SchemaGenerator,
) -> ApiOperation {
    let asked = json!({
        "type": "object",
        "required": [fetch.param],
        "properties": { fetch.param: { "type": "string" } },
    });
    let by_query = method == Method::Get;
    let name = fetch_name(fetch.path);
    ApiOperation {
        twin_of: (!by_query).then(|| name.clone()),
        name: if by_query {
            name
        } else {
            twin_name(&name, method)
        },
        group: family.title,
        method,
        path: fetch.path.to_owned(),
        access: Access::Caller(Scope::Read),
        summary: "Fetches a job: its progress, then its result.".into(),
        deprecated: false,
        query: by_query.then(|| asked.clone()),
        body: (!by_query).then_some(asked),
        form: None,
        example: None,
        idempotent: false,
        order: &[],
        makes: None,
        callback: None,
        pending: None,
        streams: false,
        answer: ResponseKind::Json((family.shape)(generator).to_value()),
    }
}
