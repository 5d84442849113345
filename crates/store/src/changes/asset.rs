//! A file as it is recorded: which it is, whose, and until when.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::db::{Arg, Line, args};
use crate::row::{Columns, FromRow};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Asset {
    /// Where the asset store keeps it.
    pub key: String,
    /// The job it came from; empty for an input.
    pub job_id: String,
    pub account_id: String,
    pub media_type: String,
    pub bytes: i64,
    /// When it may be deleted; below zero, the time at which somebody set about deleting it.
    pub expires_ms: i64,
    /// When it was stored.
    pub created_ms: i64,
}

/// How long the one who condemned a file has for deleting it; afterwards the key may be stored anew.
pub const DELETING_MS: i64 = 60_000;

/// A file to be recorded.
pub type NewAsset = Asset;

impl Line for &Asset {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        out.extend_from_slice(args![
            &self.key,
            &self.job_id,
            &self.account_id,
            &self.media_type,
            self.bytes,
            self.expires_ms,
            self.created_ms,
        ]);
    }
}

pub(crate) const ASSET_COLUMNS: &str =
    "key, job_id, account_id, media_type, bytes, expires_ms, created_ms";

impl FromRow for Asset {
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

/// The files to be recorded, each once: the one that lives longest.
pub(crate) fn newest(assets: &[Asset]) -> Vec<&Asset> {
    let mut by_key: BTreeMap<&str, &Asset> = BTreeMap::new();
    for asset in assets {
        let kept = by_key.entry(&asset.key).or_insert(asset);
        if asset.expires_ms > kept.expires_ms {
            *kept = asset;
        }
    }
    by_key.into_values().collect()
}

/// Records files, unless one is being deleted at this moment. One that is known keeps its row and lives longer, by so many
/// milliseconds at least.
pub(crate) fn recording(longer_ms: i64) -> String {
    format!(
        "INSERT INTO asset (key, job_id, account_id, media_type, bytes, expires_ms, created_ms) \
         SELECT v.key, v.job_id, v.account_id, v.media_type, v.bytes, v.expires_ms, v.created_ms \
         FROM {{lines:key text, job_id text, account_id text, media_type text, bytes bigint, \
         expires_ms bigint, created_ms bigint}} WHERE TRUE ON CONFLICT (key) DO UPDATE SET \
         account_id = excluded.account_id, media_type = excluded.media_type, \
         bytes = excluded.bytes, expires_ms = CASE WHEN excluded.expires_ms > asset.expires_ms \
         THEN excluded.expires_ms ELSE asset.expires_ms + {longer_ms} END \
         WHERE asset.expires_ms >= 0 OR asset.expires_ms + excluded.created_ms > {DELETING_MS}"
    )
}
