//! What Google's errors mean: `{"error": {…}}`, or a list of one of them, with the reason and the quota among the details.

use std::time::Duration;

use serde_json::Value;

use crate::backend::{Class, Fault};
use crate::http::VendorResponse;
use crate::vendor_errors::{self, ErrorRule, LONGEST_REST, VendorError};

pub(in crate::vendors) const RULES: &[ErrorRule] = &[
    ErrorRule::code("api_key_invalid", Class::Dead),
    ErrorRule::words(400, "api key not valid", Class::Dead),
    ErrorRule::words(400, "api key expired", Class::Dead),
    ErrorRule::code("safety", Class::Reject),
    ErrorRule::code("prohibited_content", Class::Reject),
    ErrorRule::words(400, "invalid interaction name", Class::Gone),
    // The free tier is not sold where the account is: it needs one with billing.
    ErrorRule::code("failed_precondition", Class::Quota),
    ErrorRule::code("budget_exceeded", Class::Quota),
];
/// Seconds from the start of a day to the time at which the vendor counts anew: midnight in California, an hour late in summer.
const NEW_DAY_SECONDS: u64 = 8 * 3600;
const DAY_SECONDS: u64 = 24 * 3600;

/// What an unwelcome answer means.
pub(in crate::vendors) fn read(answer: &VendorResponse) -> Fault {
    let body = serde_json::from_slice::<Value>(&answer.bytes).unwrap_or_default();
    let said = words(&body);
    let fault = vendor_errors::fault_by(RULES, answer, said.clone());
    match (answer.status, said) {
        (429, Some(said)) => limited(answer, &body, &said, fault),
        _ => fault,
    }
}

/// What is over. The sentence about plan and billing comes with every limit, so that only the quota's name tells.
fn limited(answer: &VendorResponse, body: &Value, said: &VendorError, usual: Fault) -> Fault {
    let quotas = quotas(body);
    let is = |part: &str| quotas.iter().any(|name| name.contains(part));
    let text = said.message.to_lowercase();
    let after = delay(body).or(usual.after);
    let (class, after) = if text.contains("limit: 0,") || text.ends_with("limit: 0") {
        // The account's tier does not have the model at all, whenever it is asked.
        (Class::Model, None)
    } else if is("PerDay") {
        (Class::Rate, Some(until_new_day(answer)))
    } else if is("PerMinute") || !quotas.is_empty() || delay(body).is_some() {
        (Class::Rate, after)
    } else if text.contains("billing") || text.contains("credits") {
        (Class::Quota, None)
    } else {
        (Class::Rate, after)
    };
    let fault = vendor_errors::fault_as(class);
    Fault {
        after,
        detail: usual.detail,
        ..fault
    }
}

fn details(body: &Value) -> impl Iterator<Item = &Value> {
    let body = body.get(0).unwrap_or(body);
    body["error"]["details"].as_array().into_iter().flatten()
}

/// The names of the quotas that are over.
fn quotas(body: &Value) -> Vec<&str> {
    let all =
        details(body).flat_map(|detail| detail["violations"].as_array().into_iter().flatten());
    all.filter_map(|one| one["quotaId"].as_str()).collect()
}

/// How long the vendor asks to be left alone: `26s` or `26.4s`.
fn delay(body: &Value) -> Option<Duration> {
    let text = details(body).find_map(|detail| detail["retryDelay"].as_str())?;
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    let delay = Duration::try_from_secs_f64(seconds).ok()?;
    Some(delay.min(LONGEST_REST))
}

/// The time until the vendor counts a new day, by its own clock.
fn until_new_day(answer: &VendorResponse) -> Duration {
    let date = answer.headers.get(http::header::DATE);
    let date = date.and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
    let since = date.and_then(|date| date.duration_since(std::time::UNIX_EPOCH).ok());
    let Some(since) = since else {
        return LONGEST_REST;
    };
    let of_day = (since.as_secs() + DAY_SECONDS - NEW_DAY_SECONDS) % DAY_SECONDS;
    Duration::from_secs(DAY_SECONDS - of_day)
}

/// What a document says about a failure; its code has the status, the reasons and the quotas as well.
pub(in crate::vendors) fn words(body: &Value) -> Option<VendorError> {
    let said = VendorError::read(body.get(0).unwrap_or(body))?;
    let error = &body.get(0).unwrap_or(body)["error"];
    let reasons = details(body).filter_map(|detail| detail["reason"].as_str());
    let more = error["status"].as_str().into_iter().chain(reasons);
    let code = more
        .chain(quotas(body))
        .fold(said.code, |code, word| format!("{code} {word}"));
    Some(VendorError {
        code: code.trim().to_owned(),
        ..said
    })
}
