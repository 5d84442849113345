//! The OpenAPI 3.1 document, made from the catalogue of operations and from the operator's models.

mod errors;
mod operation;
mod parts;
mod sample;

use std::fmt::Write as _;

use atelier_contract::catalogue::{ApiOperation, Catalogue, ResponseKind};
use atelier_contract::family::SubmitEndpoint;
use atelier_contract::models::DatedModels;
use atelier_contract::{Code, LimitWindow};
use serde_json::{Map, Value, json};

use crate::catalogue::catalogue;
use crate::http::static_content::StaticContent;

/// The whole document, as it is sent while the operator has these models.
pub(crate) fn static_document(models: DatedModels<'_>) -> StaticContent {
    let media_type = "application/json; charset=utf-8";
    StaticContent::new(media_type, document(models).to_string().into())
}

/// Lets every request that may name a model name those of the operator.
fn name_models(catalogue: &mut Catalogue, models: DatedModels<'_>) {
    let Catalogue {
        operations,
        schemas,
        ..
    } = catalogue;
    for operation in operations {
        let Some((_, submit)) = atelier_contract::operation(&operation.name) else {
            continue;
        };
        let own = [
            &mut operation.body,
            &mut operation.form,
            &mut operation.query,
        ];
        for schema in own.into_iter().flatten() {
            widen(schemas, schema, submit, models);
        }
    }
}

/// Widens a schema, or the one that it stands for.
fn widen(
    schemas: &mut Map<String, Value>,
    schema: &mut Value,
    submit: &SubmitEndpoint,
    models: DatedModels<'_>,
) {
    let name = schema["$ref"].as_str();
    let name = name.and_then(|path| path.rsplit('/').next());
    match name.and_then(|name| schemas.get_mut(name)) {
        Some(referred) => models.schema(submit, referred),
        None => models.schema(submit, schema),
    }
}

fn document(models: DatedModels<'_>) -> Value {
    let mut catalogue = catalogue();
    if !models.is_empty() {
        name_models(&mut catalogue, models);
    }
    let mut paths = Map::new();
    let of_programs = |one: &&ApiOperation| !is_for_browsers(one);
    for (place, one) in catalogue.operations.iter().filter(of_programs).enumerate() {
        let methods = paths.entry(one.path.clone()).or_insert_with(|| json!({}));
        methods[one.method.word().to_lowercase()] = operation::described(one, place);
    }
    let mut schemas = catalogue.schemas;
    schemas.insert("Refusal".into(), refusal());
    let tags = catalogue
        .groups
        .iter()
        .map(|group| json!({ "name": group.title, "description": group.about }));
    let tags: Vec<Value> = tags.collect();
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Atelier",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "A self-hosted, quota-metered gateway for generated media.",
            "description": description(),
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "tags": tags,
        "security": [{ "key": [] }, { "bearer": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": errors::responses(),
            "securitySchemes": {
                "key": { "type": "apiKey", "in": "header", "name": "SVC-API-KEY" },
                "bearer": { "type": "http", "scheme": "bearer", "description": "The same key as a bearer token." },
                "operator": { "type": "http", "scheme": "bearer", "description": "The operator's token." },
            },
        },
    });
    drop_empty_defaults(&mut document);
    write_out_any(&mut document);
    add_samples(&mut document);
    // What signs has every crate of its build keep the order of fields: the document is the same in all of them.
    document.sort_all_objects();
    document
}

/// Whether a browser shows what it answers: no program calls it.
fn is_for_browsers(operation: &ApiOperation) -> bool {
    operation.path.starts_with("/console") && !matches!(operation.answer, ResponseKind::Json(_))
}

/// A field that may be left out stands for an empty text then, which is no value for it: validators refuse a default that its own
/// schema does.
fn drop_empty_defaults(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let least = fields.get("minLength").and_then(Value::as_u64);
            if least.is_some_and(|least| least > 0) && fields.get("default") == Some(&json!("")) {
                fields.remove("default");
            }
            fields.values_mut().for_each(drop_empty_defaults);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_empty_defaults),
        _ => {}
    }
}

