//! Removing what has been handed out, inside one transaction: counters follow, a checkpoint stands for the ledger rows.

use crate::archive::archive_file::ArchiveFile;
use crate::archive::cut::{ArchiveCut, WORDS};
use crate::db::{Conn, args, json};
use crate::{Error, Result};

/// Ledger rows of a cut.
const ROWS: &str = "account_id = $1 AND number > $2 AND number <= $3";

/// Removes what a cut covers.
pub(super) async fn cut(conn: &mut Conn, cut: &ArchiveCut, file: &ArchiveFile) -> Result<()> {
    let whole = args![&cut.account_id, cut.from, cut.to];
    let jobs: Vec<String> = conn
        .all(
            &format!("SELECT job_id FROM ledger WHERE {ROWS} AND kind IN ('capture', 'release')"),
            whole,
        )
        .await?;
    let jobs = json(&jobs);
    still_whole(conn, cut, &jobs).await?;
    checkpoint(conn, cut, file).await?;
    conn.run(
        &format!(
            "INSERT INTO archived_credit (account_id, key, amount, reason) \
             SELECT account_id, idempotency_key, amount, reason FROM ledger \
             WHERE {ROWS} AND idempotency_key IS NOT NULL"
        ),
        whole,
    )
    .await?;
    conn.run(UNCOUNT, args![&cut.account_id, &jobs]).await?;
    let empty = "DELETE FROM tally WHERE account_id = $1 AND jobs = 0";
    conn.run(empty, args![&cut.account_id]).await?;
    let calls = "DELETE FROM idempotency WHERE account_id = $1 AND job_id IN ({list:$2})";
    conn.run(calls, args![&cut.account_id, &jobs]).await?;
    for table in [
        "DELETE FROM delivery_log WHERE delivery_id IN (SELECT id FROM delivery WHERE job_id IN ({list:$1}))",
        "DELETE FROM delivery WHERE job_id IN ({list:$1})",
    ] {
        conn.run(table, args![&jobs]).await?;
    }
    conn.run(&format!("DELETE FROM ledger WHERE {ROWS}"), whole)
        .await?;
    conn.run(BYTES_BACK, args![&cut.account_id, &jobs]).await?;
    conn.run("DELETE FROM job WHERE id IN ({list:$1})", args![&jobs])
        .await?;
    conn.run(RECEIPTS, args![&cut.account_id, &jobs])
        .await
        .map(|_| ())
}

/// What was read aside must still be so: nobody else has archived, nothing is owed again, and nobody has had words removed.
async fn still_whole(conn: &mut Conn, cut: &ArchiveCut, jobs: &str) -> Result<()> {
    let from: Option<i64> = conn
        .maybe(
            "SELECT number FROM ledger_checkpoint WHERE account_id = $1 {lock}",
            args![&cut.account_id],
        )
        .await?;
    // In the order in which others lock them. A try that is being written down is waited for.
    let locked = "SELECT id FROM job WHERE id IN ({list:$1}) ORDER BY id {lock}";
    let _: Vec<String> = conn.all(locked, args![jobs]).await?;
    let locked = "SELECT id FROM delivery WHERE job_id IN ({list:$1}) ORDER BY id {lock}";
    let _: Vec<String> = conn.all(locked, args![jobs]).await?;
    let words = format!("{WORDS} ({{list:$1}})");
    let words: Option<i64> = conn.maybe(&words, args![jobs]).await?;
    let owed: Option<String> = conn
        .maybe(
            "SELECT id FROM delivery WHERE job_id IN ({list:$1}) AND state IN ('due', 'sending') LIMIT 1",
            args![jobs],
        )
        .await?;
    if from.unwrap_or(0) != cut.from || owed.is_some() || words != Some(cut.words) {
        return Err(Error::Conflict(
            "what was to be archived has changed meanwhile; archive again".into(),
        ));
    }
    Ok(())
}

async fn checkpoint(conn: &mut Conn, cut: &ArchiveCut, file: &ArchiveFile) -> Result<()> {
    let sql = "INSERT INTO ledger_checkpoint (account_id, number, balance, frozen, before_ms, hash, time_ms, debt) \
         SELECT account_id, number, balance_after, frozen_after, $5, $3, $4, \
         COALESCE((SELECT earlier.debt FROM ledger_checkpoint AS earlier WHERE earlier.account_id = $1), 0) \
         + COALESCE((SELECT CAST(SUM(owed.amount) AS BIGINT) FROM ledger AS owed WHERE owed.account_id = $1 \
           AND owed.number > $6 AND owed.number <= $2 AND owed.cause = 'debt'), 0) FROM ledger \
         WHERE account_id = $1 AND number = $2 \
         ON CONFLICT (account_id) DO UPDATE SET number = excluded.number, balance = excluded.balance, \
         frozen = excluded.frozen, debt = excluded.debt, before_ms = excluded.before_ms, hash = excluded.hash, time_ms = excluded.time_ms";
    let args = args![
        &cut.account_id,
        cut.to,
        &file.hash,
        file.time_ms,
        file.before_ms,
        cut.from
    ];
    if conn.run(sql, args).await? != 1 {
        return Err(Error::Conflict("the cut is beyond the ledger".into()));
    }
    Ok(())
}

/// Writes down that the file holds what is removed.
pub(super) async fn note(conn: &mut Conn, file: &ArchiveFile) -> Result<()> {
    let sql = "INSERT INTO archive_file (name, hash, before_ms, jobs, entries, time_ms) \
         VALUES ($1, $2, $3, $4, $5, $6)";
    let args = args![
        &file.name,
        &file.hash,
        file.before_ms,
        file.jobs,
        file.entries,
        file.time_ms
    ];
    conn.run(sql, args).await.map(|_| ())
}

pub(super) async fn attempts(conn: &mut Conn, ids: &[String]) -> Result<()> {
    let sql = "DELETE FROM attempt WHERE id IN ({list:$1}) AND ended_ms IS NOT NULL";
    conn.run(sql, args![&json(ids)]).await.map(|_| ())
}

/// What is kept for the account is less by what goes. An older program leaves the bytes of a job that it deletes with it; they count
/// no more.
const BYTES_BACK: &str = "UPDATE account SET words = words - COALESCE((SELECT CAST(SUM(request_bytes) AS BIGINT) FROM job \
     WHERE job.id IN ({list:$2}) AND job.deleted_ms IS NULL), 0) WHERE account.id = $1";

/// The latest one stays: the next one names its hash. One that has stayed before goes now.
const RECEIPTS: &str = "DELETE FROM receipt WHERE account_id = $1 \
     AND number <= COALESCE((SELECT MAX(gone.number) FROM receipt AS gone WHERE gone.job_id IN ({list:$2})), 0) \
     AND number < (SELECT MAX(later.number) FROM receipt AS later WHERE later.account_id = $1) \
     AND NOT EXISTS (SELECT 1 FROM job WHERE job.id = receipt.job_id)";

/// Lists count what is left.
const UNCOUNT: &str = "UPDATE tally SET jobs = tally.jobs - g.jobs FROM (SELECT created_ms / 86400000 AS day, operation, \
     state, COUNT(*) AS jobs FROM job WHERE id IN ({list:$2}) AND deleted_ms IS NULL GROUP BY 1, 2, 3) AS g \
     WHERE tally.account_id = $1 AND tally.day = g.day AND tally.operation = g.operation AND tally.state = g.state";
