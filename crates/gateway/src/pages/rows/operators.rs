//! Named operators.

use atelier_contract::pages::operators::OperatorRole;
use atelier_contract::time::timestamp;
use atelier_engine::{ROOT, records};
use schemars::JsonSchema;
use serde::Serialize;

/// An operator without its token.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Operator")]
pub(crate) struct OperatorRow {
    /// Identifier; `root` for the token of the configuration.
    pub(crate) id: String,
    /// The name in the audit list.
    pub(crate) name: String,
    /// Its permissions.
    pub(crate) role: OperatorRole,
    /// The first characters of its token.
    pub(crate) prefix: Option<String>,
    /// When it was made, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) created_at: Option<String>,
    /// When its token was last used, to the minute.
    pub(crate) last_used_at: Option<String>,
    /// When it was revoked.
    pub(crate) revoked_at: Option<String>,
}

impl OperatorRow {
    /// The operator of the configuration, who has no record.
    pub(crate) fn root() -> Self {
        Self {
            id: ROOT.to_owned(),
            name: ROOT.to_owned(),
            role: OperatorRole::Operator,
            prefix: None,
            created_at: None,
            last_used_at: None,
            revoked_at: None,
        }
    }
}

impl From<records::OperatorRow> for OperatorRow {
    fn from(operator: records::OperatorRow) -> Self {
        Self {
            id: operator.id,
            name: operator.name,
            role: operator.role,
            prefix: Some(operator.prefix),
            created_at: Some(timestamp(operator.created_ms)),
            last_used_at: operator.last_used_ms.map(timestamp),
            revoked_at: operator.revoked_ms.map(timestamp),
        }
    }
}

/// An operator that was just made.
#[derive(Serialize, JsonSchema)]
pub(crate) struct IssuedOperator {
    /// The operator.
    #[serde(flatten)]
    pub(crate) operator: OperatorRow,
    /// The token itself; no other answer shows it.
    pub(crate) token: String,
}
