//! The one thing that is taken from a caller's EXIF block before the block is dropped: which way is up.

use crate::Picture;

/// The orientation in a TIFF block (with or without the `Exif` prefix); 1 when there is none that makes sense.
pub(crate) fn orientation(exif: &[u8]) -> u8 {
    let tiff = exif.strip_prefix(b"Exif\0\0").unwrap_or(exif);
    find(tiff)
        .filter(|value| (1..=8).contains(value))
        .unwrap_or(1)
}

fn find(tiff: &[u8]) -> Option<u8> {
    let big = match tiff.get(..4)? {
        b"II*\0" => false,
        b"MM\0*" => true,
        _ => return None,
    };
    let short = |at: usize| -> Option<u16> {
        let pair: [u8; 2] = tiff.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if big {
            u16::from_be_bytes(pair)
        } else {
            u16::from_le_bytes(pair)
        })
    };
    let long = tiff.get(4..8)?.try_into().ok()?;
    let start = if big {
        u32::from_be_bytes(long)
    } else {
        u32::from_le_bytes(long)
    } as usize;
    let entries = usize::from(short(start)?);
    (0..entries)
        .map(|index| start + 2 + index * 12)
        .find(|&at| short(at) == Some(0x0112))
        .and_then(|at| u8::try_from(short(at + 8)?).ok())
}

/// Turns and mirrors a picture so that it stands upright without EXIF.
pub(crate) fn upright(picture: Picture, orientation: u8) -> Picture {
    let (width, height) = (picture.width, picture.height);
    let turned = orientation >= 5;
    let (out_width, out_height) = if turned {
        (height, width)
    } else {
        (width, height)
    };
    let source = |x: u32, y: u32| match orientation {
        2 => (width - 1 - x, y),
        3 => (width - 1 - x, height - 1 - y),
        4 => (x, height - 1 - y),
        5 => (y, x),
        6 => (y, height - 1 - x),
        7 => (width - 1 - y, height - 1 - x),
        _ => (width - 1 - y, x),
    };
    if orientation <= 1 {
        return picture;
    }
    let mut out = Picture::filled(out_width, out_height, [0; 4]);
    for y in 0..out_height {
        for x in 0..out_width {
            let (from_x, from_y) = source(x, y);
            out.set(x, y, picture.pixel(from_x, from_y));
        }
    }
    out
}

/// A TIFF block that says which way is up and nothing else.
pub(crate) fn only_orientation(value: u8) -> Vec<u8> {
    let mut tiff = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".to_vec();
    tiff.extend([value, 0, 0, 0, 0, 0, 0]);
    tiff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_about_up_is_read_back() {
        for value in 1..=8 {
            assert_eq!(orientation(&only_orientation(value)), value);
        }
    }
}
