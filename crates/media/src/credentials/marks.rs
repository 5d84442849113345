//! Which files can carry a manifest, and whether one does; told from a few bytes, in every build.

use crate::header::{Format, header};

/// Files that can carry a manifest here.
const TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "video/mp4"];
/// The chunk of a PNG that holds one.
const PNG_CHUNK: &[u8] = b"caBX";
/// The chunk of a WebP that holds one.
const WEBP_CHUNK: &[u8] = b"C2PA";
/// How the manifest itself begins in a JPEG: the description of its outermost box.
const STORE: &[u8] = b"jumdc2pa";
/// The box of an MP4 that holds one.
const MP4_BOX: [u8; 16] = [
    0xd8, 0xfe, 0xc3, 0xd6, 0x1b, 0x0e, 0x48, 0x3c, 0x92, 0x97, 0x58, 0x28, 0x87, 0x7e, 0xc4, 0x81,
];

/// Whether a file of this type can carry a manifest here.
pub fn can_carry(media_type: &str) -> bool {
    TYPES.contains(&media_type)
}

/// Whether a file seems to carry a manifest.
pub fn carries_manifest(bytes: &[u8]) -> bool {
    match header(bytes).map(|header| header.format) {
        Ok(Format::Png) => png(bytes).unwrap_or(false),
        Ok(Format::Webp) => webp(bytes).unwrap_or(false),
        Ok(Format::Jpeg) => jpeg(bytes).unwrap_or(false),
        Ok(Format::Gif) => false,
        Err(_) => mp4(bytes).unwrap_or(false),
    }
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    usize::try_from(u32::from_be_bytes(four.try_into().ok()?)).ok()
}

fn png(bytes: &[u8]) -> Option<bool> {
    let mut at = 8;
    loop {
        let length = number(bytes, at)?;
        if bytes.get(at + 4..at + 8)? == PNG_CHUNK {
            return Some(true);
        }
        at = at.checked_add(length)?.checked_add(12)?;
    }
}

fn webp(bytes: &[u8]) -> Option<bool> {
    let mut at = 12;
    loop {
        let length = number(bytes, at + 4)? as u32;
        if bytes.get(at..at + 4)? == WEBP_CHUNK {
            return Some(true);
        }
        // Lengths are little-endian here, and chunks have an even one.
        let length = usize::try_from(length.swap_bytes()).ok()?;
        at = at.checked_add(length)?.checked_add(8 + length % 2)?;
    }
}

/// Looks at the segments before the picture itself.
fn jpeg(bytes: &[u8]) -> Option<bool> {
    let mut at = 2;
    loop {
        let (mark, kind) = (*bytes.get(at)?, *bytes.get(at + 1)?);
        if mark != 0xff {
            return None;
        }
        match kind {
            0xff => {
                at += 1;
                continue;
            }
            0xda | 0xd9 => return Some(false),
            _ => {}
        }
        let length = usize::from(*bytes.get(at + 2)?) << 8 | usize::from(*bytes.get(at + 3)?);
        let segment = bytes.get(at + 4..at + 2 + length)?;
        if kind == 0xeb && segment.windows(STORE.len()).any(|window| window == STORE) {
            return Some(true);
        }
        at += 2 + length;
    }
}

fn mp4(bytes: &[u8]) -> Option<bool> {
    if bytes.get(4..8)? != b"ftyp" {
        return None;
    }
    let mut at = 0usize;
    loop {
        let mut length = number(bytes, at)?;
        let kind = bytes.get(at + 4..at + 8)?;
        if kind == b"uuid" && bytes.get(at + 8..at + 24) == Some(&MP4_BOX) {
            return Some(true);
        }
        if length == 1 {
            length =
                number(bytes, at + 12)?.checked_add(number(bytes, at + 8)?.checked_shl(32)?)?;
        }
        if length < 8 {
            return Some(false);
        }
        at = at.checked_add(length)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoding, Picture, encode};

    #[test]
    fn plain_files_carry_none_and_cut_files_are_no_trouble() {
        let picture = Picture::filled(8, 8, [1, 2, 3, 255]);
        for encoding in [
            Encoding::Png,
            Encoding::Jpeg { quality: 80 },
            Encoding::Webp { quality: None },
        ] {
            let file = encode(&picture, encoding, None);
            for length in 0..file.len() {
                assert!(!carries_manifest(&file[..length]));
            }
            assert!(!carries_manifest(&file));
        }
    }

    #[test]
    fn a_box_of_a_manifest_is_found_behind_others() {
        let mut clip = b"\0\0\0\x10ftypisom\0\0\0\0".to_vec();
        assert!(!carries_manifest(&clip));
        clip.extend(b"\0\0\0\x18uuid");
        clip.extend(MP4_BOX);
        assert!(carries_manifest(&clip));
        assert!(can_carry("video/mp4") && !can_carry("image/gif") && !can_carry("image/svg+xml"));
    }
}
