//! Assets: which files there are, whose, and until when.

use serde::Serialize;

use crate::Result;
use crate::changes::asset::{ASSET_COLUMNS, Asset, NewAsset, newest, recording};
use crate::db::{args, json};
use crate::store_core::StoreCore;

#[derive(Serialize)]
struct Orphan<'a> {
    key: &'a str,
}

/// Rows of results, inputs and uploads; the bytes are in [`crate::files`].
#[derive(Clone, Copy, Debug)]
pub struct Assets<'a>(pub(crate) &'a StoreCore);

impl Assets<'_> {
    /// The file with a key.
    pub async fn find(self, key: &str) -> Result<Option<Asset>> {
        let sql = format!("SELECT {ASSET_COLUMNS} FROM asset WHERE key = $1");
        self.0.db.maybe(&sql, args![key]).await
    }

    /// Bytes of all files together, by what is counted for each account.
    pub async fn stored_bytes(self) -> Result<i64> {
        let sql = "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM stored";
        self.0.db.one(sql, &[]).await
    }

    /// Files in the order of their keys, after one of them.
    pub async fn list_after(self, key: &str, limit: i64) -> Result<Vec<Asset>> {
        let sql = format!("SELECT {ASSET_COLUMNS} FROM asset WHERE key > $1 ORDER BY key LIMIT $2");
        self.0.db.all(&sql, args![key, limit]).await
    }

    /// Those of some keys that no row knows.
    pub async fn unknown(self, keys: &[String]) -> Result<Vec<String>> {
        let sql = "SELECT key FROM asset WHERE key IN ({list:$1})";
        let known: Vec<String> = self.0.db.all(sql, args![&json(keys)]).await?;
        let known: std::collections::HashSet<String> = known.into_iter().collect();
        let unknown = keys.iter().filter(|key| !known.contains(*key));
        Ok(unknown.cloned().collect())
    }

    /// Condemns expired files, longest expired first, and gives their keys: until [`DELETING_MS`](crate::DELETING_MS) later nobody but
    /// the caller has a claim on them. What was condemned before `again_ms` and is still there is condemned anew, so
    /// that a file that cannot be deleted holds up no other.
    pub async fn condemn(self, now_ms: i64, again_ms: i64, limit: i64) -> Result<Vec<String>> {
        self.0.change((now_ms, again_ms, limit), |conn, (now, again, limit)| {
            Box::pin(async move {
                // Judged again on the row itself: another node may have been faster to it.
                let sql = "UPDATE asset SET expires_ms = $1 WHERE key IN (SELECT key FROM asset \
                     WHERE expires_ms > $2 AND expires_ms < $3 ORDER BY expires_ms, key LIMIT $4) \
                     AND expires_ms > $2 AND expires_ms < $3 RETURNING key";
                conn.all(sql, args![-*now, -*again, *now, *limit]).await
            })
        })
        .await
    }

    /// Forgets files that were condemned at a time and have been deleted; a key that somebody stored anew stays.
    pub async fn forget(self, keys: &[String], condemned_ms: i64) -> Result<()> {
        self.0
            .change((json(keys), condemned_ms), |conn, (keys, condemned_ms)| {
                Box::pin(async move {
                    let sql = "DELETE FROM asset WHERE key IN ({list:$1}) AND expires_ms = $2";
                    conn.run(sql, args![&*keys, -*condemned_ms])
                        .await
                        .map(|_| ())
                })
            })
            .await
    }

    /// Records files that no row knows as expired, so that they go the way of every expired file; how many.
    pub async fn note_orphans(self, keys: &[String], now_ms: i64) -> Result<u64> {
        let lines: Vec<Orphan<'_>> = keys.iter().map(|key| Orphan { key }).collect();
        self.0
            .change((json(&lines), now_ms), |conn, (lines, now_ms)| {
                Box::pin(async move {
                    let sql = "INSERT INTO asset (key, job_id, account_id, media_type, bytes, \
                     expires_ms, created_ms) SELECT v.key, '', '', '', 0, 0, $2 \
                     FROM {rows:$1 key text} WHERE TRUE ON CONFLICT (key) DO NOTHING";
                    conn.run(sql, args![&*lines, *now_ms]).await
                })
            })
            .await
    }

    /// Records inputs before they are stored; a known one only lives longer, by a moment at least, so that whoever
    /// recorded it before can tell. What is recorded now, in the order of keys; `None` when one of them is being deleted
    /// at this moment: it is to be recorded again after a while, and stored only then.
    pub async fn note_inputs(self, inputs: Vec<NewAsset>) -> Result<Option<Vec<Asset>>> {
        self.0
            .change_in(self.0.try_write_slot()?, inputs, |conn, inputs| {
                Box::pin(async move {
                    conn.run_lines(&recording(1), &newest(inputs)).await?;
                    let keys: Vec<&String> = inputs.iter().map(|input| &input.key).collect();
                    let sql = format!(
                        "SELECT {ASSET_COLUMNS} FROM asset WHERE key IN ({{list:$1}}) ORDER BY key"
                    );
                    let noted: Vec<Asset> = conn.all(&sql, args![&json(&keys)]).await?;
                    let condemned = noted.iter().any(|one| one.expires_ms < 0);
                    Ok((!condemned).then_some(noted))
                })
            })
            .await
    }

    /// Has inputs expire at once that are as they were recorded, for calls that were not accepted; those that somebody
    /// has recorded since stay.
    pub async fn drop_inputs(self, inputs: &[NewAsset]) -> Result<u64> {
        self.0.change(json(inputs), |conn, inputs| {
            Box::pin(async move {
                let sql = "UPDATE asset SET expires_ms = 0 WHERE (key, created_ms, expires_ms) IN \
                     (SELECT v.key, v.created_ms, v.expires_ms FROM {rows:$1 key text, \
                     created_ms bigint, expires_ms bigint})";
                conn.run(sql, args![&*inputs]).await
            })
        })
        .await
    }
}
