//! What can be wrong with a clip.

/// Why a clip could not be written or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VideoError {
    /// There was not one frame.
    #[error("a video needs at least one frame")]
    NoFrames,
    /// A frame is too small or too large, or not of the size of the first.
    #[error("a frame of {width}x{height} does not fit this video")]
    Size {
        /// Width of the frame.
        width: u32,
        /// Height of the frame.
        height: u32,
    },
    /// The frame rate is zero or beyond reason.
    #[error("{0} frames a second is not a frame rate")]
    Rate(u32),
    /// The bytes are not an MP4 with a picture track.
    #[error("the video is damaged: {0}")]
    Damaged(String),
    #[error("the video codec failed: {0}")]
    Codec(String),
}
