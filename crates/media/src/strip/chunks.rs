//! PNG and WebP: files of chunks, some of which are about the picture rather than of it.

use crate::orientation::{only_orientation, orientation};

/// Behind the signature and the header chunk.
const PNG_BODY: usize = 8 + 25;
/// What the flags of an extended WebP say about metadata.
const WEBP_EXIF: u8 = 0x08;
const WEBP_XMP: u8 = 0x04;

/// What a PNG is decoded from, alone or as a clip. Text, times, notes of programs and unknown chunks are none of it.
const PNG_KEPT: [&[u8; 4]; 17] = [
    b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"cHRM", b"gAMA", b"iCCP", b"sBIT", b"sRGB",
    b"cICP", b"mDCV", b"cLLI", b"bKGD", b"acTL", b"fcTL", b"fdAT",
];
/// Likewise a WebP; its orientation is written anew.
const WEBP_KEPT: [&[u8; 4]; 7] = [
    b"VP8X", b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF", b"ICCP",
];

/// The kept chunks; whatever stands behind the end belongs to nobody. `None` when the file cannot be taken apart.
pub(super) fn png(bytes: &[u8]) -> Option<Vec<u8>> {
    let (signature, mut rest) = bytes.split_at_checked(8)?;
    // The size is in the first chunk, or whatever follows would be read as the size.
    rest.starts_with(b"\0\0\0\x0dIHDR").then_some(())?;
    let (mut kept, mut up) = (signature.to_vec(), 1);
    loop {
        let length = u32::from_be_bytes(*rest.first_chunk::<4>()?) as usize;
        let whole = rest.get(..length.checked_add(12)?)?;
        let (kind, content) = (&whole[4..8], &whole[8..8 + length]);
        rest = &rest[whole.len()..];
        if kind == b"eXIf" {
            up = orientation(content);
        } else if PNG_KEPT.iter().any(|known| *known == kind) {
            kept.extend_from_slice(whole);
        }
        if kind == b"IEND" {
            break;
        }
    }
    if up != 1 {
        let chunk = png_chunk(*b"eXIf", &only_orientation(up));
        let place = PNG_BODY.min(kept.len());
        kept.splice(place..place, chunk);
    }
    Some(kept)
}

fn png_chunk(kind: [u8; 4], content: &[u8]) -> Vec<u8> {
    let mut chunk = (content.len() as u32).to_be_bytes().to_vec();
    chunk.extend(kind);
    chunk.extend_from_slice(content);
    let sum = crc32fast::hash(&chunk[4..]);
    chunk.extend(sum.to_be_bytes());
    chunk
}

/// The kept chunks; `None` when the file cannot be taken apart.
pub(super) fn webp(bytes: &[u8]) -> Option<Vec<u8>> {
    let size = u32::from_le_bytes(*bytes.get(4..8)?.first_chunk::<4>()?) as usize;
    let mut rest = bytes.get(12..size.checked_add(8)?)?;
    // The first chunk holds the size: a file that ends before it, or where it is too short for that, has none.
    let sized = match rest.get(..4)? {
        b"VP8L" => 5,
        _ => 10,
    };
    rest.get(8..8 + sized)?;
    let first = u32::from_le_bytes(*rest.get(4..8)?.first_chunk::<4>()?) as usize;
    (first >= sized).then_some(())?;
    let (mut kept, mut up) = (Vec::new(), 1);
    while !rest.is_empty() {
        let length = u32::from_le_bytes(*rest.get(4..8)?.first_chunk::<4>()?) as usize;
        let padded = length.checked_add(8 + length % 2)?;
        // Some writers leave out the padding of the last chunk.
        let whole = rest.get(..padded).unwrap_or(rest);
        let content = whole.get(8..8 + length)?;
        let kind = &whole[..4];
        if kind == b"EXIF" {
            up = orientation(content);
        } else if WEBP_KEPT.iter().any(|known| *known == kind) {
            kept.extend_from_slice(whole);
        }
        rest = &rest[whole.len()..];
    }
    let exif = if up == 1 { 0 } else { WEBP_EXIF };
    if kept.starts_with(b"VP8X") {
        let flags = kept.get_mut(8)?;
        *flags = *flags & !(WEBP_EXIF | WEBP_XMP) | exif;
    }
    if exif != 0 {
        let block = only_orientation(up);
        kept.extend(b"EXIF");
        kept.extend((block.len() as u32).to_le_bytes());
        kept.extend(block);
    }
    let mut out = b"RIFF".to_vec();
    out.extend((kept.len() as u32 + 4).to_le_bytes());
    out.extend(b"WEBP");
    out.extend(kept);
    Some(out)
}
