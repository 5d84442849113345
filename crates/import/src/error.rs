//! Why nothing can be read: always about the whole source, never about one row.

use std::fmt;

/// Why a source cannot be read.
#[derive(Debug)]
pub enum ImportError {
    /// It cannot be opened, or stopped answering.
    Unreachable(String),
    /// It is not a database of that program, or one whose schema is not whole.
    Schema(String),
    /// An option makes no sense for it.
    Option(String),
    /// A line of an export cannot be read.
    Line {
        /// Its number, from 1.
        number: usize,
        /// What is wrong with it.
        why: String,
    },
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(why) => write!(f, "the source cannot be read: {why}"),
            Self::Schema(why) | Self::Option(why) => f.write_str(why),
            Self::Line { number, why } => write!(f, "line {number} of the export: {why}"),
        }
    }
}

impl std::error::Error for ImportError {}

impl From<rusqlite::Error> for ImportError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Unreachable(error.to_string())
    }
}

impl From<sqlx::Error> for ImportError {
    fn from(error: sqlx::Error) -> Self {
        Self::Unreachable(error.to_string())
    }
}

impl From<std::io::Error> for ImportError {
    fn from(error: std::io::Error) -> Self {
        Self::Unreachable(error.to_string())
    }
}
