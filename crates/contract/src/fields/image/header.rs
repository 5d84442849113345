//! What the first bytes of an image file say: its format and its size. Nothing is decoded.

/// The most pixels an image may claim to have: larger ones are refused by their header, undecoded.
const MOST_PIXELS: u64 = 64 * 1024 * 1024;
/// The longest side an image may claim to have.
const LONGEST_SIDE: u32 = 65_535;

const UNREADABLE: &str = "has an unreadable image header";

/// What the header of an image file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageHeader {
    /// The media type by magic bytes: `image/png`, `image/jpeg`, `image/webp` or `image/gif`.
    pub media_type: &'static str,
    /// Width of the image in pixels.
    pub width: u32,
    /// Height of the image in pixels.
    pub height: u32,
}

impl ImageHeader {
    /// Reads the header without decoding anything.
    pub fn read(bytes: &[u8]) -> Result<Self, &'static str> {
        let (media_type, size) = if bytes.starts_with(b"\x89PNG") {
            ("image/png", png_size(bytes))
        } else if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
            ("image/jpeg", jpeg_size(bytes))
        } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
            ("image/webp", webp_size(bytes))
        } else if bytes.starts_with(b"GIF8") {
            ("image/gif", gif_size(bytes))
        } else {
            return Err("must be a png, jpeg, webp or gif image");
        };
        let (width, height) = size.ok_or(UNREADABLE)?;
        let pixels = u64::from(width) * u64::from(height);
        if pixels == 0 || pixels > MOST_PIXELS || width.max(height) > LONGEST_SIDE {
            return Err("must have at most 67108864 pixels");
        }
        Ok(Self {
            media_type,
            width,
            height,
        })
    }
}

fn png_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let side = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    Some((side(16)?, side(20)?))
}

fn gif_size(bytes: &[u8]) -> Option<(u32, u32)> {
    Some((little_endian(bytes, 6, 2)?, little_endian(bytes, 8, 2)?))
}

/// The size of a JPEG whose segments follow each other with nothing but fill bytes between them. Readers skip anything else in
/// different ways and would not agree about the size, so such a file is refused.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut rest = bytes.get(2..)?;
    loop {
        // Any number of fill bytes may stand before the code of a marker.
        let fill = rest.iter().take_while(|byte| **byte == 0xff).count();
        let marker = *rest.get(fill).filter(|_| fill > 0)?;
        let segment = rest.get(fill + 1..)?;
        let length = big_endian(segment, 0).filter(|length| *length >= 2)?;
        match marker {
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                // A shorter one does not hold the size.
                (length >= 8).then_some(())?;
                return Some((big_endian(segment, 5)?, big_endian(segment, 3)?));
            }
            // These have no length, or end what was to come.
            0x00 | 0x01 | 0xd0..=0xda => return None,
            _ => rest = segment.get(length as usize..)?,
        }
    }
}

fn webp_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let sides = |low: usize, high: usize, width: usize| {
        Some((
            little_endian(bytes, low, width)?,
            little_endian(bytes, high, width)?,
        ))
    };
    match bytes.get(12..16)? {
        // The upper two bits of a side are a scale for whoever shows it.
        b"VP8 " => sides(26, 28, 2).map(|(width, height)| (width & 0x3fff, height & 0x3fff)),
        b"VP8L" => {
            let bits = little_endian(bytes, 21, 4)?;
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => sides(24, 27, 3).map(|(width, height)| (width + 1, height + 1)),
        _ => None,
    }
}

