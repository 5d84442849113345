//! What an MP4 says about its picture track, read from its boxes with every length checked against the bytes.

use super::error::VideoError;

/// Size and time of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VideoInfo {
    pub width: u32,
    pub height: u32,
    /// Length in seconds.
    pub duration: f64,
    /// Frames a second, on average.
    pub fps: f64,
    pub frames: u32,
}

/// The boxes of a picture track that its facts and frames are read from.
pub(super) struct Tables<'a> {
    pub(super) clock: u32,
    pub(super) ticks: u64,
    pub(super) codec: [u8; 4],
    pub(super) entry: &'a [u8],
    pub(super) sizes: &'a [u8],
    pub(super) chunks: &'a [u8],
    pub(super) offsets: &'a [u8],
    pub(super) keys: Option<&'a [u8]>,
}

/// Reads size, duration and frame rate of an MP4.
pub fn video_info(bytes: &[u8]) -> Result<VideoInfo, VideoError> {
    let tables = tables(bytes).ok_or_else(|| damaged("no picture track"))?;
    let read = || {
        let width = u32::from(short(tables.entry, 24)?);
        let height = u32::from(short(tables.entry, 26)?);
        Some((width, height, word(tables.sizes, 8)?))
    };
    let (width, height, frames) = read().ok_or_else(|| damaged("its tables end early"))?;
    if width == 0 || height == 0 || frames == 0 || tables.clock == 0 || tables.ticks == 0 {
        return Err(damaged("an empty track"));
    }
    let duration = tables.ticks as f64 / f64::from(tables.clock);
    Ok(VideoInfo {
        width,
        height,
        duration,
        fps: f64::from(frames) / duration,
        frames,
    })
}

pub(super) fn damaged(what: &str) -> VideoError {
    VideoError::Damaged(what.into())
}

/// Finds the first track that holds pictures.
pub(super) fn tables(bytes: &[u8]) -> Option<Tables<'_>> {
    let movie = inside(bytes, "moov")?;
    boxes(movie)
        .filter(|(name, _)| name == b"trak")
        .find_map(|(_, track)| picture_track(track))
}

fn picture_track(track: &[u8]) -> Option<Tables<'_>> {
    let media = inside(track, "mdia")?;
    (inside(media, "hdlr")?.get(8..12)? == b"vide").then_some(())?;
    let header = inside(media, "mdhd")?;
    let (clock, ticks) = if *header.first()? == 1 {
        (
            word(header, 20)?,
            u64::from(word(header, 24)?) << 32 | u64::from(word(header, 28)?),
        )
    } else {
        (word(header, 12)?, u64::from(word(header, 16)?))
    };
    let samples = inside(inside(media, "minf")?, "stbl")?;
    let (codec, entry) = boxes(inside(samples, "stsd")?.get(8..)?).next()?;
    Some(Tables {
        clock,
        ticks,
        codec,
        entry,
        sizes: inside(samples, "stsz")?,
        chunks: inside(samples, "stsc")?,
        offsets: inside(samples, "stco")?,
        keys: inside(samples, "stss"),
    })
}

/// The body of the first box of a name.
pub(super) fn inside<'a>(bytes: &'a [u8], name: &str) -> Option<&'a [u8]> {
    boxes(bytes)
        .find(|(found, _)| found == name.as_bytes())
        .map(|(_, body)| body)
}

/// Boxes one after the other; ends at the first whose length is not inside the bytes.
pub(super) fn boxes(bytes: &[u8]) -> impl Iterator<Item = ([u8; 4], &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let name: [u8; 4] = rest.get(4..8)?.try_into().ok()?;
        let (head, size) = match word(rest, 0)? {
            0 => (8, rest.len()),
            1 => {
                let long = u64::from_be_bytes(rest.get(8..16)?.try_into().ok()?);
                (16, usize::try_from(long).ok()?)
            }
            size => (8, size as usize),
        };
        let body = rest.get(head..size)?;
        rest = &rest[size..];
        Some((name, body))
    })
}

pub(super) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(
        bytes.get(at..at.checked_add(4)?)?.try_into().ok()?,
    ))
}

pub(super) fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(
        bytes.get(at..at.checked_add(2)?)?.try_into().ok()?,
    ))
}
