//! Files that callers upload to be used as inputs.

use schemars::JsonSchema;
use serde::Deserialize;

/// A file to keep.
#[derive(Deserialize, JsonSchema)]
pub struct NewFile {
    /// A png, jpeg, webp or gif image, or an mp4 or webm video.
    #[schemars(extend("format" = "binary"))]
    pub file: String,
}
