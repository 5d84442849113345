//! What Google's errors mean: `{"error": {…}}`, or a list of one of them, with the reason among the details.

use serde_json::Value;

use crate::backend::{Class, Fault};
use crate::http::VendorResponse;
use crate::vendor_errors::{self, ErrorRule, VendorError};

pub(super) const RULES: &[ErrorRule] = &[
    ErrorRule::code("api_key_invalid", Class::Dead),
    ErrorRule::words(400, "api key not valid", Class::Dead),
    ErrorRule::words(400, "api key expired", Class::Dead),
    ErrorRule::code("safety", Class::Reject),
    ErrorRule::code("prohibited_content", Class::Reject),
    ErrorRule::words(400, "invalid interaction name", Class::Gone),
    ErrorRule::words(429, "plan and billing", Class::Quota),
    ErrorRule::status(429, Class::Rate),
    ErrorRule::code("budget_exceeded", Class::Quota),
];

/// What an unwelcome answer means.
pub(super) fn read(answer: &VendorResponse) -> Fault {
    let body = serde_json::from_slice::<Value>(&answer.bytes).unwrap_or_default();
    vendor_errors::fault_by(RULES, answer, words(&body))
}

/// What a document says about a failure; its code has the status and the reasons as well.
pub(super) fn words(body: &Value) -> Option<VendorError> {
    let body = body.get(0).unwrap_or(body);
    let said = VendorError::read(body)?;
    let error = &body["error"];
    let details = error["details"].as_array().into_iter().flatten();
    let reasons = details.filter_map(|detail| detail["reason"].as_str());
    let more = error["status"].as_str().into_iter().chain(reasons);
    Some(VendorError {
        code: more.fold(said.code, |code, word| format!("{code} {word}")),
        ..said
    })
}
