//! A file that may be handed out, as the asset store's parts know it.

use std::sync::Arc;

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
