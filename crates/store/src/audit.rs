//! The audit list: what operators did. A row is written by the commit that does what it tells of.

use crate::db::{Conn, args};
use crate::row::{Columns, Read};
use crate::writer::Act;
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

/// A change of the store, and the row that says who made it: one commit, both or neither.
struct Acted<I, T> {
    input: I,
    row: Option<AuditRow>,
    act: for<'a> fn(&'a mut Conn, &'a I) -> Act<'a, T>,
    happened: fn(&T) -> bool,
}

impl Store {
    /// Has the writer do a change and write down who made it, in the same commit. What did not happen leaves no row.
    pub(crate) async fn act<I, T>(
        &self,
        input: I,
        row: Option<AuditRow>,
        act: for<'a> fn(&'a mut Conn, &'a I) -> Act<'a, T>,
        happened: fn(&T) -> bool,
    ) -> Result<T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let acted = Acted {
            input,
            row,
            act,
            happened,
        };
        self.change(acted, |conn, acted| {
            Box::pin(async move {
                let answer = (acted.act)(conn, &acted.input).await?;
                if let Some(row) = acted.row.as_ref().filter(|_| (acted.happened)(&answer)) {
                    write(conn, row).await?;
                }
                Ok(answer)
            })
        })
        .await
    }

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

/// Adds an act to the commit of the change it speaks of.
pub(crate) async fn write(conn: &mut Conn, row: &AuditRow) -> Result<()> {
    let sql = "INSERT INTO audit (id, time_ms, actor, action, target, detail) \
         VALUES ($1, $2, $3, $4, $5, $6)";
    let args = args![
        &row.id,
        row.time_ms,
        &row.actor,
        &row.action,
        &row.target,
        &row.detail
    ];
    conn.run(sql, args).await.map(|_| ())
}