fn little_endian(bytes: &[u8], at: usize, width: usize) -> Option<u32> {
    let digits = bytes.get(at..at + width)?.iter().rev();
    Some(digits.fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
}

fn big_endian(bytes: &[u8], at: usize) -> Option<u32> {
    let pair = bytes.get(at..at + 2)?;
    Some(u32::from(pair[0]) << 8 | u32::from(pair[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The start of a JPEG of 40 by 30 pixels: an application segment, then the frame.
    fn jpeg(fill: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0xff, 0xd8];
        bytes.extend_from_slice(fill);
        bytes.extend_from_slice(&[0xff, 0xe0, 0, 4, 1, 2]);
        bytes.extend_from_slice(fill);
        bytes.extend_from_slice(&[0xff, 0xc0, 0, 11, 8, 0, 30, 0, 40, 1, 1, 0x11, 0]);
        bytes
    }

    /// The start of a WebP file whose first chunk is `tag` and says what follows.
    fn webp(tag: [u8; 4], says: &[u8]) -> Vec<u8> {
        let length = (says.len() as u32).to_le_bytes();
        [b"RIFF\0\0\0\0WEBP".as_slice(), &tag, &length, says].concat()
    }

    fn size(bytes: &[u8]) -> (u32, u32) {
        let header = ImageHeader::read(bytes).expect("a header");
        (header.width, header.height)
    }

    #[test]
    fn fill_bytes_before_a_marker_of_jpeg_are_skipped() {
        assert_eq!(size(&jpeg(&[])), (40, 30));
        assert_eq!(size(&jpeg(&[0xff])), (40, 30));
        assert_eq!(size(&jpeg(&[0xff; 9])), (40, 30));
    }

    #[test]
    fn the_scale_of_lossy_webp_is_no_part_of_its_size() {
        let says = [0, 0, 0, 0x9d, 0x01, 0x2a, 40, 0x40, 30, 0x80];
        assert_eq!(size(&webp(*b"VP8 ", &says)), (40, 30));
    }

    #[test]
    fn the_other_formats_say_their_size() {
        let lossless = (39_u32 + (29 << 14)).to_le_bytes();
        let lossless = [&[0x2f_u8][..], lossless.as_slice()].concat();
        assert_eq!(size(&webp(*b"VP8L", &lossless)), (40, 30));
        let extended = [0, 0, 0, 0, 39, 0, 0, 29, 0, 0];
        assert_eq!(size(&webp(*b"VP8X", &extended)), (40, 30));
        assert_eq!(size(b"GIF89a\x28\0\x1e\0"), (40, 30));
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x28\0\0\0\x1e";
        assert_eq!(size(png), (40, 30));
    }

    /// Readers skip in different ways what does not belong there, and would not agree about the size.
    #[test]
    fn a_jpeg_with_anything_else_between_its_segments_is_refused() {
        for between in [&[0][..], &[0xff, 0x00], &[0xff, 0xd0], &[0xff, 0xe1, 0, 1]] {
            let mut bytes = jpeg(&[]);
            bytes.splice(8..8, between.iter().copied());
            assert_eq!(ImageHeader::read(&bytes), Err(UNREADABLE), "{between:?}");
        }
    }

    #[test]
    fn no_part_of_a_header_is_read_as_one() {
        let whole = jpeg(&[]);
        for end in 3..whole.len() - 4 {
            assert!(ImageHeader::read(&whole[..end]).is_err(), "{end} bytes");
        }
        assert!(ImageHeader::read(b"GIF89a\x28\0\x1e").is_err());
        assert!(ImageHeader::read(&webp(*b"VP8X", &[0; 9])).is_err());
        assert!(ImageHeader::read(&webp(*b"ALPH", &[0; 40])).is_err());
    }

    #[test]
    fn sides_and_pixels_have_a_limit_and_are_not_zero() {
        let png = |width: u32, height: u32| {
            let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
            bytes.extend_from_slice(&width.to_be_bytes());
            bytes.extend_from_slice(&height.to_be_bytes());
            ImageHeader::read(&bytes)
        };
        assert!(png(8192, 8192).is_ok());
        for (width, height) in [(8192, 8193), (65_536, 1), (1, 65_536), (0, 9), (9, 0)] {
            assert!(png(width, height).is_err(), "{width}x{height}");
        }
    }
}
