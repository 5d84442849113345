//! A batch of acceptances and settlements inside one transaction: what they need is read at once, decided in
//! memory in the order of arrival, and written with one statement for each table.

pub(crate) mod attempts;
pub(crate) mod books;
mod decide;
pub(crate) mod tries;
mod write;

use std::collections::HashMap;

use serde::Serialize;

use crate::Result;
use crate::db::{Conn, args};
use crate::jobs::accept::{Accept, Accepted};
use crate::jobs::settle::{Settled, Settlement};
use crate::jobs::{JOB_COLUMNS, JobRow};
use crate::row::{Columns, Read};
use crate::writer::Pending;

use books::Books;
use decide::Decisions;

/// Decides and writes a batch; the answers are left with each change.
pub(crate) async fn run(
    conn: &mut Conn,
    accepts: &mut [Pending<Accept, Accepted>],
    settles: &mut [Pending<Settlement, Settled>],
) -> Result<()> {
    let settle_ids: Vec<&str> = settles.iter().map(|one| &*one.input.job_id).collect();
    let account_ids: Vec<&str> = accepts
        .iter()
        .map(|one| &*one.input.job.account_id)
        .collect();
    let books = Books::load(conn, &account_ids, &settle_ids).await?;
    let jobs = load_jobs(conn, &settle_ids).await?;
    let calls = load_calls(conn, accepts).await?;

    let mut decisions = Decisions::new(books, jobs, calls);
    let settled: Vec<Settled> = settles
        .iter()
        .map(|one| decisions.settle(&one.input))
        .collect();
    let accepted: Vec<Accepted> = accepts
        .iter()
        .map(|one| decisions.accept(&one.input))
        .collect();
    write::all(conn, &decisions).await?;

    for (one, answer) in settles.iter_mut().zip(settled) {
        one.answer = Some(answer);
    }
    for (one, answer) in accepts.iter_mut().zip(accepted) {
        one.answer = Some(answer);
    }
    Ok(())
}

/// A JSON array for a statement.
pub(crate) fn json<T: Serialize + ?Sized>(lines: &T) -> String {
    serde_json::to_string(lines).expect("plain lines are JSON")
}

async fn load_jobs(conn: &mut Conn, ids: &[&str]) -> Result<HashMap<String, JobRow>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let sql =
        format!("SELECT {JOB_COLUMNS} FROM job WHERE id IN ({{list:$1}}) ORDER BY id {{lock}}");
    let rows: Vec<JobRow> = conn.all(&sql, args![&json(ids)]).await?;
    Ok(rows.into_iter().map(|row| (row.id.clone(), row)).collect())
}

/// An accepted call that a caller's key stands for.
pub(crate) struct Call {
    fingerprint: String,
    job_id: String,
    created_ms: i64,
}

/// Remembered calls by account and key.
type Calls = HashMap<(String, String), Call>;

struct CallRow((String, String), Call);

impl Read for CallRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self(
            (columns.text()?, columns.text()?),
            Call {
                fingerprint: columns.text()?,
                job_id: columns.text()?,
                created_ms: columns.int()?,
            },
        ))
    }
}

#[derive(Serialize)]
struct CallKey<'a> {
    account_id: &'a str,
    key: &'a str,
}

async fn load_calls(conn: &mut Conn, accepts: &[Pending<Accept, Accepted>]) -> Result<Calls> {
    let keys: Vec<CallKey<'_>> = accepts
        .iter()
        .filter_map(|one| {
            let key = &one.input.idempotency.as_ref()?.key;
            Some(CallKey {
                account_id: &one.input.job.account_id,
                key,
            })
        })
        .collect();
    if keys.is_empty() {
        return Ok(Calls::new());
    }
    let rows: Vec<CallRow> = conn
        .all(
            "SELECT i.account_id, i.key, i.fingerprint, i.job_id, i.created_ms \
             FROM {rows:$1 account_id text, key text} \
             JOIN idempotency i ON i.account_id = v.account_id AND i.key = v.key",
            args![&json(&keys)],
        )
        .await?;
    Ok(rows
        .into_iter()
        .map(|CallRow(key, call)| (key, call))
        .collect())
}
