//! The calls that callers' keys stand for, so that a repeated call is known again.

use std::collections::HashMap;

use serde::Serialize;

use crate::Result;
use crate::changes::accept::{AcceptOutcome, Acceptance, Idempotency};
use crate::changes::bulk::{BulkOutcome, NewBulk};
use crate::db::{Conn, args, json};
use crate::pending::PendingChange;
use crate::row::{Columns, FromRow};

/// An accepted call that a caller's key stands for.
pub(crate) struct Call {
    pub(crate) fingerprint: String,
    pub(crate) job_id: String,
    pub(crate) created_ms: i64,
}

/// Remembered calls by account and key.
pub(crate) type Calls = HashMap<(String, String), Call>;

struct CallRow((String, String), Call);

impl FromRow for CallRow {
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

/// The calls that these repeat, as far as their keys are known.
pub(crate) async fn load(
    conn: &mut Conn,
    accepts: &[PendingChange<Acceptance, AcceptOutcome>],
    bulks: &[PendingChange<NewBulk, BulkOutcome>],
) -> Result<Calls> {
    fn key<'a>(account_id: &'a str, given: Option<&'a Idempotency>) -> Option<CallKey<'a>> {
        let key = &given?.key;
        Some(CallKey { account_id, key })
    }
    let single = accepts.iter().map(|one| &one.input);
    let single = single.filter_map(|one| key(&one.job.account_id, one.idempotency.as_ref()));
    let together = bulks.iter().map(|one| &one.input);
    let together = together.filter_map(|one| key(&one.account_id, one.idempotency.as_ref()));
    let keys: Vec<CallKey<'_>> = single.chain(together).collect();
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

#[derive(Serialize)]
struct CallLine<'a> {
    account_id: &'a str,
    key: &'a str,
    fingerprint: &'a str,
    job_id: &'a str,
    created_ms: i64,
}

/// Writes the calls of these keys down, over those that stood there before.
pub(crate) async fn write(conn: &mut Conn, calls: &Calls, keys: &[(String, String)]) -> Result<()> {
    let lines: Vec<CallLine<'_>> = keys
        .iter()
        .filter_map(|key| {
            let call = calls.get(key)?;
            Some(CallLine {
                account_id: &key.0,
                key: &key.1,
                fingerprint: &call.fingerprint,
                job_id: &call.job_id,
                created_ms: call.created_ms,
            })
        })
        .collect();
    if !lines.is_empty() {
        conn.run(INSERT_CALLS, args![&json(&lines)]).await?;
    }
    Ok(())
}

const INSERT_CALLS: &str = "INSERT INTO idempotency (account_id, key, fingerprint, job_id, created_ms) \
     SELECT v.account_id, v.key, v.fingerprint, v.job_id, v.created_ms \
     FROM {rows:$1 account_id text, key text, fingerprint text, job_id text, created_ms bigint} \
     WHERE TRUE ON CONFLICT (account_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, \
     job_id = excluded.job_id, created_ms = excluded.created_ms";
