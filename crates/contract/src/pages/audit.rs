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

/// What a caller did to its own account.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountAct {
    /// Identifier.
    pub id: String,
    /// When, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub time: String,
    /// The key it was done with, where that is written down.
    pub key_id: Option<String>,
    /// What: `key.issue`, `key.revoke`, `custody.create`, `custody.change`, `custody.probe`, `custody.remove`, `secret.rotate` or
    /// `session.open`.
    pub action: String,
    /// To what.
    pub target: String,
    /// More about it.
    pub detail: String,
}
