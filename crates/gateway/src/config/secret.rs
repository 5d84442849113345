//! Text that must not reach a log.

use std::fmt;

use serde::Deserialize;

/// A setting whose value is never printed.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(String);

impl Secret {
    /// The value itself, for the one place that needs it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether nothing was given.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() {
            "(none)"
        } else {
            "(hidden)"
        })
    }
}
