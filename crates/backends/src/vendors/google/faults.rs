//! What Google's errors mean: `{"error": {…}}`, or a list of one of them, with the reason among the details.

use serde_json::Value;

use crate::answers::{self, ErrorWords, Rule};
use crate::backend::{Class, Fault};
use crate::http::VendorAnswer;

/// The vendor's table.
pub(super) const RULES: &[Rule] = &[
    Rule::code("api_key_invalid", Class::Dead),
    Rule::words(400, "api key not valid", Class::Dead),
    Rule::words(400, "api key expired", Class::Dead),
    Rule::code("safety", Class::Reject),
    Rule::code("prohibited_content", Class::Reject),
    Rule::words(400, "invalid interaction name", Class::Gone),
    Rule::words(429, "plan and billing", Class::Quota),
    Rule::status(429, Class::Rate),
    Rule::code("budget_exceeded", Class::Quota),
];

/// What an unwelcome answer means.
pub(super) fn read(answer: &VendorAnswer) -> Fault {
    let body = serde_json::from_slice::<Value>(&answer.bytes).unwrap_or_default();
    answers::fault_by(RULES, answer, words(&body))
}

/// What a document says about a failure; its code has the status and the reasons as well.
pub(super) fn words(body: &Value) -> Option<ErrorWords> {
    let body = body.get(0).unwrap_or(body);
    let said = ErrorWords::read(body)?;
    let error = &body["error"];
    let details = error["details"].as_array().into_iter().flatten();
    let reasons = details.filter_map(|detail| detail["reason"].as_str());
    let more = error["status"].as_str().into_iter().chain(reasons);
    Some(ErrorWords {
        code: more.fold(said.code, |code, word| format!("{code} {word}")),
        ..said
    })
}
