//! What was done: by operators, in the audit list, and by callers, in the list of their account.

use crate::Result;
use crate::db::{Conn, args};
use crate::period::Period;
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// One act of an operator, or of a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    pub id: String,
    pub time_ms: i64,
    pub actor: String,
    pub action: String,
    pub target: String,
    /// More, in words or JSON.
    pub detail: String,
    /// The account in whose list it stands; none for an operator's act.
    pub account_id: Option<String>,
}

pub(crate) const AUDIT_COLUMNS: &str = "id, time_ms, actor, action, target, detail";

impl FromRow for AuditRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            time_ms: columns.int()?,
            actor: columns.text()?,
            action: columns.text()?,
            target: columns.text()?,
            detail: columns.text()?,
            account_id: None,
        })
    }
}

/// Operators and the audit log.
#[derive(Clone, Copy, Debug)]
pub struct Admin<'a>(pub(crate) &'a StoreCore);

impl Admin<'_> {
    /// A page of acts, newest first, and how many there are.
    pub async fn audit_rows(self, offset: i64, limit: i64) -> Result<(Vec<AuditRow>, i64)> {
        self.audit_of(Period::default(), offset, limit).await
    }

    /// A page of the acts of a period, newest first, and how many there are.
    pub async fn audit_of(
        self,
        period: Period,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<AuditRow>, i64)> {
        let (first, end) = (period.first_ms(), period.end_ms());
        let sql = format!(
            "SELECT {AUDIT_COLUMNS} FROM audit WHERE time_ms >= $1 AND time_ms < $2 \
             ORDER BY time_ms DESC, id DESC LIMIT $3 OFFSET $4"
        );
        let values = args![first, end, limit, offset];
        let rows = self.0.db.all(&sql, values).await?;
        let count = "SELECT COUNT(*) FROM audit WHERE time_ms >= $1 AND time_ms < $2";
        Ok((rows, self.0.db.one(count, args![first, end]).await?))
    }

    /// A page of an account's own acts, newest first, and how many there are.
    pub async fn account_acts(
        self,
        account_id: &str,
        period: Period,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<AuditRow>, i64)> {
        let reader = self.0.db.of(Some(account_id));
        let (first, end) = (period.first_ms(), period.end_ms());
        let which = "account_id = $1 AND time_ms >= $2 AND time_ms < $3";
        let count = format!("SELECT COUNT(*) FROM account_act WHERE {which}");
        let total: i64 = reader.one(&count, args![account_id, first, end]).await?;
        // From the end that is nearer, and by the index: the rows themselves are read for the page alone.
        let behind = total - offset.saturating_add(limit);
        let (way, skipped, wanted) = if behind < offset {
            ("ASC", behind.max(0), limit + behind.min(0))
        } else {
            ("DESC", offset, limit)
        };
        if wanted <= 0 {
            return Ok((Vec::new(), total));
        }
        let page = format!(
            "SELECT {AUDIT_COLUMNS} FROM account_act \
             WHERE id IN (SELECT id FROM account_act WHERE {which} \
               ORDER BY time_ms {way}, id {way} LIMIT $4 OFFSET $5) ORDER BY time_ms DESC, id DESC"
        );
        let values = args![account_id, first, end, wanted, skipped];
        Ok((reader.all(&page, values).await?, total))
    }
}

/// Adds an act to the list of an account.
pub(crate) async fn append_own(conn: &mut Conn, account_id: &str, act: &AuditRow) -> Result<()> {
    let sql = "INSERT INTO account_act (id, account_id, time_ms, actor, action, target, detail) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let args = args![
        &act.id,
        account_id,
        act.time_ms,
        &act.actor,
        &act.action,
        &act.target,
        &act.detail
    ];
    conn.run(sql, args).await.map(|_| ())
}
