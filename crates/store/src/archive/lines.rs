//! Rows as lines of JSON, every column of them under its name, and the name of the table under `table`.

use crate::Result;
use crate::archive::cut::{ArchiveCut, JOBS};
use crate::db::args;
use crate::dialect::Dialect;
use crate::readers::Db;

/// Ledger rows read at once.
const PAGE: i64 = 200;

/// Reads a part of a cut.
pub(super) async fn cut_lines(db: &Db, cut: &ArchiveCut, after: i64) -> Result<(Vec<String>, i64)> {
    let end = cut.to.min(after + PAGE);
    let args = args![&cut.account_id, after, end];
    let mut lines = Vec::new();
    for (table, which) in [
        (
            "ledger",
            "account_id = $1 AND number > $2 AND number <= $3 ORDER BY number".to_owned(),
        ),
        ("job", format!("id IN ({JOBS}) ORDER BY id")),
        ("receipt", format!("job_id IN ({JOBS}) ORDER BY number")),
        ("delivery", format!("job_id IN ({JOBS}) ORDER BY id")),
        (
            "delivery_log",
            format!(
                "delivery_id IN (SELECT id FROM delivery WHERE job_id IN ({JOBS})) ORDER BY delivery_id, attempt"
            ),
        ),
    ] {
        let line = line(db, table).await?;
        let sql = format!("SELECT {line} FROM {table} WHERE {which}");
        lines.extend(db.all::<String>(&sql, args).await?);
    }
    Ok((lines, end))
}

/// Reads attempts that ended before a time at final jobs, oldest first.
pub(super) async fn attempt_lines(
    db: &Db,
    before_ms: i64,
    limit: i64,
) -> Result<Vec<(String, String)>> {
    let line = line(db, "attempt").await?;
    let sql = format!(
        "SELECT attempt.id, {line} FROM attempt JOIN job ON job.id = attempt.job_id \
         WHERE attempt.ended_ms < $1 AND job.state >= 2 ORDER BY attempt.ended_ms LIMIT $2"
    );
    db.all(&sql, args![before_ms, limit]).await
}

/// The expression that makes a line of a row.
async fn line(db: &Db, table: &str) -> Result<String> {
    if db.dialect() == Dialect::Postgres {
        return Ok(format!(
            "CAST(jsonb_build_object('table', '{table}') || to_jsonb({table}) AS TEXT)"
        ));
    }
    let sql = "SELECT name FROM pragma_table_info($1) ORDER BY cid";
    let columns: Vec<String> = db.all(sql, args![table]).await?;
    let pairs: Vec<String> = columns
        .iter()
        .map(|column| format!("'{column}', {table}.{column}"))
        .collect();
    Ok(format!(
        "json_object('table', '{table}', {})",
        pairs.join(", ")
    ))
}
