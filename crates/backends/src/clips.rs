//! A vendor's clip made into a result: its kind and size are read from its own bytes.

use atelier_contract::Role;
use atelier_media::{Encoding, Picture, encode, first_frame, last_frame, video_info};
use bytes::Bytes;
use serde_json::Value;

use crate::backend::{Fault, Made, MadeFile, Work};
use crate::pictures::on_threads;

/// Quality of the covers that are shown beside a clip.
const COVER: Encoding = Encoding::Jpeg { quality: 92 };

/// Brands of pictures in the wrapping of clips.
const STILLS: [&[u8]; 5] = [b"avif", b"avis", b"heic", b"heix", b"mif1"];

/// The result of clips, in their order.
pub(crate) async fn filmed(work: &Work, clips: Vec<Bytes>, notes: Value) -> Result<Made, Fault> {
    let mut files = Vec::new();
    let mut shown = Vec::new();
    for bytes in clips {
        let Some(media_type) = kind(&bytes) else {
            let start = bytes.slice(..bytes.len().min(60));
            return Err(Fault::useless(format!("not a clip: {start:?}")));
        };
        let info = video_info(&bytes).ok();
        let asked = (work.brief.width, work.brief.height);
        let (width, height) = info.map_or(asked, |info| (info.width, info.height));
        files.push(MadeFile {
            role: Role::Main,
            media_type,
            width,
            height,
            bytes: bytes.clone(),
        });
        if work.brief.covers && info.is_some() {
            shown.extend(on_threads(&[], move || Ok(covers(&bytes))).await?);
        }
    }
    let made = files.len() as u32;
    files.append(&mut shown);
    Ok(Made {
        files,
        made,
        notes,
        ..Made::default()
    })
}

/// The first and the last frame, where they can be read.
fn covers(bytes: &[u8]) -> Vec<MadeFile> {
    let cover = |frame: &Picture, role| MadeFile {
        role,
        media_type: COVER.format().media_type(),
        width: frame.width,
        height: frame.height,
        bytes: encode(frame, COVER, None).into(),
    };
    match (first_frame(bytes), last_frame(bytes)) {
        (Ok(first), Ok(last)) => vec![
            cover(&first, Role::FirstFrame),
            cover(&last, Role::LastFrame),
        ],
        _ => Vec::new(),
    }
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
        None
    }
}
