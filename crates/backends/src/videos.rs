//! A vendor's clip made into a result: its kind and size are read from its own bytes.

mod covers;
mod fit;
mod webm;

use atelier_contract::FileRole;
use atelier_media::{Picture, last_frame, video_info};
use bytes::Bytes;
use serde_json::Value;

use crate::backend::{Fault, OutputFile, Work, WorkOutput};
use crate::images::on_threads;
use crate::inputs::unsupported;
use covers::covers;

pub(crate) use fit::{OversizePolicy, RequestedVideo, fit_videos};

/// Brands of pictures in the wrapping of clips.
const STILLS: [&[u8]; 5] = [b"avif", b"avis", b"heic", b"heix", b"mif1"];

/// The result of clips, in their order.
pub(crate) async fn finish_videos(
    work: &Work,
    clips: Vec<Bytes>,
    notes: Value,
) -> Result<WorkOutput, Fault> {
    let mut files = Vec::new();
    let mut shown = Vec::new();
    for bytes in clips {
        let Some(media_type) = kind(&bytes) else {
            let start = bytes.slice(..bytes.len().min(60));
            return Err(Fault::useless(format!("not a clip: {start:?}")));
        };
        let (width, height) = size_or_asked(work, &bytes);
        files.push(OutputFile {
            role: FileRole::Main,
            media_type,
            width,
            height,
            bytes: bytes.clone(),
            ..OutputFile::default()
        });
        if work.brief.covers {
            shown.extend(on_threads(&[], move || Ok(covers(&bytes))).await?);
        }
    }
    if files.is_empty() {
        return Err(Fault::useless("done, and no clip is there"));
    }
    let made = files.len() as u32;
    files.append(&mut shown);
    Ok(WorkOutput {
        files,
        made,
        notes,
        ..WorkOutput::default()
    })
}

/// The last frame of a video of the followed job.
pub(crate) async fn last_of_parent(work: &Work, index: usize) -> Result<Picture, Fault> {
    let file = work.parent.as_ref().and_then(|parent| parent.file(index));
    let file = file.ok_or_else(|| Fault::ours("the followed job has no video"))?;
    let bytes = (work.read)(file.key.clone()).await?;
    on_threads(&[], move || {
        last_frame(&bytes).map_err(|error| Fault {
            detail: error.to_string(),
            ..unsupported("jobId", "the video cannot be carried on")
        })
    })
    .await
}

/// The media type of a clip; `None` for anything else.
pub(crate) fn kind(bytes: &[u8]) -> Option<&'static str> {
    if bytes.get(4..8)? == b"ftyp" {
        // Some pictures come in the same wrapping.
        let brand = bytes.get(8..12)?;
        let is_picture = STILLS.contains(&brand);
        (!is_picture).then_some("video/mp4")
    } else if bytes.starts_with(&[0x1a, 0x45, 0xdf, 0xa3]) {
        Some("video/webm")
    } else {
        moving_webp(bytes).map(|_| "image/webp")
    }
}

/// How long a clip is, where its bytes tell.
pub fn video_seconds(bytes: &[u8]) -> Option<f64> {
    let info = video_info(bytes).ok()?;
    Some((info.duration * 1000.0).round() / 1000.0)
}

/// The media type of a clip whose pictures can be found; `None` for anything else.
pub fn video_type(bytes: &[u8]) -> Option<&'static str> {
    let media_type = kind(bytes)?;
    let readable = match media_type {
        "video/webm" => webm::size(bytes).is_some(),
        "video/mp4" => video_info(bytes).is_ok(),
        _ => false,
    };
    readable.then_some(media_type)
}

/// The size of a clip as its own bytes tell it, or else the one that was asked for.
pub(crate) fn size_or_asked(work: &Work, bytes: &[u8]) -> (u32, u32) {
    let asked = (work.brief.width, work.brief.height);
    let read = match kind(bytes) {
        Some("video/webm") => webm::size(bytes),
        Some("image/webp") => moving_webp(bytes),
        _ => video_info(bytes).ok().map(|info| (info.width, info.height)),
    };
    read.unwrap_or(asked)
}

/// The size of a WebP that moves; `None` for anything else.
fn moving_webp(bytes: &[u8]) -> Option<(u32, u32)> {
    const MOVES: u8 = 0b10;
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..16)? == b"WEBPVP8X";
    let side = |at: usize| {
        let three = bytes.get(at..at + 3)?;
        Some(u32::from_le_bytes([three[0], three[1], three[2], 0]) + 1)
    };
    if !is_webp || bytes.get(20)? & MOVES == 0 {
        return None;
    }
    Some((side(24)?, side(27)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webp_that_moves_is_a_clip_and_one_that_does_not_is_a_picture() {
        let webp = |flags: u8| {
            let mut bytes = b"RIFF\x20\0\0\0WEBPVP8X\x0a\0\0\0".to_vec();
            bytes.extend([flags, 0, 0, 0, 0x7f, 2, 0, 0x67, 1, 0]);
            bytes
        };
        assert_eq!(kind(&webp(0b10)), Some("image/webp"));
        assert_eq!(moving_webp(&webp(0b10)), Some((640, 360)));
        assert_eq!(kind(&webp(0b10000)), None);
    }
}
