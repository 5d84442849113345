//! Frames as files of their own.

use atelier_contract::FileRole;
use atelier_media::{Encoding, Picture, VideoError, encode};

use crate::backend::{Fault, OutputFile};

/// Quality of the frames that are kept beside a video.
const FRAME: Encoding = Encoding::Jpeg { quality: 92 };

/// A frame as a file of its own.
pub(super) fn frame_file(frame: &Picture, role: FileRole) -> OutputFile {
    OutputFile {
        role,
        media_type: FRAME.format().media_type(),
        width: frame.width,
        height: frame.height,
        bytes: encode(frame, FRAME, None).into(),
        ..OutputFile::default()
    }
}

/// A frame that is kept beside a video.
pub(super) fn kept_frame(still: &Picture) -> OutputFile {
    frame_file(still, FileRole::FirstFrame)
}

/// The fault of a video that could not be read.
pub(super) fn unreadable(field: &str, error: &VideoError) -> Fault {
    Fault {
        field: Some(field.to_owned()),
        detail: error.to_string(),
        ..Fault::unusable("the video could not be read")
    }
}
