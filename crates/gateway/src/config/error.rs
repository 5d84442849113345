//! What is wrong with a setting.

use std::fmt;

use atelier_contract::did_you_mean;

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

    /// A name that no setting has, and those that there are.
    pub(crate) fn unknown<'a>(
        field: impl Into<String>,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let field = field.into();
        let meant = did_you_mean(&field, known);
        Self::new(field, format!("no such setting{meant}"))
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.why)
    }
}

impl std::error::Error for SettingError {}
