//! Assets: which files there are, whose, and until when.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::batch::json;
use crate::db::{Conn, args};
use crate::row::{Columns, Read};
use crate::{Result, Store};

/// A stored file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Asset {
    /// Where the vault keeps it.
    pub key: String,
    /// The job it came from; empty for an input.
    pub job_id: String,
    /// Whose it is.
    pub account_id: String,
    /// Its media type.
    pub media_type: String,
    /// Its size.
    pub bytes: i64,
    /// When it may be deleted.
    pub expires_ms: i64,
    /// When it was stored.
    pub created_ms: i64,
}

/// A file to be recorded.
pub type NewAsset = Asset;

const ASSET_COLUMNS: &str = "key, job_id, account_id, media_type, bytes, expires_ms, created_ms";

impl Read for Asset {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            key: columns.text()?,
            job_id: columns.text()?,
            account_id: columns.text()?,
            media_type: columns.text()?,
            bytes: columns.int()?,
            expires_ms: columns.int()?,
            created_ms: columns.int()?,
        })
    }
}

impl Store {
    /// The file with a key.
    pub async fn asset(&self, key: &str) -> Result<Option<Asset>> {
        let sql = format!("SELECT {ASSET_COLUMNS} FROM asset WHERE key = $1");
        self.db().maybe(&sql, args![key]).await
    }

    /// Those of some keys that no row knows.
    pub async fn unknown_assets(&self, keys: &[String]) -> Result<Vec<String>> {
        let sql = "SELECT key FROM asset WHERE key IN ({list:$1})";
        let known: Vec<String> = self.db().all(sql, args![&json(keys)]).await?;
        let known: std::collections::HashSet<String> = known.into_iter().collect();
        let unknown = keys.iter().filter(|key| !known.contains(*key));
        Ok(unknown.cloned().collect())
    }

    /// Files that may be deleted, longest expired first.
    pub async fn expired_assets(&self, now_ms: i64, limit: i64) -> Result<Vec<Asset>> {
        let sql = format!(
            "SELECT {ASSET_COLUMNS} FROM asset WHERE expires_ms < $1 \
             ORDER BY expires_ms, key LIMIT $2"
        );
        self.db().all(&sql, args![now_ms, limit]).await
    }

    /// Forgets files that were deleted.
    pub async fn forget_assets(&self, keys: &[String]) -> Result<()> {
        self.change(json(keys), |conn, keys| {
            Box::pin(async move {
                let sql = "DELETE FROM asset WHERE key IN ({list:$1})";
                conn.run(sql, args![keys]).await.map(|_| ())
            })
        })
        .await
    }

    /// Records inputs stored before their job is accepted; a known one only lives longer.
    pub async fn note_inputs(&self, inputs: Vec<NewAsset>) -> Result<()> {
        self.change(inputs, |conn, inputs| Box::pin(upsert(conn, inputs)))
            .await
    }
}

/// Records files; one that is known keeps its row and only lives longer.
pub(crate) async fn upsert(conn: &mut Conn, assets: &[Asset]) -> Result<()> {
    let mut by_key: BTreeMap<&str, &Asset> = BTreeMap::new();
    for asset in assets {
        let kept = by_key.entry(&asset.key).or_insert(asset);
        if asset.expires_ms > kept.expires_ms {
            *kept = asset;
        }
    }
    if by_key.is_empty() {
        return Ok(());
    }
    let lines: Vec<&Asset> = by_key.into_values().collect();
    conn.run(
        "INSERT INTO asset (key, job_id, account_id, media_type, bytes, expires_ms, created_ms) \
         SELECT v.key, v.job_id, v.account_id, v.media_type, v.bytes, v.expires_ms, v.created_ms \
         FROM {rows:$1 key text, job_id text, account_id text, media_type text, bytes bigint, \
         expires_ms bigint, created_ms bigint} WHERE TRUE ON CONFLICT (key) DO UPDATE SET \
         expires_ms = CASE WHEN excluded.expires_ms > asset.expires_ms \
         THEN excluded.expires_ms ELSE asset.expires_ms END",
        args![&json(&lines)],
    )
    .await
    .map(|_| ())
}
