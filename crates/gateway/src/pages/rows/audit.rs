//! The record of what was changed, by whom.

use atelier_contract::time::timestamp;
use atelier_engine::records;
use schemars::JsonSchema;
use serde::Serialize;

/// A change.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AuditRow {
    /// Identifier.
    pub(crate) id: String,
    /// When, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) time: String,
    /// Who.
    pub(crate) actor: String,
    /// What.
    pub(crate) action: String,
    /// To what.
    pub(crate) target: String,
    /// More about it.
    pub(crate) detail: String,
}

impl From<records::AuditRow> for AuditRow {
    fn from(act: records::AuditRow) -> Self {
        Self {
            id: act.id,
            time: timestamp(act.time_ms),
            actor: act.actor,
            action: act.action,
            target: act.target,
            detail: act.detail,
        }
    }
}

/// What a caller did to its own account.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AccountAct {
    /// Identifier.
    pub(crate) id: String,
    /// When, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) time: String,
    /// The key it was done with, where that is written down.
    pub(crate) key_id: Option<String>,
    /// What: `key.issue`, `key.revoke`, `custody.create`, `custody.change`, `custody.probe`, `custody.remove`, `secret.rotate` or
    /// `session.open`.
    pub(crate) action: String,
    /// To what.
    pub(crate) target: String,
    /// More about it.
    pub(crate) detail: String,
}

impl From<records::AuditRow> for AccountAct {
    fn from(act: records::AuditRow) -> Self {
        Self {
            id: act.id,
            time: timestamp(act.time_ms),
            key_id: Some(act.actor).filter(|key| !key.is_empty()),
            action: act.action,
            target: act.target,
            detail: act.detail,
        }
    }
}
