//! What is wrong with a setting.

use std::fmt;

/// A setting with a value that will not do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SettingError {
    /// The setting with its path, or the variable that sets it.
    pub(crate) field: String,
    /// What it must be.
    pub(crate) why: String,
}

impl SettingError {
    /// Says what is wrong with a setting.
    pub(crate) fn new(field: impl Into<String>, why: impl fmt::Display) -> Self {
        Self {
            field: field.into(),
            why: why.to_string(),
        }
    }

    /// A name that no setting has.
    pub(crate) fn unknown(field: impl Into<String>) -> Self {
        Self::new(field, "no such setting")
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.why)
    }
}

impl std::error::Error for SettingError {}
