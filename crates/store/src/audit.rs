//! The audit list: what operators did.

use crate::db::args;
use crate::row::{Columns, Read};
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

impl Read for AuditRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            time_ms: columns.int()?,
            actor: columns.text()?,
            action: columns.text()?,
            target: columns.text()?,
            detail: columns.text()?,
        })
    }
}

impl Store {
    /// A page of acts, newest first, and how many there are.
    pub async fn audit(&self, offset: i64, limit: i64) -> Result<(Vec<AuditRow>, i64)> {
        let sql = "SELECT id, time_ms, actor, action, target, detail FROM audit \
             ORDER BY time_ms DESC, id DESC LIMIT $1 OFFSET $2";
        let rows = self.db().all(sql, args![limit, offset]).await?;
        Ok((
            rows,
            self.db().one("SELECT COUNT(*) FROM audit", &[]).await?,
        ))
    }
}
