//! The pictures that are shown beside a clip.

use atelier_contract::FileRole;
use atelier_media::{Encoding, Picture, encode, first_frame, last_frame};

use crate::backend::OutputFile;

/// Quality of the covers that are shown beside a clip.
const COVER: Encoding = Encoding::Jpeg { quality: 92 };

/// The first and the last frame, where they can be read.
pub(super) fn covers(bytes: &[u8]) -> Vec<OutputFile> {
    let cover = |frame: &Picture, role| OutputFile {
        role,
        media_type: COVER.format().media_type(),
        width: frame.width,
        height: frame.height,
        bytes: encode(frame, COVER, None).into(),
        ..OutputFile::default()
    };
    match (first_frame(bytes), last_frame(bytes)) {
        (Ok(first), Ok(last)) => vec![
            cover(&first, FileRole::FirstFrame),
            cover(&last, FileRole::LastFrame),
        ],
        _ => Vec::new(),
    }
}
