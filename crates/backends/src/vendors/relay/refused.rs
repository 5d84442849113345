//! What the remote's refusals and failed jobs mean for the request, the worker account and the remote itself.

use std::time::Duration;

use atelier_contract::Code;
use serde_json::Value;

use crate::answers::{fault_in_words, pause_asked, shortened};
use crate::backend::{Class, Fault, Taken};
use crate::http::VendorAnswer;

/// A first call with the same key is being answered; asking again soon gives its answer.
const IN_FLIGHT: Duration = Duration::from_secs(1);

const INVALID: &str = "Invalid parameter";
const BAD_LINK: &str = "Invalid link";
const BANNED: &str = "Banned prompt detected";
const DENIED: &str = "Image denied";
const INTERNAL: &str = "Internal error";

/// The words in brackets of failed jobs.
const KINDS: [(&str, Class); 6] = [
    (BANNED, Class::Reject),
    (DENIED, Class::Reject),
    (BAD_LINK, Class::BadRequest),
    (INVALID, Class::BadRequest),
    ("Cancelled", Class::Gone),
    (INTERNAL, Class::Retry),
];

/// What services that give no code say; looked for in lower case.
const PHRASES: [(&str, Class, &str); 5] = [
    ("banned prompt", Class::Reject, BANNED),
    ("no available account", Class::Retry, INTERNAL),
    ("quota", Class::Quota, INTERNAL),
    ("balance", Class::Quota, INTERNAL),
    ("queue", Class::Rate, INTERNAL),
];

/// Why a call was refused; `Ok` gives the body of one that was not.
pub(super) fn body_of(answer: &VendorAnswer) -> Result<Value, Fault> {
    let body = serde_json::from_slice::<Value>(&answer.bytes).ok();
    match body {
        Some(body) if answer.is_good() && body["status"] != "FAILED" => Ok(body),
        // A page of some proxy before it, or half an answer: it may have been accepted all the same.
        None if answer.is_good() || answer.status >= 500 => Err(Fault {
            after: pause_asked(answer),
            taken: Taken::Perhaps,
            ..Fault::vendor(Class::Retry, answer.start())
        }),
        // A page that forbids comes from whoever stands before the remote, who does not know the account.
        None if answer.status == 403 => Err(Fault::vendor(Class::Retry, answer.start())),
        body => Err(Fault {
            after: pause_asked(answer),
            detail: answer.start(),
            ..refusal(answer.status, &body.unwrap_or_default())
        }),
    }
}

/// The body of a fetch: a job that failed is an answer there, whatever status it came with.
pub(super) fn body_of_job(answer: &VendorAnswer) -> Result<Value, Fault> {
    let body = serde_json::from_slice::<Value>(&answer.bytes).ok();
    match body {
        Some(body) if answer.is_good() => Ok(body),
        _ => body_of(answer),
    }
}

fn refusal(status: u16, body: &Value) -> Fault {
    let text = |name: &str| body[name].as_str().unwrap_or_default();
    let word = text("code");
    let code = Code::ALL.iter().find(|code| code.word() == word);
    let (class, kind) = match code {
        Some(code) => meaning(*code),
        None => guessed(status, text("message")),
    };
    let mut fault = fault_in_words(class, kind, shortened(text("message")));
    if class == Class::BadRequest
        && let Some(field) = body["param"].as_str()
    {
        let rest = fault.message.strip_prefix(&format!("{field}: "));
        fault.message = rest.unwrap_or(&fault.message).to_owned();
        fault.field = Some(field.to_owned());
    }
    match code {
        Some(Code::IdempotencyInFlight) => Fault {
            after: Some(IN_FLIGHT),
            taken: Taken::Perhaps,
            ..fault
        },
        Some(Code::Internal) => Fault {
            taken: Taken::Perhaps,
            ..fault
        },
        None if status >= 500 => Fault {
            taken: Taken::Perhaps,
            ..fault
        },
        _ => fault,
    }
}

fn meaning(code: Code) -> (Class, &'static str) {
    match code {
        Code::InvalidParameter
        | Code::MissingParameter
        | Code::InvalidBody
        | Code::ActionNotAvailable
        | Code::PayloadTooLarge
        | Code::UnsupportedMedia => (Class::BadRequest, INVALID),
        Code::AddressNotAllowed | Code::ImageUnusable => (Class::BadRequest, BAD_LINK),
        Code::BannedPrompt => (Class::Reject, BANNED),
        Code::ContentRejected => (Class::Reject, DENIED),
        Code::InsufficientQuota => (Class::Quota, INTERNAL),
        Code::Unauthorized | Code::Forbidden => (Class::Dead, INTERNAL),
        Code::QueueFull | Code::RateLimited | Code::Overloaded => (Class::Rate, INTERNAL),
        Code::JobNotFound | Code::ParentNotFinished | Code::AlreadyFinished | Code::Expired => {
            (Class::Gone, INTERNAL)
        }
        Code::IdempotencyMismatch => (Class::Bug, INTERNAL),
        // The remote cannot do it now, or not this: somebody else may.
        _ => (Class::Retry, INTERNAL),
    }
}

/// What a refusal without a known code means.
fn guessed(status: u16, message: &str) -> (Class, &'static str) {
    let lower = message.to_ascii_lowercase();
    let phrase = PHRASES.iter().find(|(phrase, ..)| lower.contains(phrase));
    match status {
        401 | 403 => (Class::Dead, INTERNAL),
        402 => (Class::Quota, INTERNAL),
        429 => (Class::Rate, INTERNAL),
        404 | 405 | 408 | 409 | 500.. => (Class::Retry, INTERNAL),
        _ => phrase.map_or((Class::BadRequest, INVALID), |(_, class, kind)| {
            (*class, *kind)
        }),
    }
}

/// Why a job of the remote failed, by the message it ended with.
pub(super) fn failed(message: &str) -> Fault {
    let detail = format!("the remote job failed: {}", shortened(message));
    let inside = message
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'));
    let Some((kind, words)) = inside else {
        return Fault::vendor(Class::Retry, detail);
    };
    let known = KINDS.iter().find(|(known, _)| *known == kind);
    let (kind, class) = known.copied().unwrap_or((INTERNAL, Class::Retry));
    let mut fault = fault_in_words(class, kind, shortened(words.trim()));
    if class == Class::Retry && !words.trim().is_empty() {
        fault.message = shortened(words.trim());
    }
    Fault { detail, ..fault }
}
