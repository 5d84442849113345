//! Files that callers uploaded.

use atelier_contract::time::timestamp;
use atelier_engine::records::Upload;
use schemars::JsonSchema;
use serde::Serialize;

/// A file that was uploaded.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileRow {
    /// Identifier of the file.
    pub(crate) id: String,
    /// Its signed URL, accepted in every image field of the same account.
    pub(crate) url: String,
    /// Media type, such as `image/png`.
    #[serde(rename = "type")]
    pub(crate) media_type: String,
    /// Size of the file in bytes.
    pub(crate) bytes: i64,
    /// When it is deleted, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) expires_at: String,
}

impl FileRow {
    /// An upload and its signed address.
    pub(crate) fn new(upload: Upload, url: String) -> Self {
        Self {
            id: upload.id,
            url,
            media_type: upload.asset.media_type,
            bytes: upload.asset.bytes,
            expires_at: timestamp(upload.asset.expires_ms),
        }
    }
}
