//! Files that callers upload to be used as inputs, and small pictures of files.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::fields::words;

/// A file to keep.
#[derive(Deserialize, JsonSchema)]
pub struct NewFile {
    /// A png, jpeg, webp or gif image, or an mp4 or webm video.
    #[schemars(extend("format" = "binary"))]
    pub file: String,
}

words! {
    /// How large a small picture of a file is.
    pub ThumbSize = Small {
        /// At most 384 pixels wide and high.
        Small "small",
        /// At most 1,280 pixels wide and high.
        Medium "medium",
    }
}

/// Which small picture of a file.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub struct ThumbQuery {
    /// `small` (at most 384 pixels wide and high) or `medium` (at most 1,280).
    #[serde(default)]
    pub size: ThumbSize,
}
