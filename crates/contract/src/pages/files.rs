//! Files that callers upload to be used as inputs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file to keep.
#[derive(Deserialize, JsonSchema)]
pub struct NewFile {
    /// A png, jpeg, webp or gif image, or an mp4 or webm video.
    #[schemars(extend("format" = "binary"))]
    pub file: String,
}

/// A file that was uploaded.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileRow {
    /// Identifier.
    pub id: String,
    /// Its signed address, good in every image field of the same account.
    pub url: String,
    /// Media type.
    #[serde(rename = "type")]
    pub media_type: String,
    /// Size in bytes.
    pub bytes: i64,
    /// When it is deleted, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub expires_at: String,
}