/// Whatever may be anything is written as an empty schema: not every reader knows that `true` means the same.
fn write_out_any(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                if name == "items" && *inner == Value::Bool(true) {
                    *inner = json!({});
                }
                write_out_any(inner);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(write_out_any),
        _ => {}
    }
}

/// Shows what an answer of each operation looks like.
fn add_samples(document: &mut Value) {
    let schemas = document["components"]["schemas"].clone();
    let paths = document["paths"].as_object_mut();
    let methods = paths.into_iter().flatten();
    let operations = methods.filter_map(|(_, methods)| methods.as_object_mut());
    for (_, operation) in operations.flatten() {
        let responses = operation["responses"].as_object_mut();
        for (_, response) in responses.into_iter().flatten() {
            let Some(content) = response.pointer_mut("/content/application~1json") else {
                continue;
            };
            if let Some(schema) = content.get("schema") {
                content["example"] = sample::of(&schemas, schema);
            }
        }
    }
}

fn description() -> String {
    let mut text = String::from(
        "Submit calls answer with a `jobId`; poll the family's fetch endpoint, follow `/jobs/v1/{jobId}/events`, or \
         give a `hookUrl` and receive the same body as fetch, signed. Numbers and booleans may arrive as text, \
         unknown fields are ignored, and every submit takes an `Idempotency-Key` header.\n\n| code | HTTP | meaning |\n|---|---|---|\n",
    );
    for code in Code::ALL {
        let (word, status, meaning) = (code.word(), code.status(), code.meaning());
        let _ = writeln!(text, "| `{word}` | {status} | {meaning} |");
    }
    text
}

