//! A file that may be handed out, as the asset store's parts know it.

use std::sync::Arc;

use atelier_store::Asset as AssetRow;

/// A file that may be handed out.
#[derive(Clone, Debug)]
pub struct Asset {
    pub key: String,
    pub account_id: Arc<str>,
    pub media_type: String,
    pub bytes: u64,
    /// Names this content and no other.
    pub etag: String,
    /// When the address stops working.
    pub expires_ms: i64,
}

impl Asset {
    /// The file that a row is about.
    pub(crate) fn of(row: AssetRow) -> Self {
        Self {
            etag: format!("\"{:x}-{:x}\"", row.created_ms, row.bytes),
            key: row.key,
            account_id: row.account_id.into(),
            media_type: row.media_type,
            bytes: row.bytes as u64,
            expires_ms: row.expires_ms,
        }
    }
}
