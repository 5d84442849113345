//! The record of what was changed, by whom.

use schemars::JsonSchema;
use serde::Serialize;

/// A change.
#[derive(Serialize, JsonSchema)]
pub struct AuditRow {
    /// Identifier.
    pub id: String,
    /// When, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub time: String,
    /// Who.
    pub actor: String,
    /// What.
    pub action: String,
    /// To what.
    pub target: String,
    /// More about it.
    pub detail: String,
}
