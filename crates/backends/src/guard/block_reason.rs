//! Why an address may not be used.

use std::fmt;

/// Why an address may not be used, as a fragment that reads well after the name of a field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BlockReason(String);

impl BlockReason {
    pub(crate) fn new(reason: impl fmt::Display) -> Self {
        Self(reason.to_string())
    }

    /// The reason, for a refusal that puts the field's name in front.
    pub fn reason(&self) -> &str {
        &self.0
    }
}
