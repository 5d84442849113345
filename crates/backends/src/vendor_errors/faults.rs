//! Faults as callers read them: one sentence of ours for each class, and nothing of a vendor's words.

use atelier_contract::FaultKind;

use crate::backend::{Class, Fault};

/// No more of a vendor's words is kept.
const MOST_CHARACTERS: usize = 500;

/// The start of a vendor's words, in one line.
pub(crate) fn shortened(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(plain).take(MOST_CHARACTERS).collect()
}

/// The fault of a class in our own words.
pub(crate) fn fault_as(class: Class) -> Fault {
    match class {
        Class::Reject => refused_by_review(),
        Class::BadRequest => bad_request(),
        _ => Fault::vendor(class, ""),
    }
}

/// The same where more is known of what it is to the caller.
pub(crate) fn fault_of_kind(class: Class, kind: FaultKind) -> Fault {
    let sentence = match (class, kind) {
        (Class::Reject, FaultKind::Banned) => "the back end does not allow a word of the prompt",
        (Class::BadRequest, FaultKind::BadLink) => "the back end could not use an image",
        _ => return fault_as(class),
    };
    Fault::new(class, kind, sentence)
}

/// The fault of content that a review refused.
pub(crate) fn refused_by_review() -> Fault {
    Fault::denied("the content was refused by review")
}

/// The fault of a request that the vendor cannot work with.
fn bad_request() -> Fault {
    Fault::unusable("the back end cannot work with this request")
}
