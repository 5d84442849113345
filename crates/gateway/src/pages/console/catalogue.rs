//! What the console needs of the OpenAPI document before it can draw its first page: what can be made, with the fields of
//! each. It is a part of that document and has its shape, so that the console reads both alike.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Only what makes something, and the schemas that its bodies refer to.
pub(super) fn of(document: &[u8]) -> Option<Value> {
    let document: Value = serde_json::from_slice(document).ok()?;
    let mut paths = Map::new();
    for (path, methods) in document["paths"].as_object()? {
        let making = methods.as_object()?.iter();
        let making = making.filter(|(_, one)| one.get("x-makes").is_some());
        let making: Map<String, Value> = making
            .map(|(method, one)| (method.clone(), part(one)))
            .collect();
        if !making.is_empty() {
            paths.insert(path.clone(), Value::Object(making));
        }
    }
    let paths = Value::Object(paths);
    let all = document["components"]["schemas"].as_object()?;
    let mut names = BTreeSet::new();
    referred(&paths, all, &mut names);
    let schemas: Map<String, Value> = names
        .into_iter()
        .filter_map(|name| Some((name.clone(), all.get(&name)?.clone())))
        .collect();
    Some(json!({
        "tags": document["tags"],
        "paths": paths,
        "components": { "schemas": schemas },
    }))
}

/// An operation without its answers and callbacks.
fn part(one: &Value) -> Value {
    let kept = [
        "operationId",
        "tags",
        "summary",
        "deprecated",
        "parameters",
        "x-makes",
        "x-place",
    ];
    let mut part: Map<String, Value> = kept
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), one.get(*name)?.clone())))
        .collect();
    let json = &one["requestBody"]["content"]["application/json"];
    part.insert(
        "requestBody".to_owned(),
        json!({ "content": { "application/json": json } }),
    );
    Value::Object(part)
}

/// The names of all schemas that a value refers to, also by way of others.
fn referred(value: &Value, all: &Map<String, Value>, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            let name = object.get("$ref").and_then(Value::as_str);
            let name = name.and_then(|path| path.rsplit('/').next());
            if let Some(name) = name
                && names.insert(name.to_owned())
                && let Some(schema) = all.get(name)
            {
                referred(schema, all, names);
            }
            object
                .values()
                .for_each(|inner| referred(inner, all, names));
        }
        Value::Array(list) => list.iter().for_each(|inner| referred(inner, all, names)),
        _ => {}
    }
}
