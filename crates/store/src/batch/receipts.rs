//! Receipts of a batch: each success whose files were hashed gets one, chained to the one before it in the commit that captures its price.
//! Nothing is read or written where there is none.

use std::collections::HashMap;

use atelier_contract::Quota;
use atelier_contract::receipts::{ReceiptPayload, receipt_hash};
use atelier_contract::time::rfc3339;

use crate::Result;
use crate::changes::settle::FileHash;
use crate::db::{Arg, Conn, Line, args, json};
use crate::jobs::row::JobRow;
use crate::row::{Columns, FromRow};

/// A receipt that is to be chained.
pub(crate) struct ReceiptDraft {
    account_id: String,
    payload: ReceiptPayload,
    time_ms: i64,
    files: Vec<FileHash>,
}

impl ReceiptDraft {
    /// What a job was charged for that has succeeded.
    pub(crate) fn of(row: &JobRow, files: &[FileHash], time_ms: i64) -> Self {
        let lines = row.price_lines.as_deref();
        let lines = lines.and_then(|text| serde_json::from_str(text).ok());
        let quota: Quota = row.quota;
        Self {
            account_id: row.account_id.clone(),
            payload: ReceiptPayload {
                v: 1,
                job: row.id.clone(),
                account: row.account_id.clone(),
                operation: row.operation.clone(),
                model: row.attribution.model.clone(),
                quota,
                lines: lines.unwrap_or_default(),
                files: files.iter().map(|file| file.sha256.clone()).collect(),
                time: rfc3339(time_ms),
                previous: None,
            },
            time_ms,
            files: files.to_vec(),
        }
    }
}

/// A row for a receipt.
struct ReceiptLine {
    job_id: String,
    account_id: String,
    number: i64,
    payload: String,
    hash: String,
    previous: Option<String>,
    time_ms: i64,
}

impl Line for ReceiptLine {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        out.extend_from_slice(args![
            &self.job_id,
            &self.account_id,
            self.number,
            &self.payload,
            &self.hash,
            self.previous.as_deref(),
            self.time_ms,
        ]);
    }
}

impl Line for &FileHash {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        out.extend_from_slice(args![&self.key, &self.sha256]);
    }
}

/// The end of the chain of an account.
struct ChainEnd {
    account_id: String,
    number: i64,
    hash: String,
}

impl FromRow for ChainEnd {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            account_id: columns.text()?,
            number: columns.int()?,
            hash: columns.text()?,
        })
    }
}

/// Chains receipts and writes them, in the order of their jobs, under the locks of their accounts. The files are written by then.
pub(crate) async fn write(conn: &mut Conn, drafts: Vec<ReceiptDraft>) -> Result<()> {
    if drafts.is_empty() {
        return Ok(());
    }
    let accounts: Vec<&str> = drafts.iter().map(|one| &*one.account_id).collect();
    let ends: Vec<ChainEnd> = conn.all(ENDS, args![&json(&accounts)]).await?;
    let ends = ends.into_iter().map(|one| (one.account_id.clone(), one));
    let mut ends: HashMap<String, ChainEnd> = ends.collect();
    let (mut lines, mut files) = (Vec::new(), Vec::new());
    for mut draft in drafts {
        let end = ends.get(&draft.account_id);
        let number = end.map_or(1, |end| end.number + 1);
        let previous = end.map(|end| end.hash.clone());
        draft.payload.previous.clone_from(&previous);
        let payload = draft.payload.text();
        let hash = receipt_hash(&payload);
        let account_id = draft.account_id;
        ends.insert(
            account_id.clone(),
            ChainEnd {
                account_id: account_id.clone(),
                number,
                hash: hash.clone(),
            },
        );
        lines.push(ReceiptLine {
            job_id: draft.payload.job,
            account_id,
            number,
            payload,
            hash,
            previous,
            time_ms: draft.time_ms,
        });
        files.extend(draft.files);
    }
    conn.run_lines(INSERT, &lines).await?;
    let files: Vec<&FileHash> = files.iter().collect();
    if !files.is_empty() {
        conn.run_lines(HASHES, &files).await?;
    }
    Ok(())
}

const ENDS: &str = "SELECT account_id, number, hash FROM receipt WHERE account_id IN ({list:$1}) \
     AND number = (SELECT MAX(later.number) FROM receipt AS later WHERE later.account_id = receipt.account_id)";

const INSERT: &str = "INSERT INTO receipt (job_id, account_id, number, payload, hash, previous, time_ms) \
     SELECT v.job_id, v.account_id, v.number, v.payload, v.hash, v.previous, v.time_ms \
     FROM {lines:job_id text, account_id text, number bigint, payload text, hash text, previous text, time_ms bigint}";

const HASHES: &str =
    "UPDATE asset SET sha256 = v.sha256 FROM {lines:key text, sha256 text} WHERE asset.key = v.key";
