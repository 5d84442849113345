//! What is wrong with how a back end or a worker account is described: the field, and why.

use std::fmt;

use atelier_contract::FAMILIES;

/// A field of a description that cannot be taken as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FieldError {
    /// The field to blame, as its owner writes it.
    pub field: String,
    /// Why, in words that go on after the name of the field.
    pub why: String,
}

impl FieldError {
    /// Names the field and says why it cannot be taken.
    pub fn new(field: impl Into<String>, why: impl fmt::Display) -> Self {
        Self {
            field: field.into(),
            why: why.to_string(),
        }
    }

    /// Names an operation that a vendor does not do, with those that it does.
    pub(crate) fn not_served(field: &str, other: &str, serves: impl Fn(&str) -> bool) -> Self {
        let submits = FAMILIES.iter().flat_map(|family| family.submits);
        let served = submits
            .map(|submit| submit.name)
            .filter(|name| serves(name));
        let served: Vec<_> = served.collect();
        let why = format!(
            "{other} is not an operation of this vendor, there are {}",
            served.join(", ")
        );
        Self::new(field, why)
    }

    /// Blames the vendor's settings as a whole.
    pub fn settings(why: impl fmt::Display) -> Self {
        Self::new("settings", why)
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.why)
    }
}
