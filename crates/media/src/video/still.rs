//! Single frames out of clips that this crate has written: the first, and the last that an extension starts from.

use openh264::OpenH264API;
use openh264::decoder::{Decoder, DecoderConfig};

use super::error::VideoError;
use super::reader::{damaged, inside, short, tables, video_info, word};
use super::yuv::picture;
use crate::Picture;

/// The first frame of a clip made here.
pub fn first_frame(bytes: &[u8]) -> Result<Picture, VideoError> {
    let clip = Clip::open(bytes)?;
    clip.decode(0, 0)
}

/// The frame of a clip made here that is shown at a moment, in seconds; the last one after its end.
pub fn frame_at(bytes: &[u8], seconds: f64) -> Result<Picture, VideoError> {
    let info = video_info(bytes)?;
    let clip = Clip::open(bytes)?;
    let last = clip.samples.len() - 1;
    let index = ((seconds.max(0.0) * info.fps) as usize).min(last);
    clip.decode(clip.key_before(index), index)
}

/// The last frame of a clip made here.
pub fn last_frame(bytes: &[u8]) -> Result<Picture, VideoError> {
    let clip = Clip::open(bytes)?;
    let last = clip.samples.len() - 1;
    clip.decode(clip.key_before(last), last)
}

/// Where the frames of a clip lie, and the parameters that its decoder needs first.
struct Clip<'a> {
    sets: Vec<u8>,
    samples: Vec<&'a [u8]>,
    keys: Vec<usize>,
}

impl<'a> Clip<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, VideoError> {
        Self::read(bytes).ok_or_else(|| damaged("not a clip made here"))
    }

    fn read(bytes: &'a [u8]) -> Option<Self> {
        let tables = tables(bytes)?;
        (tables.codec == *b"avc1").then_some(())?;
        let side = short(tables.entry, 24)?.max(short(tables.entry, 26)?);
        (side <= 4096).then_some(())?;
        // All frames lie in one run, as `encode_video` writes them.
        let count = word(tables.sizes, 8)? as usize;
        (word(tables.chunks, 4)? == 1 && word(tables.chunks, 12)? as usize == count)
            .then_some(())?;
        (count > 0 && tables.sizes.len() == 12 + count * 4).then_some(())?;
        let mut at = word(tables.offsets, 8)? as usize;
        let mut samples = Vec::with_capacity(count);
        for index in 0..count {
            let size = word(tables.sizes, 12 + index * 4)? as usize;
            samples.push(bytes.get(at..at.checked_add(size)?)?);
            at += size;
        }
        let keys = tables.keys.map_or_else(Vec::new, |keys| {
            let numbers = keys.get(8..).unwrap_or_default().as_chunks::<4>().0;
            numbers
                .iter()
                .map(|&number| u32::from_be_bytes(number).max(1) as usize - 1)
                .collect()
        });
        Some(Self {
            sets: parameter_sets(inside(tables.entry.get(78..)?, "avcC")?)?,
            samples,
            keys,
        })
    }

    /// The key frame from which decoding leads to a frame.
    fn key_before(&self, frame: usize) -> usize {
        let keys = self.keys.iter().rev();
        keys.copied().find(|key| *key <= frame).unwrap_or(0)
    }

    /// Decodes from a key frame and gives the frame at `last`.
    fn decode(&self, key: usize, last: usize) -> Result<Picture, VideoError> {
        let codec = |error: openh264::Error| VideoError::Codec(error.to_string());
        let mut decoder =
            Decoder::with_api_config(OpenH264API::from_source(), DecoderConfig::new())
                .map_err(codec)?;
        let mut frame = None;
        for (index, sample) in self.samples.iter().enumerate().take(last + 1).skip(key) {
            let mut stream = if index == key {
                self.sets.clone()
            } else {
                Vec::new()
            };
            append_units(&mut stream, sample).ok_or_else(|| damaged("a frame ends early"))?;
            if let Some(planes) = decoder.decode(&stream).map_err(codec)?
                && index == last
            {
                frame = Some(picture(&planes));
            }
        }
        frame.ok_or_else(|| damaged("the frame is missing"))
    }
}

/// Turns units with lengths into units with start codes.
pub(super) fn append_units(stream: &mut Vec<u8>, sample: &[u8]) -> Option<()> {
    let mut rest = sample;
    while !rest.is_empty() {
        let size = word(rest, 0)? as usize;
        let unit = rest.get(4..size.checked_add(4)?)?;
        stream.extend_from_slice(&[0, 0, 0, 1]);
        stream.extend_from_slice(unit);
        rest = &rest[size + 4..];
    }
    Some(())
}

pub(super) fn parameter_sets(sets: &[u8]) -> Option<Vec<u8>> {
    let mut stream = Vec::new();
    let size = usize::from(short(sets, 6)?);
    stream.extend_from_slice(&[0, 0, 0, 1]);
    stream.extend_from_slice(sets.get(8..8 + size)?);
    let rest = sets.get(9 + size..)?;
    let size = usize::from(short(rest, 0)?);
    stream.extend_from_slice(&[0, 0, 0, 1]);
    stream.extend_from_slice(rest.get(2..2 + size)?);
    Some(stream)
}
