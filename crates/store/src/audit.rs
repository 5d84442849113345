//! The audit list: what operators did.

use crate::{Result, Store};

/// One act of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// Identifier.
    pub id: String,
    /// When.
    pub time_ms: i64,
    /// Who.
    pub actor: String,
    /// What.
    pub action: String,
    /// To what.
    pub target: String,
    /// More, in words or JSON.
    pub detail: String,
}

impl Store {
    /// Adds an act.
    pub async fn add_audit(&self, _row: AuditRow) -> Result<()> {
        Err(crate::Error::NotFound)
    }
    /// A page of acts, newest first, and how many there are.
    pub async fn audit(&self, _offset: i64, _limit: i64) -> Result<(Vec<AuditRow>, i64)> {
        Err(crate::Error::NotFound)
    }
}
