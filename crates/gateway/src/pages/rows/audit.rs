//! The record of what was changed, by whom.

use atelier_contract::time::timestamp;
use atelier_engine::records;
use schemars::JsonSchema;
use serde::Serialize;

/// One change that the audit log keeps.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AuditRow {
    /// Identifier of the row.
    pub(crate) id: String,
    /// When, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) time: String,
    /// Name of the operator, or the service itself.
    pub(crate) actor: String,
    /// What was done, such as `account.create`.
    pub(crate) action: String,
    /// Identifier or name of the thing it was done to.
    pub(crate) target: String,
    /// Description of the change.
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
    /// Identifier of the row.
    pub(crate) id: String,
    /// When, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) time: String,
    /// The key it was done with, where that is written down.
    pub(crate) key_id: Option<String>,
    /// What: `key.issue`, `key.revoke`, `custody.create`, `custody.change`, `custody.probe`, `custody.remove`, `secret.rotate` or
    /// `session.open`.
    pub(crate) action: String,
    /// Identifier or name of the thing it was done to.
    pub(crate) target: String,
    /// Description of the change.
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
