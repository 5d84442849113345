//! The body of a refusal, in the form its path promises.

use serde_json::{Map, Value, json};

use super::RefusedData;
use crate::refusal::Refusal;

/// The body of a refusal at a path, in the form of the family the path belongs to.
pub fn refused_at(path: &str, refusal: &Refusal) -> Map<String, Value> {
    let family = crate::FAMILIES
        .iter()
        .find(|family| path.starts_with(family.prefix));
    let data = family.map_or(RefusedData::Null, |family| family.refused_data);
    let mut body = refused(data, refusal);
    if family.is_some_and(|family| family.vendor_errors) {
        let kind = match refusal.code.status() {
            401 => "authentication_error",
            429 => "rate_limit_error",
            500.. => "server_error",
            _ => "invalid_request_error",
        };
        let error = json!({
            "message": refusal.message,
            "type": kind,
            "param": refusal.field,
            "code": refusal.code.word(),
        });
        body.insert("error".into(), error);
    }
    body
}

/// The body of a refusal, in a family's form.
pub fn refused(data: RefusedData, refusal: &Refusal) -> Map<String, Value> {
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
    body
}
