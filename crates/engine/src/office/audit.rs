//! The audit record: who did what. A row is handed to the change it tells of, and both are one commit.

use atelier_contract::Refusal;
use atelier_store::AuditRow;

use crate::engine::{Engine, unavailable};
use crate::views::AuditView;

impl Engine {
    /// The audit record in pages, newest first.
    pub async fn audit(&self, page: i64, limit: i64) -> Result<(Vec<AuditView>, i64), Refusal> {
        let offset = (page - 1).max(0).saturating_mul(limit);
        let (rows, total) = self.store.audit(offset, limit).await.map_err(unavailable)?;
        let view = |row: AuditRow| AuditView {
            id: row.id,
            time_ms: row.time_ms,
            actor: row.actor,
            action: row.action,
            target: row.target,
            detail: row.detail,
        };
        Ok((rows.into_iter().map(view).collect(), total))
    }
}
