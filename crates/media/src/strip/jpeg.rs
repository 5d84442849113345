//! JPEG: segments and scans up to the end of the image. Kept are those that are needed to decode, and the colour
//! profile. Behind the end cameras hang more pictures and whole films.

use crate::header::is_frame;
use crate::orientation::{only_orientation, orientation};

/// The part of a JFIF segment before its thumbnail.
const JFIF_BYTES: usize = 12;

/// The shortest frame header: precision, height, width, number of colours.
const FRAME_BYTES: usize = 6;

/// The kept parts; `None` when the file cannot be taken apart.
pub(super) fn strip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut rest = bytes.strip_prefix(b"\xFF\xD8")?;
    let (mut kept, mut scans, mut up) = (Vec::new(), 0, 1);
    loop {
        // Decoders skip what stands between two segments, and so do we.
        let marker = next_marker(rest);
        let Some(at) = marker else {
            // A file that was cut off within a scan still shows something.
            if scans == 0 {
                return None;
            }
            break;
        };
        let (marker, after) = (rest[at + 1], &rest[at + 2..]);
        match marker {
            0xD9 if scans > 0 => break,
            0xD8 | 0xD9 => return None,
            0x01 | 0xD0..=0xD7 => {
                rest = after;
                continue;
            }
            _ => {}
        }
        let length = usize::from(u16::from_be_bytes(*after.first_chunk::<2>()?));
        let content = after.get(2..length)?;
        // One reader would take the size from the bytes behind it, another one from other bytes.
        if is_frame(marker) && content.len() < FRAME_BYTES {
            return None;
        }
        if let Some(exif) = content.strip_prefix(b"Exif\0\0")
            && marker == 0xE1
            && scans == 0
        {
            up = orientation(exif);
        }
        rest = &after[length..];
        keep(&mut kept, marker, content);
        if marker == 0xDA {
            scans += 1;
            let scan = scan_bytes(rest);
            kept.extend_from_slice(&rest[..scan]);
            rest = &rest[scan..];
        }
    }
    let mut out = b"\xFF\xD8".to_vec();
    if up != 1 {
        segment(
            &mut out,
            0xE1,
            &[b"Exif\0\0", &only_orientation(up)[..]].concat(),
        );
    }
    out.extend(kept);
    out.extend([0xFF, 0xD9]);
    Some(out)
}

/// Where the next marker begins: its code follows any number of fill bytes.
fn next_marker(bytes: &[u8]) -> Option<usize> {
    let pairs = bytes.windows(2);
    pairs
        .enumerate()
        .find(|(_, pair)| pair[0] == 0xFF && !matches!(pair[1], 0 | 0xFF))
        .map(|(at, _)| at)
}

/// How many bytes of coded picture follow: up to a marker that is none of the scan's own.
fn scan_bytes(bytes: &[u8]) -> usize {
    let mut pairs = bytes.windows(2).enumerate();
    let end = pairs
        .find(|(_, pair)| pair[0] == 0xFF && !matches!(pair[1], 0 | 0xFF | 0x01 | 0xD0..=0xD7));
    end.map_or(bytes.len(), |(at, _)| at)
}

fn keep(kept: &mut Vec<u8>, marker: u8, content: &[u8]) {
    match marker {
        // The thumbnail may show what was cut away since.
        0xE0 if content.starts_with(b"JFIF\0") && content.len() >= JFIF_BYTES => {
            let head = [&content[..JFIF_BYTES], &[0, 0]].concat();
            segment(kept, marker, &head);
        }
        0xE2 if content.starts_with(b"ICC_PROFILE\0") => segment(kept, marker, content),
        // Tells how the colours are coded.
        0xEE if content.starts_with(b"Adobe") => segment(kept, marker, content),
        // Frames, tables, scans and their sizes.
        0xC0..=0xCF | 0xDA..=0xDF => segment(kept, marker, content),
        _ => {}
    }
}

fn segment(out: &mut Vec<u8>, marker: u8, content: &[u8]) {
    out.extend([0xFF, marker]);
    out.extend((content.len() as u16 + 2).to_be_bytes());
    out.extend_from_slice(content);
}
