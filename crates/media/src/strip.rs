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
pub struct Damaged;

/// The file without its metadata; `None` when there is none to drop.
pub fn without_metadata(bytes: &[u8]) -> Result<Option<Vec<u8>>, Damaged> {
    let kept = match header(bytes).map_err(|_| Damaged)?.format {
        Format::Png => chunks::png(bytes),
        Format::Jpeg => jpeg::strip(bytes),
        Format::Webp => chunks::webp(bytes),
        Format::Gif => gif::strip(bytes),
    };
    let kept = kept.ok_or(Damaged)?;
    Ok((kept != bytes).then_some(kept))
}

/// A TIFF block that says which way is up and nothing else.
fn only_orientation(value: u8) -> Vec<u8> {
    let mut tiff = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".to_vec();
    tiff.extend([value, 0, 0, 0, 0, 0, 0]);
    tiff
}

#[cfg(test)]
mod tests {
    use super::only_orientation;
    use crate::orientation::orientation;

    #[test]
    fn what_is_written_about_up_is_read_back() {
        for value in 1..=8 {
            assert_eq!(orientation(&only_orientation(value)), value);
        }
    }
}
