//! What a vendor's unwelcome answer means: the class of the fault, how long to wait, and what of the vendor's words a
//! caller may read.

mod faults;
mod model_words;
mod pauses;
mod rules;
mod vendor_error;

use serde_json::Value;

use crate::backend::{Acceptance, Class, Fault, StartOutcome};
use crate::http::VendorResponse;
pub(crate) use faults::{fault_as, fault_of_kind, refused_by_review, shortened};
pub(crate) use pauses::{LONGEST_REST, pause_asked, pause_in_words};
pub(crate) use rules::ErrorRule;
use rules::match_class;
pub(crate) use vendor_error::VendorError;

/// What an answer that refused to start work means.
pub(crate) fn fault_of_start(answer: &VendorResponse) -> Fault {
    of_start(answer, fault_of(answer))
}

/// What a fault means when its answer refused to start work.
pub(crate) fn of_start(answer: &VendorResponse, fault: Fault) -> Fault {
    let taken = match answer.status {
        // Whoever stands before the vendor gave up on it; the vendor itself may have gone on.
        502 | 504 | 520..=524 => Acceptance::Perhaps,
        _ => Acceptance::No,
    };
    let fault = match fault.class {
        // A wrong address or an unknown model: the operator's matter, and no other back end's.
        Class::Gone => Fault {
            after: fault.after,
            ..Fault::unknown_model(fault.detail)
        },
        _ => fault,
    };
    Fault { taken, ..fault }
}

/// What a fault means when its answer was one to a question about work: the vendor took the model long ago, so that what it
/// does not know is the work.
pub(crate) fn of_question(fault: Fault) -> Fault {
    match fault.class {
        Class::Model => Fault::vendor(Class::Gone, fault.detail),
        _ => fault,
    }
}

impl VendorResponse {
    /// The document of a good answer; what any other answer means.
    pub fn document(&self) -> Result<Value, Fault> {
        if self.is_good() {
            return self.json();
        }
        Err(fault_of(self))
    }

    /// What the answer to a start says: the name of the work in a field, or a refusal. A good answer without a name has
    /// taken the work all the same, perhaps.
    pub fn ticket(&self, field: &str) -> Result<StartOutcome, Fault> {
        if !self.is_good() {
            return Err(fault_of_start(self));
        }
        let body = self.json().unwrap_or_default();
        match &body[field] {
            name @ (Value::String(_) | Value::Number(_)) => Ok(StartOutcome::Ticket(name.clone())),
            _ => Err(unexpected(self)),
        }
    }
}

/// What an answer means that was neither an error nor what was hoped for: the vendor has taken the work, perhaps.
pub(crate) fn unexpected(answer: &VendorResponse) -> Fault {
    Fault {
        taken: Acceptance::Perhaps,
        ..Fault::vendor(Class::Retry, format!("nonsense, {}", answer.start()))
    }
}

/// What an answer to a question about work means; `Gone` when the vendor does not know the work.
pub(crate) fn fault_of(answer: &VendorResponse) -> Fault {
    let body = serde_json::from_slice::<Value>(&answer.bytes).ok();
    fault_by(&[], answer, body.and_then(|body| VendorError::read(&body)))
}

/// What an unwelcome answer means by a vendor's table, or else by its status.
pub(crate) fn fault_by(
    rules: &[ErrorRule],
    answer: &VendorResponse,
    said: Option<VendorError>,
) -> Fault {
    let is_json = serde_json::from_slice::<Value>(&answer.bytes).is_ok();
    let said = said.unwrap_or_default();
    let class = if is_json {
        class_of(rules, answer.status, &said)
    } else {
        class_of_page(answer.status)
    };
    Fault {
        after: pause_asked(answer).or_else(|| pause_in_words(&said.message)),
        detail: detail_of(answer, &said),
        ..fault_as(class)
    }
}

/// The vendor's words for operators: what it says, or the start of an answer that says nothing.
pub(crate) fn detail_of(answer: &VendorResponse, said: &VendorError) -> String {
    let words = said.words();
    if words.is_empty() {
        return answer.start();
    }
    let words = shortened(&answer.secrets.hide(&words));
    format!("status {}: {words}", answer.status)
}

/// What a page instead of JSON means: it comes from whoever stands between, who knows neither the request nor the account.
fn class_of_page(status: u16) -> Class {
    match status {
        401 => Class::Dead,
        402 => Class::Quota,
        429 => Class::Rate,
        _ => Class::Retry,
    }
}

/// What is said with a status means.
fn class_of(rules: &[ErrorRule], status: u16, said: &VendorError) -> Class {
    let about_request = matches!(status, 400 | 403 | 404 | 422);
    if said.is_model() && (about_request || status == 401) {
        return Class::Model;
    }
    let by_table = match_class(rules, status, said);
    let class = by_table.unwrap_or_else(|| usual_class(status, said));
    let vague = match class {
        Class::BadRequest | Class::Gone => true,
        // A refusal that a vendor's table does not know is the account's only where nothing is said of the model.
        Class::Dead => by_table.is_none() && status == 403 && !said.is_key(),
        _ => false,
    };
    if vague && about_request && said.speaks_of_model() {
        return Class::Model;
    }
    class
}

