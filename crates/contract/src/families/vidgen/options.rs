//! The words that its operations take.

use crate::fields::words;

/// The family whose videos are converted.
pub(super) const FAMILY_NAME: &str = "vidgen";

words! {
    /// The model that makes the video.
    pub VidgenModel {
        /// Normal mode: the usual quality and price.
        Video2 "video-2",
        /// High-definition mode, at a higher price.
        Video2Pro "video-2-pro",
    }
}
words! {
    /// Whether the video is upright or wide.
    pub Orientation = Portrait { Portrait "portrait", Landscape "landscape" }
}
words! {
    /// In which definition the video is made.
    pub VidgenSize = Small {
        /// Standard definition; every model has it.
        Small "small",
        /// HD: more detail, a higher bit rate; only with `video-2-pro`.
        Large "large",
    }
}
