//! A picture file that is passed on as it is: what others wrote about it goes, our label comes in, and not a pixel is
//! touched. Files of which that is not certain are left to whoever decodes and encodes them.

use std::borrow::Cow;

use crate::header::{Format, header};
use crate::label::Label;
use crate::strip::without_metadata;

/// Behind the signature and the header chunk.
const PNG_BODY: usize = 8 + 25;
/// What begins a segment that holds an XMP packet.
pub(crate) const XMP_SEGMENT: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
/// Flags of an extended WebP: alpha, metadata of either kind, and that it moves.
const WEBP_ALPHA: u8 = 0x10;
const WEBP_EXIF: u8 = 0x08;
const WEBP_XMP: u8 = 0x04;
const WEBP_MOVES: u8 = 0x02;

/// The file without its metadata and with a label; `None` when it is damaged, moves, or does not stand upright by itself.
pub fn relabelled(bytes: &[u8], label: &Label) -> Option<Vec<u8>> {
    let format = header(bytes).ok()?.format;
    let bare = match without_metadata(bytes).ok()? {
        Some(bare) => Cow::Owned(bare),
        None => Cow::Borrowed(bytes),
    };
    match format {
        Format::Png => png(&bare, label),
        // One that was cut off has no end; stripping gave it one.
        Format::Jpeg if bytes.ends_with(&[0xFF, 0xD9]) => jpeg(&bare, label),
        Format::Webp => webp(&bare, label),
        Format::Jpeg | Format::Gif => None,
    }
}

fn png(bytes: &[u8], label: &Label) -> Option<Vec<u8>> {
    let (mut rest, mut has_data) = (bytes.get(8..)?, false);
    while !rest.is_empty() {
        let length = u32::from_be_bytes(*rest.first_chunk::<4>()?) as usize;
        let (chunk, after) = rest.split_at_checked(length.checked_add(12)?)?;
        let (content, sum) = chunk.split_at(8 + length);
        if matches!(&content[4..8], b"acTL" | b"eXIf")
            || crc32fast::hash(&content[4..]).to_be_bytes() != sum
        {
            return None;
        }
        has_data |= content[4..].starts_with(b"IDAT");
        rest = after;
    }
    let (head, body) = bytes.split_at_checked(PNG_BODY).filter(|_| has_data)?;
    let mut out = Vec::with_capacity(bytes.len() + 1024);
    out.extend_from_slice(head);
    for (name, value) in label.entries() {
        // A keyword, neither compressed nor in any language, and the text.
        let content = [name.as_bytes(), b"\0\0\0\0\0", value.as_bytes()];
        let length: usize = content.iter().map(|part| part.len()).sum();
        out.extend_from_slice(&(length as u32).to_be_bytes());
        let begin = out.len();
        out.extend_from_slice(b"iTXt");
        for part in content {
            out.extend_from_slice(part);
        }
        let sum = crc32fast::hash(&out[begin..]);
        out.extend_from_slice(&sum.to_be_bytes());
    }
    out.extend_from_slice(body);
    Some(out)
}

fn jpeg(bytes: &[u8], label: &Label) -> Option<Vec<u8>> {
    let mut rest = bytes.strip_prefix(b"\xFF\xD8")?;
    // The JFIF segment is to be the first one.
    if rest.starts_with(b"\xFF\xE0") {
        let length = usize::from(u16::from_be_bytes(*rest.get(2..)?.first_chunk::<2>()?));
        rest = rest.get(2 + length..)?;
    }
    if rest.starts_with(b"\xFF\xE1") {
        return None;
    }
    let xmp = label.xmp();
    let length = u16::try_from(2 + XMP_SEGMENT.len() + xmp.len()).ok()?;
    let head = &bytes[..bytes.len() - rest.len()];
    let length = length.to_be_bytes();
    Some(
        [
            head,
            b"\xFF\xE1",
            &length,
            XMP_SEGMENT,
            xmp.as_bytes(),
            rest,
        ]
        .concat(),
    )
}

fn webp(bytes: &[u8], label: &Label) -> Option<Vec<u8>> {
    let size = header(bytes).ok()?;
    let chunks = bytes.get(12..)?;
    let (flags, image) = if chunks.starts_with(b"VP8X") {
        (*chunks.get(8)?, chunks.get(18..)?)
    } else {
        let alpha = chunks.starts_with(b"VP8L") && chunks.get(12)? & WEBP_ALPHA != 0;
        (if alpha { WEBP_ALPHA } else { 0 }, chunks)
    };
    if flags & (WEBP_EXIF | WEBP_MOVES) != 0 || image.is_empty() {
        return None;
    }
    Some(webp_extended(
        (size.width, size.height),
        flags,
        image,
        label,
    ))
}

/// The chunks of a WebP in the extended layout, which has room for XMP.
pub(crate) fn webp_extended(
    (width, height): (u32, u32),
    flags: u8,
    image: &[u8],
    label: &Label,
) -> Vec<u8> {
    let xmp = label.xmp();
    let mut out = Vec::with_capacity(image.len() + xmp.len() + 64);
    out.extend_from_slice(b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0");
    out.extend_from_slice(&[flags | WEBP_XMP, 0, 0, 0]);
    out.extend_from_slice(&(width - 1).to_le_bytes()[..3]);
    out.extend_from_slice(&(height - 1).to_le_bytes()[..3]);
    out.extend_from_slice(image);
    if !out.len().is_multiple_of(2) {
        out.push(0);
    }
    out.extend_from_slice(b"XMP ");
    out.extend_from_slice(&(xmp.len() as u32).to_le_bytes());
    out.extend_from_slice(xmp.as_bytes());
    if !out.len().is_multiple_of(2) {
        out.push(0);
    }
    let length = (out.len() - 8) as u32;
    out[4..8].copy_from_slice(&length.to_le_bytes());
    out
}
