//! The body of a refusal.

use serde_json::{Map, Value, json};

use crate::refusal::Refusal;

/// What a refused submit has as `data`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedData {
    /// `data` is the JSON value `null`.
    Null,
    /// `data` is an empty object, `{}`.
    Empty,
}

/// The body of a refusal, in a family's form.
pub fn refusal_body(data: RefusedData, refusal: &Refusal) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("status".into(), "FAILED".into());
    body.insert("message".into(), refusal.message.clone().into());
    body.insert(
        "data".into(),
        if data == RefusedData::Empty {
            json!({})
        } else {
            Value::Null
        },
    );
    body.insert("code".into(), refusal.code.word().into());
    if let Some(field) = &refusal.field {
        body.insert("param".into(), field.clone().into());
    }
    if let Some(limit) = &refusal.limit {
        body.insert("limit".into(), (**limit).clone());
    }
    body
}
