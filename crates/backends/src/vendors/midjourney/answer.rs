//! What the proxy's codes and the reasons of failed tasks mean.

use serde_json::Value;

use crate::answers::{fault_in_words, pause_asked, reason_for_caller, shortened, unexpected};
use crate::backend::{Class, Fault};
use crate::http::VendorAnswer;

const BANNED: &str = "Banned prompt detected";
const DENIED: &str = "Image denied";
const INVALID: &str = "Invalid parameter";
const BAD_LINK: &str = "Invalid link";
const INTERNAL: &str = "Internal error";

/// What reasons say, in lower case; the first that is found decides. They come from the vendor behind the proxy and
/// change, so operators can put their own before these.
const REASONS: [(&str, Class, &str); 32] = [
    ("无可用", Class::Retry, INTERNAL),
    ("no available", Class::Retry, INTERNAL),
    ("no instance", Class::Retry, INTERNAL),
    ("not available", Class::Retry, INTERNAL),
    ("banned prompt", Class::Reject, BANNED),
    ("banned word", Class::Reject, BANNED),
    ("敏感", Class::Reject, BANNED),
    ("account blocked", Class::Dead, INTERNAL),
    ("account has been", Class::Dead, INTERNAL),
    ("account is", Class::Dead, INTERNAL),
    ("账号", Class::Dead, INTERNAL),
    ("subscription", Class::Quota, INTERNAL),
    ("fast hours", Class::Quota, INTERNAL),
    ("credits exhausted", Class::Quota, INTERNAL),
    ("queue full", Class::Rate, INTERNAL),
    ("job queued", Class::Rate, INTERNAL),
    ("too many", Class::Rate, INTERNAL),
    ("队列已满", Class::Rate, INTERNAL),
    ("moderat", Class::Reject, DENIED),
    ("pending mod message", Class::Reject, DENIED),
    ("action needed", Class::Reject, DENIED),
    ("image denied", Class::Reject, DENIED),
    ("nsfw", Class::Reject, DENIED),
    ("blocked", Class::Reject, DENIED),
    ("invalid link", Class::BadRequest, BAD_LINK),
    ("invalid parameter", Class::BadRequest, INVALID),
    ("empty prompt", Class::BadRequest, INVALID),
    ("参数", Class::BadRequest, INVALID),
    ("取消", Class::Gone, INTERNAL),
    ("cancel", Class::Gone, INTERNAL),
    ("timeout", Class::Retry, INTERNAL),
    ("超时", Class::Retry, INTERNAL),
];

/// An operator's own reasons, looked at before the table.
pub(super) type OwnReasons = Vec<(String, Class)>;

/// What came of a submit.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Submitted {
    /// The proxy works on this task.
    Task(String),
    /// The proxy waits for a window to be confirmed; the prompt it would use.
    Window(String, Option<String>),
}

/// Reads the answer to a submit.
pub(super) fn submitted(answer: &VendorAnswer, own: &OwnReasons) -> Result<Submitted, Fault> {
    let body = judged(answer, own)?;
    let result = match &body["result"] {
        Value::String(id) if !id.is_empty() => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    };
    match result {
        Some(id) if body["code"] == 21 => {
            let prompt = body["properties"]["finalPrompt"].as_str();
            Ok(Submitted::Window(id, prompt.map(str::to_owned)))
        }
        Some(id) => Ok(Submitted::Task(id)),
        None => Err(unexpected(answer)),
    }
}

/// The body of an answer whose code is good.
pub(super) fn judged(answer: &VendorAnswer, own: &OwnReasons) -> Result<Value, Fault> {
    let body = serde_json::from_slice::<Value>(&answer.bytes);
    let is_page = body.is_err();
    let body = body.unwrap_or_default();
    let code = body["code"].as_i64();
    let says = body["description"].as_str().unwrap_or_default();
    let detail = answer.start();
    let fault = match (answer.status, code) {
        // A page that forbids comes from whoever stands before the proxy, who does not know the account.
        (403, _) if is_page => Fault::vendor(Class::Retry, detail),
        (401 | 403, _) => Fault::vendor(Class::Dead, detail),
        (429, _) | (_, Some(23)) => Fault::vendor(Class::Rate, detail),
        (_, Some(1 | 21 | 22)) => return Ok(body),
        (_, Some(24)) => banned(&body),
        (_, Some(3)) => Fault::vendor(Class::Gone, detail),
        (_, Some(4)) => match classified(says, own) {
            Some(fault) => fault,
            None => fault_in_words(Class::BadRequest, INVALID, reason_for_caller(says)),
        },
        (_, Some(9)) => match classified(says, own) {
            Some(fault) if fault.class != Class::BadRequest => fault,
            _ => Fault::vendor(Class::Retry, detail),
        },
        _ => unexpected(answer),
    };
    Err(Fault {
        after: pause_asked(answer),
        detail: answer.start(),
        ..fault
    })
}

fn banned(body: &Value) -> Fault {
    let word = body["properties"]["bannedWord"].as_str();
    let message = match word {
        Some(word) if !word.is_empty() => format!("the back end does not allow the word `{word}`"),
        _ => "the back end does not allow a word of the prompt".to_owned(),
    };
    fault_in_words(Class::Reject, BANNED, reason_for_caller(&message))
}

/// Why a task failed.
pub(super) fn failed(task: &Value, own: &OwnReasons) -> Fault {
    let reason = task["failReason"].as_str().unwrap_or_default();
    let detail = format!(
        "{}: {}",
        task["status"].as_str().unwrap_or_default(),
        shortened(reason)
    );
    let fault = classified(reason, own).unwrap_or_else(|| {
        let class = if task["status"] == "CANCEL" {
            Class::Gone
        } else {
            Class::Retry
        };
        Fault::vendor(class, "")
    });
    Fault { detail, ..fault }
}

fn classified(reason: &str, own: &OwnReasons) -> Option<Fault> {
    let lower = reason.to_lowercase();
    let said = |phrase: &str| lower.contains(phrase);
    if let Some((_, class)) = own.iter().find(|(phrase, _)| said(phrase)) {
        let kind = match class {
            Class::Reject => DENIED,
            Class::BadRequest => INVALID,
            _ => INTERNAL,
        };
        return Some(fault_in_words(*class, kind, reason_for_caller(reason)));
    }
    let (_, class, kind) = REASONS.iter().find(|(phrase, ..)| said(phrase))?;
    Some(fault_in_words(*class, kind, reason_for_caller(reason)))
}
