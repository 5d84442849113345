//! A picture into the bytes of a file, in the format and quality asked for, with its label.

use crate::Picture;
use crate::label::Label;
use crate::relabel::{XMP_SEGMENT, webp_extended};

/// A file format and how hard it may press.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Lossless, with transparency.
    Png,
    /// Lossy, 1 to 100; transparent parts become white.
    Jpeg {
        /// 1 (small) to 100 (good).
        quality: u8,
    },
    /// With transparency; lossless when no quality is given.
    Webp {
        /// 0 (small) to 100 (good), or none for lossless.
        quality: Option<u8>,
    },
}

impl Encoding {
    /// The format that the bytes will have.
    pub fn format(self) -> crate::Format {
        match self {
            Self::Png => crate::Format::Png,
            Self::Jpeg { .. } => crate::Format::Jpeg,
            Self::Webp { .. } => crate::Format::Webp,
        }
    }
}

/// No side of a WebP may be longer.
const WEBP_SIDE: u32 = 16_383;
/// No side of a JPEG may be longer.
const JPEG_SIDE: u32 = 65_535;

/// Encodes a picture; one that is too long for the format is made smaller to fit.
pub fn encode(picture: &Picture, encoding: Encoding, label: Option<&Label>) -> Vec<u8> {
    match encoding {
        Encoding::Png => png(picture, label),
        Encoding::Jpeg { quality } => jpeg(&picture.fitted(JPEG_SIDE), quality, label),
        Encoding::Webp { quality } => webp(&picture.fitted(WEBP_SIDE), quality, label),
    }
}

fn png(picture: &Picture, label: Option<&Label>) -> Vec<u8> {
    let mut out = Vec::with_capacity(picture.rgba.len() / 3);
    let mut encoder = png::Encoder::new(&mut out, picture.width, picture.height);
    let alpha = picture.has_alpha();
    encoder.set_color(if alpha {
        png::ColorType::Rgba
    } else {
        png::ColorType::Rgb
    });
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    for (name, value) in label.map(Label::entries).unwrap_or_default() {
        encoder
            .add_itxt_chunk(name.to_owned(), value)
            .expect("keywords are short and plain");
    }
    let mut writer = encoder.write_header().expect("writing to memory works");
    let written = if alpha {
        writer.write_image_data(&picture.rgba)
    } else {
        writer.write_image_data(&rgb(picture))
    };
    written
        .and_then(|()| writer.finish())
        .expect("writing to memory works");
    out
}

fn jpeg(picture: &Picture, quality: u8, label: Option<&Label>) -> Vec<u8> {
    let flat;
    let opaque = if picture.has_alpha() {
        flat = picture.on([255; 3]);
        &flat
    } else {
        picture
    };
    let mut out = Vec::with_capacity(picture.rgba.len() / 12);
    let mut encoder = jpeg_encoder::Encoder::new(&mut out, quality.clamp(1, 100));
    let sampling = if quality >= 90 {
        jpeg_encoder::SamplingFactor::R_4_4_4
    } else {
        jpeg_encoder::SamplingFactor::R_4_2_0
    };
    encoder.set_sampling_factor(sampling);
    encoder.set_optimized_huffman_tables(true);
    if let Some(label) = label {
        let mut segment = XMP_SEGMENT.to_vec();
        segment.extend_from_slice(label.xmp().as_bytes());
        encoder
            .add_app_segment(1, segment)
            .expect("a label is bounded below a segment");
    }
    let (width, height) = (opaque.width as u16, opaque.height as u16);
    encoder
        .encode(&opaque.rgba, width, height, jpeg_encoder::ColorType::Rgba)
        .expect("the size fits and writing to memory works");
    out
}

fn webp(picture: &Picture, quality: Option<u8>, label: Option<&Label>) -> Vec<u8> {
    let alpha = picture.has_alpha();
    let plain = if let Some(quality) = quality {
        webp_lossy(picture, alpha, quality)
    } else {
        let mut out = Vec::new();
        let encoder = image_webp::WebPEncoder::new(&mut out);
        let (width, height) = (picture.width, picture.height);
        let written = if alpha {
            encoder.encode(&picture.rgba, width, height, image_webp::ColorType::Rgba8)
        } else {
            encoder.encode(&rgb(picture), width, height, image_webp::ColorType::Rgb8)
        };
        written.expect("the size fits and writing to memory works");
        out
    };
    match label {
        Some(label) => webp_labelled(picture, alpha, &plain, label),
        None => plain,
    }
}

fn webp_lossy(picture: &Picture, alpha: bool, quality: u8) -> Vec<u8> {
    let quality = f32::from(quality.min(100));
    let (width, height) = (picture.width, picture.height);
    if alpha {
        webp::Encoder::from_rgba(&picture.rgba, width, height)
            .encode(quality)
            .to_vec()
    } else {
        webp::Encoder::from_rgb(&rgb(picture), width, height)
            .encode(quality)
            .to_vec()
    }
}

/// Wraps the image chunks of a WebP into the extended layout, which has room for XMP.
fn webp_labelled(picture: &Picture, alpha: bool, plain: &[u8], label: &Label) -> Vec<u8> {
    let chunks = &plain[12..];
    let image = if chunks.starts_with(b"VP8X") {
        &chunks[18..]
    } else {
        chunks
    };
    let flags = if alpha { 0x10 } else { 0 };
    webp_extended((picture.width, picture.height), flags, image, label)
}

fn rgb(picture: &Picture) -> Vec<u8> {
    let mut out = vec![0; picture.pixels().len() * 3];
    let triples = out.as_chunks_mut::<3>().0.iter_mut();
    for (triple, &[r, g, b, _]) in triples.zip(picture.pixels()) {
        *triple = [r, g, b];
    }
    out
}
