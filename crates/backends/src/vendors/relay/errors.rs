//! What the remote's refusals and failed jobs mean for the request, the worker account and the remote itself.

use std::time::Duration;

use atelier_contract::{Code, FaultKind};
use serde_json::Value;

use crate::backend::{Acceptance, Class, Fault, Work};
use crate::http::VendorResponse;
use crate::vendor_errors::{VendorError, detail_of, fault_of_kind, pause_asked, shortened};

/// A first call with the same key is being answered; asking again soon gives its answer.
const IN_FLIGHT: Duration = Duration::from_secs(1);

/// What services that give no code say; looked for in lower case.
const PHRASES: [(&str, Class, FaultKind); 5] = [
    ("banned prompt", Class::Reject, FaultKind::Banned),
    ("no available account", Class::Retry, FaultKind::Internal),
    ("quota", Class::Quota, FaultKind::Internal),
    ("balance", Class::Quota, FaultKind::Internal),
    ("queue", Class::Rate, FaultKind::Internal),
];

/// Why a call was refused; `Ok` gives the body of one that was not.
pub(super) fn body_of(answer: &VendorResponse) -> Result<Value, Fault> {
    let body = serde_json::from_slice::<Value>(&answer.bytes).ok();
    match body {
        Some(body) if answer.is_good() && body["status"] != "FAILED" => Ok(body),
        // A page of some proxy before it, or half an answer: it may have been accepted all the same.
        None if answer.is_good() || answer.status >= 500 => Err(Fault {
            after: pause_asked(answer),
            taken: Acceptance::Perhaps,
            ..Fault::vendor(Class::Retry, answer.start())
        }),
        // A page that forbids comes from whoever stands before the remote, who does not know the account.
        None if answer.status == 403 => Err(Fault::vendor(Class::Retry, answer.start())),
        body => {
            let body = body.unwrap_or_default();
            let said = VendorError::of(&body["code"], &body["message"]);
            Err(Fault {
                after: pause_asked(answer),
                detail: detail_of(answer, &said),
                ..refusal(answer.status, &body)
            })
        }
    }
}

/// The same for a submit. A field that the remote blames is named where the caller set it; a model that it refuses was taken
/// here, so that it is none of the caller's faults.
pub(super) fn body_of_start(answer: &VendorResponse, work: &Work) -> Result<Value, Fault> {
    body_of(answer).map_err(|fault| {
        if fault.class != Class::BadRequest {
            return fault;
        }
        let body = serde_json::from_slice::<Value>(&answer.bytes).unwrap_or_default();
        let param = body["param"].as_str().unwrap_or_default();
        let said = VendorError {
            param: param.to_owned(),
            ..VendorError::of(&body["code"], &body["message"])
        };
        if said.is_about_model() {
            return Fault::unknown_model(fault.detail);
        }
        let name = param.split(['.', '[']).next().unwrap_or_default();
        if !work.request.contains_key(name) {
            return fault;
        }
        Fault {
            field: Some(name.to_owned()),
            message: "the back end cannot work with this".to_owned(),
            ..fault
        }
    })
}

/// The body of a fetch: a job that failed is an answer there, whatever status it came with.
pub(super) fn body_of_job(answer: &VendorResponse) -> Result<Value, Fault> {
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
    let fault = fault_of_kind(class, kind);
    match code {
        Some(Code::IdempotencyInFlight) => Fault {
            after: Some(IN_FLIGHT),
            taken: Acceptance::Perhaps,
            ..fault
        },
        Some(Code::Internal) => Fault {
            taken: Acceptance::Perhaps,
            ..fault
        },
        None if status >= 500 => Fault {
            taken: Acceptance::Perhaps,
            ..fault
        },
        _ => fault,
    }
}

fn meaning(code: Code) -> (Class, FaultKind) {
    match code {
        Code::InvalidParameter
        | Code::MissingParameter
        | Code::InvalidBody
        | Code::ActionNotAvailable
        | Code::PayloadTooLarge
        | Code::UnsupportedMedia => (Class::BadRequest, FaultKind::BadParameter),
        Code::AddressNotAllowed | Code::ImageUnusable => (Class::BadRequest, FaultKind::BadLink),
        Code::BannedPrompt => (Class::Reject, FaultKind::Banned),
        Code::ContentRejected => (Class::Reject, FaultKind::Denied),
        Code::InsufficientQuota => (Class::Quota, FaultKind::Internal),
        Code::Unauthorized | Code::Forbidden => (Class::Dead, FaultKind::Internal),
        Code::QueueFull | Code::RateLimited | Code::Overloaded => {
            (Class::Rate, FaultKind::Internal)
        }
        Code::JobNotFound | Code::ParentNotFinished | Code::AlreadyFinished | Code::Expired => {
            (Class::Gone, FaultKind::Internal)
        }
        Code::IdempotencyMismatch => (Class::Bug, FaultKind::Internal),
        // The remote cannot do it now, or not this: somebody else may.
        _ => (Class::Retry, FaultKind::Internal),
    }
}

/// What a refusal without a known code means.
fn guessed(status: u16, message: &str) -> (Class, FaultKind) {
    let lower = message.to_ascii_lowercase();
    let phrase = PHRASES.iter().find(|(phrase, ..)| lower.contains(phrase));
    match status {
        401 | 403 => (Class::Dead, FaultKind::Internal),
        402 => (Class::Quota, FaultKind::Internal),
        429 => (Class::Rate, FaultKind::Internal),
        404 | 405 | 408 | 409 | 500.. => (Class::Retry, FaultKind::Internal),
        _ => phrase.map_or(
            (Class::BadRequest, FaultKind::BadParameter),
            |(_, class, kind)| (*class, *kind),
        ),
    }
}

/// Why a job of the remote failed, by the message it ended with.
pub(super) fn failed(message: &str) -> Fault {
    let detail = format!("the remote job failed: {}", shortened(message));
    let kind = FaultKind::from_message(message);
    let class = match kind {
        FaultKind::Banned | FaultKind::Denied => Class::Reject,
        FaultKind::BadLink | FaultKind::BadParameter => Class::BadRequest,
        FaultKind::Cancelled => Class::Gone,
        FaultKind::Internal | FaultKind::TimedOut => Class::Retry,
    };
    Fault {
        detail,
        ..fault_of_kind(class, kind)
    }
}
