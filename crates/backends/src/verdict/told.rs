//! Faults in a vendor's own words, and which of them end a piece of work that is asked about.

use crate::backend::{Class, Fault, Progress};

/// No more of a vendor's words is kept.
const MOST_CHARACTERS: usize = 500;

/// The start of a vendor's words.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(MOST_CHARACTERS).collect()
}

/// A fault in words for the caller where they are about the request, and in our own otherwise.
pub(crate) fn told(class: Class, kind: &'static str, words: String) -> Fault {
    match class {
        Class::Reject | Class::BadRequest if words.is_empty() => {
            Fault::new(class, kind, "the back end refused it")
        }
        Class::Reject | Class::BadRequest => Fault::new(class, kind, words),
        _ => Fault::vendor(class, words),
    }
}

/// What the vendor delivered cannot be used. It would deliver the same again, and the worker account did its part.
pub(crate) fn unfit(detail: impl Into<String>) -> Fault {
    Fault {
        message: "the result of the back end cannot be used".to_owned(),
        ..Fault::vendor(Class::Gone, detail)
    }
}

/// The answer to a poll: a fault that will not pass is an end of the work, not a question that failed.
pub(crate) fn ended(answer: Result<Progress, Fault>) -> Result<Progress, Fault> {
    match answer {
        Err(fault) if !fault.class.may_pass() => Ok(Progress::Failed(fault)),
        other => other,
    }
}
