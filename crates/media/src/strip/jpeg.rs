//! JPEG: segments up to the scan. Kept are those that are needed to decode, and the colour profile.

use super::only_orientation;
use crate::orientation::orientation;

pub(super) fn strip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut rest = bytes.strip_prefix(b"\xFF\xD8")?;
    let (mut kept, mut dropped, mut up) = (Vec::new(), false, 1);
    loop {
        let [0xFF, marker, after @ ..] = rest else {
            return None;
        };
        match *marker {
            // A marker may be preceded by any number of these.
            0xFF => {
                rest = &rest[1..];
                continue;
            }
            0xDA => break,
            0x01 | 0xD0..=0xD9 => return None,
            _ => {}
        }
        let length = usize::from(u16::from_be_bytes(*after.first_chunk::<2>()?));
        let content = after.get(2..length)?;
        if let Some(exif) = content.strip_prefix(b"Exif\0\0")
            && *marker == 0xE1
        {
            up = orientation(exif);
        }
        if is_kept(*marker, content) {
            kept.extend_from_slice(rest.get(..2 + length)?);
        } else {
            dropped = true;
        }
        rest = rest.get(2 + length..)?;
    }
    if !dropped {
        return None;
    }
    let mut out = b"\xFF\xD8".to_vec();
    if up != 1 {
        let block = [b"Exif\0\0".to_vec(), only_orientation(up)].concat();
        out.extend([0xFF, 0xE1]);
        out.extend((block.len() as u16 + 2).to_be_bytes());
        out.extend(block);
    }
    out.extend(kept);
    out.extend_from_slice(rest);
    Some(out)
}

fn is_kept(marker: u8, content: &[u8]) -> bool {
    match marker {
        0xE0 => content.starts_with(b"JFIF\0"),
        0xE2 => content.starts_with(b"ICC_PROFILE\0"),
        // Tells how the colours are coded.
        0xEE => true,
        0xE1..=0xEF | 0xFE => false,
        _ => true,
    }
}
