//! The record of what was changed, by whom.

use atelier_contract::time::timestamp;
use atelier_engine::{is_member, records};
use schemars::JsonSchema;
use serde::Serialize;

/// One change that the audit log keeps.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AuditRow {
    /// Identifier of the row.
    pub(crate) id: String,
    /// When, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) time: String,
    /// Who did it: an operator's name, or the service itself.
    pub(crate) actor: String,
    /// What was done, such as `account.create`.
    pub(crate) action: String,
    /// Identifier or name of the thing it was done to.
    pub(crate) target: String,
    /// What changed, in words.
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
    /// The member who did it while signed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) member_id: Option<String>,
    /// What: `key.issue`, `key.revoke`, `custody.create`, `custody.change`, `custody.probe`, `custody.remove`, `secret.rotate`,
    /// `session.open`, `account.create`, `invitation.create`, `invitation.remove`, `member.join`, `member.change`, `member.leave` or
    /// `member.remove`.
    pub(crate) action: String,
    /// Identifier or name of the thing it was done to.
    pub(crate) target: String,
    /// What changed, in words.
    pub(crate) detail: String,
}

impl From<records::AuditRow> for AccountAct {
    fn from(act: records::AuditRow) -> Self {
        let actor = Some(act.actor).filter(|actor| !actor.is_empty());
        let (member_id, key_id) = match actor {
            Some(actor) if is_member(&actor) => (Some(actor), None),
            actor => (None, actor),
        };
        Self {
            id: act.id,
            time: timestamp(act.time_ms),
            key_id,
            member_id,
            action: act.action,
            target: act.target,
            detail: act.detail,
        }
    }
}
