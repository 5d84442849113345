//! Bytes of a foreign image file into a picture: bounded by its header first, upright, without any metadata.

use std::io::Cursor;
use std::num::NonZeroU64;

use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::header::{Format, Header, ImageError, header};
use crate::orientation::{orientation, upright};
use crate::picture::Picture;

/// How large a picture may be that is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub max_pixels: u64,
    pub max_side: u32,
}

impl Default for Limits {
    /// Sixteen million pixels: 64 MB in memory.
    fn default() -> Self {
        Self {
            max_pixels: 16 << 20,
            max_side: 16_384,
        }
    }
}

impl Limits {
    /// Whether a header stays inside.
    pub fn check(self, header: Header) -> Result<(), ImageError> {
        let Header { width, height, .. } = header;
        let inside = width.max(height) <= self.max_side
            && u64::from(width) * u64::from(height) <= self.max_pixels;
        if inside {
            Ok(())
        } else {
            Err(ImageError::TooLarge { width, height })
        }
    }
}

/// Decodes a whole image file; what its header says is checked against the limits before a pixel is read.
pub fn decode(bytes: &[u8], limits: Limits) -> Result<Picture, ImageError> {
    let header = header(bytes)?;
    limits.check(header)?;
    let (picture, exif) = match header.format {
        Format::Png => png(bytes, header)?,
        Format::Jpeg => jpeg(bytes, header)?,
        Format::Webp => webp(bytes, header)?,
        Format::Gif => (gif(bytes, header)?, None),
    };
    Ok(upright(picture, exif.map_or(1, |exif| orientation(&exif))))
}

type DecodedImage = (Picture, Option<Vec<u8>>);

fn damaged(error: impl std::fmt::Display) -> ImageError {
    ImageError::Damaged(error.to_string())
}

/// Room for the pixels and for what a decoder needs beside them.
fn memory_most(header: Header) -> u64 {
    u64::from(header.width) * u64::from(header.height) * 16 + (4 << 20)
}

fn png(bytes: &[u8], header: Header) -> Result<DecodedImage, ImageError> {
    let limits = png::Limits {
        bytes: memory_most(header) as usize,
    };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(damaged)?;
    let size = reader
        .output_buffer_size()
        .ok_or_else(|| damaged("too large"))?;
    let mut raw = vec![0; size];
    let info = reader.next_frame(&mut raw).map_err(damaged)?;
    if (info.width, info.height) != (header.width, header.height) {
        return Err(damaged("its frame differs from its header"));
    }
    raw.truncate(info.buffer_size());
    let exif = reader
        .info()
        .exif_metadata
        .as_ref()
        .map(|exif| exif.to_vec());
    let rgba = match info.color_type {
        png::ColorType::Rgba => raw,
        png::ColorType::Rgb => rgb_to_rgba(&raw),
        png::ColorType::GrayscaleAlpha => raw
            .as_chunks::<2>()
            .0
            .iter()
            .flat_map(|&[v, a]| [v, v, v, a])
            .collect(),
        png::ColorType::Grayscale => raw.iter().flat_map(|&v| [v, v, v, 255]).collect(),
        png::ColorType::Indexed => return Err(damaged("no palette")),
    };
    Ok((whole(header.width, header.height, rgba)?, exif))
}

/// Asks for three channels: with four the decoder confuses its rows when the file is in printing colours.
fn jpeg(bytes: &[u8], header: Header) -> Result<DecodedImage, ImageError> {
    let options = DecoderOptions::default()
        .set_max_width(header.width as usize)
        .set_max_height(header.height as usize)
        .jpeg_set_max_scans(64)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(Cursor::new(bytes), options);
    let rgb = decoder.decode().map_err(damaged)?;
    let exif = decoder.exif().cloned();
    Ok((whole(header.width, header.height, rgb_to_rgba(&rgb))?, exif))
}

fn webp(bytes: &[u8], header: Header) -> Result<DecodedImage, ImageError> {
    let mut decoder = image_webp::WebPDecoder::new(Cursor::new(bytes)).map_err(damaged)?;
    decoder.set_memory_limit(memory_most(header) as usize);
    if decoder.dimensions() != (header.width, header.height) {
        return Err(damaged("its frame differs from its header"));
    }
    let exif = decoder.exif_metadata().unwrap_or_default();
    let size = decoder
        .output_buffer_size()
        .ok_or_else(|| damaged("too large"))?;
    let mut raw = vec![0; size];
    if decoder.is_animated() {
        decoder.read_frame(&mut raw).map_err(damaged)?;
    } else {
        decoder.read_image(&mut raw).map_err(damaged)?;
    }
    let rgba = if decoder.has_alpha() {
        raw
    } else {
        rgb_to_rgba(&raw)
    };
    Ok((whole(header.width, header.height, rgba)?, exif))
}

fn gif(bytes: &[u8], header: Header) -> Result<Picture, ImageError> {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    options.check_frame_consistency(true);
    let limit = NonZeroU64::new(memory_most(header)).unwrap_or(NonZeroU64::MIN);
    options.set_memory_limit(gif::MemoryLimit::Bytes(limit));
    let mut decoder = options.read_info(Cursor::new(bytes)).map_err(damaged)?;
    let frame = decoder
        .read_next_frame()
        .map_err(damaged)?
        .ok_or_else(|| damaged("no frame"))?;
    let part = whole(
        u32::from(frame.width),
        u32::from(frame.height),
        frame.buffer.to_vec(),
    )?;
    let mut canvas = Picture::filled(header.width, header.height, [0; 4]);
    canvas.pasted(&part, i64::from(frame.left), i64::from(frame.top));
    Ok(canvas)
}

fn rgb_to_rgba(raw: &[u8]) -> Vec<u8> {
    raw.as_chunks::<3>()
        .0
        .iter()
        .flat_map(|&[r, g, b]| [r, g, b, 255])
        .collect()
}

fn whole(width: u32, height: u32, rgba: Vec<u8>) -> Result<Picture, ImageError> {
    Picture::from_rgba(width, height, rgba).ok_or_else(|| damaged("pixels are missing"))
}