/// What most vendors mean.
fn usual_class(status: u16, said: &VendorError) -> Class {
    match status {
        400 | 403 | 422 | 451 if said.is_review() => Class::Reject,
        400 | 402 | 403 | 429 if said.is_money() => Class::Quota,
        400 | 403 if said.is_key() => Class::Dead,
        401 | 403 => Class::Dead,
        402 => Class::Quota,
        429 => Class::Rate,
        404 | 410 => Class::Gone,
        400 | 405 | 406 | 411 | 413 | 414 | 415 | 422 | 451 => Class::BadRequest,
        _ => Class::Retry,
    }
}

/// The fault of work that a vendor has given up, by its table; what it does not have may pass.
pub(crate) fn failed_by(rules: &[ErrorRule], said: &VendorError) -> Fault {
    let class = match match_class(rules, 200, said) {
        _ if said.is_model() => Class::Model,
        Some(Class::BadRequest | Class::Gone) if said.speaks_of_model() => Class::Model,
        Some(class) => class,
        None if said.is_review() => Class::Reject,
        None if said.is_money() => Class::Quota,
        None if said.speaks_of_model() => Class::Model,
        None => Class::Retry,
    };
    Fault {
        detail: shortened(&said.words()),
        ..fault_as(class)
    }
}

/// Whether an answer says that a task does not exist. A probe that asks for an impossible task shows by it that the vendor is
/// healthy.
pub(crate) fn is_unknown_task(answer: &VendorResponse) -> bool {
    matches!(answer.status, 400 | 404 | 422) && answer.json().is_ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;
    use http::HeaderMap;
    use serde_json::json;

    use super::*;
    use crate::http::Secrets;

    fn answer(status: u16, body: &str) -> VendorResponse {
        VendorResponse {
            status,
            headers: HeaderMap::new(),
            bytes: Bytes::from(body.to_owned()),
            secrets: Secrets::default(),
        }
    }

    #[test]
    fn each_status_has_its_class() {
        let error =
            |code: &str| json!({"error": {"code": code, "message": "It failed."}}).to_string();
        let cases = [
            (400, error("moderation_blocked"), Class::Reject),
            (400, error("billing_hard_limit_reached"), Class::Quota),
            (400, error("invalid_value"), Class::BadRequest),
            (400, error("model_not_found"), Class::Model),
            (403, error("ModelNotOpen"), Class::Model),
            (422, error("invalid_model"), Class::Model),
            (401, error("invalid_api_key"), Class::Dead),
            (402, "{}".into(), Class::Quota),
            (403, error("unverified"), Class::Dead),
            (
                400,
                json!({"error": {"code": "400", "type": "auth_error", "message": "Authentication Error"}})
                    .to_string(),
                Class::Dead,
            ),
            // A LiteLLM proxy without a database, asked with another key than its own.
            (
                400,
                json!({"error": {"code": "400", "type": "no_db_connection", "message": "No connected db."}})
                    .to_string(),
                Class::Dead,
            ),
            (
                400,
                json!({"error": {"code": "400", "type": "budget_exceeded", "message": "x"}}).to_string(),
                Class::Quota,
            ),
            (
                400,
                json!({"error": {"code": 401, "message": "no such key"}}).to_string(),
                Class::Dead,
            ),
            (
                400,
                json!({"error": {"code": "bad_prompt", "message": "auth_error 401"}}).to_string(),
                Class::BadRequest,
            ),
            (403, "<html>".into(), Class::Retry),
            (404, "<html>".into(), Class::Retry),
            (404, error("model_not_found"), Class::Model),
            (410, "{}".into(), Class::Gone),
            (
                422,
                json!({"detail": [{"msg": "bad size"}]}).to_string(),
                Class::BadRequest,
            ),
            (429, error("insufficient_quota"), Class::Quota),
            (429, error("rate_limit_exceeded"), Class::Rate),
            (429, "<html>".into(), Class::Rate),
            (500, "oops".into(), Class::Retry),
            (302, String::new(), Class::Retry),
            (503, error("overloaded"), Class::Retry),
        ];
        for (status, body, class) in cases {
            assert_eq!(
                fault_of(&answer(status, &body)).class,
                class,
                "{status} {body}"
            );
        }
    }

    #[test]
    fn a_start_that_someone_between_gave_up_on_may_have_been_taken() {
        for (status, taken) in [
            (500, Acceptance::No),
            (502, Acceptance::Perhaps),
            (504, Acceptance::Perhaps),
            (503, Acceptance::No),
        ] {
            assert_eq!(
                fault_of_start(&answer(status, "<html>")).taken,
                taken,
                "{status}"
            );
        }
        let unknown = fault_of_start(&answer(
            404,
            r#"{"error":{"code":"model_not_found","message":"The model x"}}"#,
        ));
        assert_eq!(
            (unknown.class, &*unknown.message),
            (Class::Model, "the back end does not know the model")
        );
    }

    #[test]
    fn a_rest_is_read_in_every_form_and_bounded() {
        let with = |name: &'static str, value: &'static str| {
            let mut answer = answer(429, "{}");
            answer.headers.insert(name, value.parse().expect("a value"));
            answer.headers.insert(
                "date",
                "Sun, 06 Nov 1994 08:49:37 GMT".parse().expect("a date"),
            );
            fault_of(&answer).after
        };
        assert_eq!(with("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(
            with("retry-after-ms", "250"),
            Some(Duration::from_millis(250))
        );
        assert_eq!(
            with("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT"),
            Some(Duration::from_mins(1))
        );
        assert_eq!(with("retry-after", "999999999"), Some(LONGEST_REST));
        assert_eq!(with("retry-after", "soon"), None);
    }
}