/// What every refusal looks like.
fn refusal() -> Value {
    let words: Vec<&str> = Code::ALL.iter().map(|code| code.word()).collect();
    json!({
        "type": "object",
        "required": ["status", "message", "data", "code"],
        "properties": {
            "status": { "const": "FAILED" },
            "message": { "type": "string", "description": "Names the field and the allowed values." },
            "data": { "type": ["object", "null"] },
            "code": { "type": "string", "enum": words },
            "param": { "type": "string", "description": "The offending field with its path." },
            "limit": {
                "type": "object",
                "description": "With `key_limit` only: the limit of the key, or of one above it, that the request would pass.",
                "required": ["window", "quota", "spent", "resetsAt"],
                "properties": {
                    "window": { "type": "string", "enum": LimitWindow::WORDS },
                    "quota": { "type": "number" },
                    "spent": { "type": "number", "description": "What was spent in the window, with what unfinished jobs hold." },
                    "resetsAt": { "type": ["string", "null"], "description": "When the next window begins, in UTC; null for `total`." },
                },
            },
            "error": {
                "type": "object",
                "description": "Under /v1 only: the same in the vendor's form.",
                "required": ["message", "type", "param", "code"],
                "properties": {
                    "message": { "type": "string" },
                    "type": { "type": "string" },
                    "param": { "type": ["string", "null"] },
                    "code": { "type": ["string", "null"] },
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use atelier_contract::models::ModelCatalogue;

    use super::*;

    /// The checked-in document; set `ATELIER_TEST_UPDATE` to write it anew.
    const CHECKED_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "a wish of whoever runs the tests"
    )]
    fn the_checked_in_document_is_fresh() {
        let made = serde_json::to_string_pretty(&document(ModelCatalogue::default().at(0)))
            .expect("JSON")
            + "\n";
        if std::env::var("ATELIER_TEST_UPDATE").is_ok() {
            std::fs::write(CHECKED_IN, &made).expect("written");
        }
        let kept = std::fs::read_to_string(CHECKED_IN).unwrap_or_default();
        assert!(
            kept == made,
            "docs/openapi.json is stale; run the test with ATELIER_TEST_UPDATE=1"
        );
    }

    #[test]
    fn every_operation_of_the_table_is_described_with_an_example() {
        let document = document(ModelCatalogue::default().at(0));
        for family in atelier_contract::FAMILIES {
            for submit in family.submits {
                let post = &document["paths"][submit.path]["post"];
                assert_eq!(post["operationId"], submit.name);
                assert!(
                    post["requestBody"]["content"]["application/json"]["example"].is_object(),
                    "{}",
                    submit.name
                );
            }
            for fetch in family.fetches {
                assert!(
                    document["paths"][fetch.path]["get"].is_object(),
                    "{}",
                    fetch.path
                );
            }
        }
    }

    #[test]
    fn every_operation_belongs_to_a_listed_group() {
        let document = document(ModelCatalogue::default().at(0));
        let listed: Vec<&Value> = document["tags"]
            .as_array()
            .expect("tags")
            .iter()
            .map(|tag| &tag["name"])
            .collect();
        for path in document["paths"].as_object().expect("paths").values() {
            for operation in path.as_object().expect("methods").values() {
                let tag = &operation["tags"][0];
                assert!(
                    listed.contains(&tag),
                    "{tag} of {}",
                    operation["operationId"]
                );
            }
        }
    }

    /// Every identifier of an operation or a callback below a value.
    fn identifiers(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                found.extend(
                    fields
                        .get("operationId")
                        .and_then(Value::as_str)
                        .map(str::to_owned),
                );
                fields.values().for_each(|one| identifiers(one, found));
            }
            Value::Array(items) => items.iter().for_each(|one| identifiers(one, found)),
            _ => {}
        }
    }

    /// The promise: identifiers are unique and of one style, also where a generated client writes them as names of functions.
    #[test]
    fn no_operation_has_two_meanings() {
        let document = document(ModelCatalogue::default().at(0));
        let mut ids = Vec::new();
        identifiers(&document["paths"], &mut ids);
        let is_part = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_lowercase())
                && part
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        for id in &ids {
            assert!(id.split('.').all(is_part), "{id}");
        }
        let count = ids.len();
        let mut names: Vec<String> = ids.iter().map(|id| id.replace(['.', '_'], "")).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    /// Every schema below a value.
    fn each(value: &Value, look: &mut dyn FnMut(&Value)) {
        look(value);
        match value {
            Value::Object(fields) => fields.values().for_each(|one| each(one, look)),
            Value::Array(items) => items.iter().for_each(|one| each(one, look)),
            _ => {}
        }
    }

    /// The promise: an enum of a field and one of its own are not given one name by a generator, which makes it of object and field.
    #[test]
    fn no_two_enums_are_called_alike() {
        let document = document(ModelCatalogue::default().at(0));
        let schemas = document["components"]["schemas"]
            .as_object()
            .expect("schemas");
        let squeezed = |name: &str| name.replace('_', "").to_lowercase();
        let own: Vec<String> = schemas.keys().map(|name| squeezed(name)).collect();
        for (object, schema) in schemas {
            for (field, inner) in schema["properties"].as_object().into_iter().flatten() {
                if inner.get("enum").is_some() {
                    let name = squeezed(&format!("{object}{field}"));
                    assert!(!own.contains(&name), "{object}.{field} and {name}");
                }
            }
        }
        each(&document, &mut |value| {
            let Some(words) = value.get("enum").and_then(Value::as_array) else {
                return;
            };
            for (place, word) in words.iter().enumerate() {
                assert!(!words[..place].contains(word), "{word} twice in {value}");
            }
        });
    }

    #[test]
    fn every_group_and_operation_says_what_it_is_for_and_shows_an_answer() {
        let document = document(ModelCatalogue::default().at(0));
        for tag in document["tags"].as_array().expect("tags") {
            assert!(
                tag["description"]
                    .as_str()
                    .is_some_and(|text| text.ends_with('.')),
                "{tag}"
            );
        }
        let mut shown = 0;
        for path in document["paths"].as_object().expect("paths").values() {
            for operation in path.as_object().expect("methods").values() {
                let id = &operation["operationId"];
                for text in ["summary", "description"] {
                    assert!(
                        operation[text]
                            .as_str()
                            .is_some_and(|text| !text.is_empty()),
                        "{id}"
                    );
                }
                let Some(content) = operation.pointer("/responses/200/content/application~1json")
                else {
                    continue;
                };
                if content.get("schema").is_some() {
                    assert!(content.get("example").is_some(), "{id}");
                    shown += 1;
                }
            }
        }
        assert!(shown > 100, "{shown}");
    }
}
