//! The words that its operations take.

use crate::fields::words;

/// The family whose videos are converted.
pub(super) const FAMILY_NAME: &str = "vidgen";

words! {
    /// The model.
    pub VidgenModel {
        /// Normal mode.
        Video2 "video-2",
        /// High-definition mode.
        Video2Pro "video-2-pro",
    }
}
words! {
    /// Upright or lying.
    pub Orientation = Portrait { Portrait "portrait", Landscape "landscape" }
}
words! {
    /// Definition.
    pub VidgenSize = Small {
        /// Standard definition.
        Small "small",
        /// HD: more detail, a higher bit rate; only with `video-2-pro`.
        Large "large",
    }
}
