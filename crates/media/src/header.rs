//! What an image file says about itself, read from its first bytes before anything is decoded.
//!
//! Nothing here allocates in proportion to what the file claims: a header that promises two thousand million
//! pixels costs as much as an honest one.

/// The image formats that are read, told apart by their first bytes and never by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    Png,
    /// JPEG, baseline or progressive.
    Jpeg,
    /// WebP, lossy or lossless.
    Webp,
    /// GIF; the first frame counts.
    Gif,
}

impl Format {
    /// The media type that HTTP uses for this format.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
            Self::Gif => "image/gif",
        }
    }

    /// The usual end of a file name, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::Webp => "webp",
            Self::Gif => "gif",
        }
    }
}

/// Format and size as the header of an image file gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Format by magic bytes.
    pub format: Format,
    /// Width in pixels, before any rotation asked for by EXIF.
    pub width: u32,
    /// Height in pixels, before any rotation asked for by EXIF.
    pub height: u32,
}

/// Why bytes could not become a picture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// The first bytes are of no format that is read here.
    #[error("not a PNG, JPEG, WebP or GIF image")]
    UnknownFormat,
    /// The file ends or contradicts itself before its size is known, or while its pixels are read. What its decoder
    /// says about it is for logs, not for whoever sent the file.
    #[error("the image is damaged")]
    Damaged(String),
    /// The header promises more pixels than allowed.
    #[error("the image is {width}x{height}, more than allowed")]
    TooLarge {
        /// Width in the header.
        width: u32,
        /// Height in the header.
        height: u32,
    },
}

/// Reads format and size without decoding.
pub fn header(bytes: &[u8]) -> Result<Header, ImageError> {
    let (format, size) = if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        (Format::Png, png_size(bytes))
    } else if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
        (Format::Jpeg, jpeg_size(bytes))
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        (Format::Gif, gif_size(bytes))
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        (Format::Webp, webp_size(bytes))
    } else {
        return Err(ImageError::UnknownFormat);
    };
    let (width, height) =
        size.ok_or_else(|| ImageError::Damaged("no size in its header".into()))?;
    if width == 0 || height == 0 {
        return Err(ImageError::Damaged("a side is zero".into()));
    }
    Ok(Header {
        format,
        width,
        height,
    })
}

fn png_size(bytes: &[u8]) -> Option<(u32, u32)> {
    (bytes.get(12..16)? == b"IHDR").then_some(())?;
    let width = u32::from_be_bytes(bytes.get(16..20)?.try_into().ok()?);
    let height = u32::from_be_bytes(bytes.get(20..24)?.try_into().ok()?);
    Some((width, height))
}

fn gif_size(bytes: &[u8]) -> Option<(u32, u32)> {
    Some((little16(bytes, 6)?, little16(bytes, 8)?))
}

/// Walks the segments up to the first frame header; each step moves forward, so it ends with the file.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        while *bytes.get(at)? != 0xff {
            at += 1;
        }
        while *bytes.get(at)? == 0xff {
            at += 1;
        }
        let marker = bytes[at];
        at += 1;
        match marker {
            0x00 | 0x01 | 0xd0..=0xd8 => {}
            0xd9 | 0xda => return None,
            frame if is_frame(frame) => {
                // A shorter one does not hold the size: it would be read from whatever follows.
                (big16(bytes, at)? >= 8).then_some(())?;
                return Some((big16(bytes, at + 5)?, big16(bytes, at + 3)?));
            }
            _ => at += (big16(bytes, at)? as usize).max(2),
        }
    }
}

/// Whether a segment of a JPEG says how large the picture is.
pub(crate) const fn is_frame(marker: u8) -> bool {
    matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc)
}

fn webp_size(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8 " => {
            (bytes.get(23..26)? == [0x9d, 0x01, 0x2a]).then_some(())?;
            Some((little16(bytes, 26)? & 0x3fff, little16(bytes, 28)? & 0x3fff))
        }
        b"VP8L" => {
            (*bytes.get(20)? == 0x2f).then_some(())?;
            let bits = u32::from_le_bytes(bytes.get(21..25)?.try_into().ok()?);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => {
            let side =
                |at: usize| Some(little16(bytes, at)? + (u32::from(*bytes.get(at + 2)?) << 16) + 1);
            Some((side(24)?, side(27)?))
        }
        _ => None,
    }
}

fn little16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_le_bytes(
        bytes.get(at..at + 2)?.try_into().ok()?,
    )))
}

fn big16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_be_bytes(
        bytes.get(at..at + 2)?.try_into().ok()?,
    )))
}
