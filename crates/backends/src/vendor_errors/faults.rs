//! Faults in a vendor's own words.

use atelier_contract::FaultKind;

use crate::backend::{Class, Fault};

/// No more of a vendor's words is kept.
const MOST_CHARACTERS: usize = 500;

/// The start of a vendor's words.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(MOST_CHARACTERS).collect()
}

/// A fault in words for the caller where they are about the request, and in our own otherwise.
pub(crate) fn fault_in_words(class: Class, kind: FaultKind, words: String) -> Fault {
    match class {
        Class::Reject | Class::BadRequest if words.is_empty() => {
            Fault::new(class, kind, "the back end refused it")
        }
        Class::Reject | Class::BadRequest => Fault::new(class, kind, words),
        _ => Fault::vendor(class, words),
    }
}
