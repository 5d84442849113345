//! An image file without what was written about it: place, time, camera, comments, and whatever hangs behind its end.
//! The picture itself is copied as it is; its colour profile stays, and so does which way is up. Only what is known to
//! be of the picture is kept.

mod chunks;
mod gif;
mod jpeg;

use crate::header::{Format, header};

/// A file that cannot be taken apart, so that nobody knows what it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the image file is damaged")]
pub struct DamagedFile;

/// The file without its metadata; `None` when there is none to drop.
pub fn without_metadata(bytes: &[u8]) -> Result<Option<Vec<u8>>, DamagedFile> {
    let kept = match header(bytes).map_err(|_| DamagedFile)?.format {
        Format::Png => chunks::png(bytes),
        Format::Jpeg => jpeg::strip(bytes),
        Format::Webp => chunks::webp(bytes),
        Format::Gif => gif::strip(bytes),
    };
    let kept = kept.ok_or(DamagedFile)?;
    Ok((kept != bytes).then_some(kept))
}
