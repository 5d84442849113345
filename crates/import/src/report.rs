//! The report: what becomes of each row.

use serde::Serialize;

/// What becomes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportAction {
    /// It is taken over.
    Import,
    /// It was taken over by an earlier run, and stays as it is.
    Unchanged,
    /// It is taken over, except for what the reason says.
    Partly,
    /// It is left where it is.
    Skip,
}

impl ReportAction {
    /// The word in the report.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Import => "import",
            Self::Unchanged => "unchanged",
            Self::Partly => "partly",
            Self::Skip => "skip",
        }
    }
}

/// What becomes of one row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportRow {
    /// The table there.
    pub table: String,
    /// What names the row there.
    pub row: String,
    /// What becomes of it.
    pub action: ReportAction,
    /// Why, and what to do; empty where there is nothing to say.
    pub reason: String,
}

impl ReportRow {
    /// A row of the report.
    pub fn new(
        table: &str,
        row: impl Into<String>,
        action: ReportAction,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            table: table.to_owned(),
            row: row.into(),
            action,
            reason: reason.into(),
        }
    }
}
