//! The error responses of an operation: only those that it can give, by what it reads and does. Whatever ends a request before its
//! operation is known (an unknown path, another method, a head that cannot be read) is none of its own.

use atelier_contract::Code;
use atelier_contract::catalogue::{ApiOperation, ResponseKind};
use atelier_contract::pages::{Access, Method};
use serde_json::{Map, Value, json};

/// Every status with its meaning.
const STATUSES: &[(u16, &str)] = &[
    (
        400,
        "The request is rejected: a parameter, the quota, the queue or the state of the job does not allow it.",
    ),
    (
        401,
        "The credential is missing, unknown or revoked, or the e-mail is not verified.",
    ),
    (403, "The credential does not allow this call."),
    (404, "What the path or the request names does not exist."),
    (408, "The body did not arrive in time."),
    (409, "The change conflicts with what is stored."),
    (410, "The file has expired."),
    (413, "The body is too large."),
    (
        415,
        "The content type or encoding of the body is not supported.",
    ),
    (422, "The Idempotency-Key was used with another body."),
    (
        429,
        "Too many requests; Retry-After says when to try again.",
    ),
    (500, "Something went wrong in the service."),
    (502, "The back end failed. The reserved quota was returned."),
    (
        503,
        "The service cannot take the request now; Retry-After says when to try again.",
    ),
    (
        504,
        "The back end took too long. The reserved quota was returned.",
    ),
];

/// The shared responses by name, each with an example.
pub(super) fn responses() -> Value {
    let one = |(status, meaning): &(u16, &str)| {
        let body = json!({
            "description": meaning,
            "content": { "application/json": {
                "schema": { "$ref": "#/components/schemas/Refusal" },
                "example": example(*status),
            } },
        });
        (name(*status), body)
    };
    Value::Object(STATUSES.iter().map(one).collect())
}

fn name(status: u16) -> String {
    format!("R{status}")
}

/// An error response with a status: that of the first code that has it.
fn example(status: u16) -> Value {
    let code = Code::ALL.iter().find(|code| code.status() == status);
    let code = code.copied().unwrap_or(Code::Internal);
    let mut body = json!({
        "status": "FAILED",
        "message": code.meaning(),
        "data": null,
        "code": code.word(),
    });
    if code == Code::InvalidParameter {
        body["message"] = "mode: must be one of relax, fast, turbo, is `warp`".into();
        body["param"] = "mode".into();
    }
    body
}

/// Adds the error responses of an operation.
pub(super) fn add(operation: &ApiOperation, all: &mut Map<String, Value>) {
    for (status, _) in STATUSES {
        if can_give(operation, *status) {
            let path = format!("#/components/responses/{}", name(*status));
            all.entry(status.to_string())
                .or_insert_with(|| json!({ "$ref": path }));
        }
    }
}

/// Whether an operation can give an error response with a status.
fn can_give(operation: &ApiOperation, status: u16) -> bool {
    let is_open = operation.access == Access::Open;
    let names_something = operation.path.contains('{');
    let has_body = operation.body.is_some() || operation.form.is_some();
    let reads = names_something || has_body || operation.query.is_some();
    let changes = !matches!(operation.method, Method::Get);
    let is_file = matches!(operation.answer, ResponseKind::Media(_)) && is_open && names_something;
    // Whoever does not wait is told later what the call would have been told.
    let waits = operation.pending.is_some() || matches!(operation.answer, ResponseKind::Later(_));
    match status {
        400 => reads || !is_open,
        401 | 403 => !is_open || is_file,
        404 => names_something || (!is_open && reads),
        408 | 413 | 415 => has_body,
        409 => changes && (has_body || names_something),
        410 => is_file || matches!(operation.answer, ResponseKind::Later(_)),
        422 => operation.idempotent,
        502 | 504 => waits,
        _ => true,
    }
}
