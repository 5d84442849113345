//! The pictures a piece of work starts from: given ones, and those of the job it follows.

use atelier_contract::FaultKind;
use atelier_contract::brief::{Direction, Task};
use atelier_media::{Encoding, Format, Limits, Mask, Picture, decode, encode, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::backend::{Class, Fault, Work, WorkOutput};
use crate::fit::Size;
use crate::images::on_threads;

/// Where the size of a following picture is not given.
const USUAL_SIDE: u32 = 1024;

/// The picture of the job that is followed: the one at a place of its grid, or the whole.
pub(crate) async fn parent_picture(work: &Work, index: Option<u8>) -> Result<Picture, Fault> {
    let parent = work.parent.as_ref();
    let file = parent.and_then(|parent| parent.file(0));
    let file = file.ok_or_else(|| Fault::ours("the followed job has no picture"))?;
    let bytes = (work.read)(file.key.clone()).await?;
    let whole = on_threads(std::slice::from_ref(&bytes.clone()), move || {
        decode(&bytes, Limits::default())
            .map_err(|error| Fault::ours(format!("the followed picture: {error}")))
    });
    let whole = whole.await?;
    Ok(match index {
        Some(index) => whole.quarter(u32::from(index)),
        None => whole,
    })
}

/// What the vendor that made the followed job kept for those who follow.
pub(crate) fn parent_notes(work: &Work) -> Value {
    let output = work.parent.as_ref().and_then(|parent| parent.output());
    output.map_or(Value::Null, |output| output.notes.value())
}

/// The input picture at a place, decoded.
pub(crate) async fn source(work: &Work, index: usize) -> Result<Picture, Fault> {
    let field = work.brief.sources.get(index);
    let field = field.map_or_else(|| "image".to_owned(), |source| source.field.clone());
    let bytes = work.sources.get(index).cloned();
    let bytes = bytes.ok_or_else(|| Fault::ours(format!("source {index} is missing")))?;
    decoded(bytes, field).await
}

/// The picture in the mask's file.
pub(crate) async fn mask(work: &Work) -> Result<Option<Picture>, Fault> {
    match work.mask.clone() {
        Some(bytes) => decoded(bytes, "mask".to_owned()).await.map(Some),
        None => Ok(None),
    }
}

// Boxed, like the one below: they are compiled once and not for every vendor.
pub(crate) fn decoded(bytes: Bytes, field: String) -> BoxFuture<'static, Result<Picture, Fault>> {
    Box::pin(async move {
        on_threads(std::slice::from_ref(&bytes.clone()), move || {
            decode(&bytes, Limits::default())
                .map_err(|error| Fault::bad_link(&field, error.to_string()))
        })
        .await
    })
}

/// The input picture at a place as it is sent on: as it came where every vendor reads its format, else as a PNG.
pub(crate) async fn input_bytes(work: &Work, index: usize) -> Result<Bytes, Fault> {
    match work.sources.get(index) {
        Some(bytes) if header(bytes).is_ok_and(|header| header.format != Format::Gif) => {
            Ok(bytes.clone())
        }
        _ => png(source(work, index).await?).await,
    }
}

/// A picture of no more bytes: as it is, or smaller and as a JPEG.
pub(crate) async fn shrink_to_bytes(bytes: Bytes, most: usize) -> Result<Bytes, Fault> {
    const SIDES: [u32; 4] = [4096, 2048, 1536, 1024];
    if bytes.len() <= most {
        return Ok(bytes);
    }
    let picture = decoded(bytes, "image".to_owned()).await?;
    on_threads(&[], move || {
        let own = picture.width.max(picture.height).max(1);
        let tries = SIDES.map(|side| {
            let scale = f64::from(side.min(own)) / f64::from(own);
            let length = |side: u32| ((f64::from(side) * scale) as u32).max(1);
            (length(picture.width), length(picture.height))
        });
        let ground = picture.on([255; 3]);
        let smaller = tries.into_iter().map(|(width, height)| {
            encode(
                &ground.resized(width, height),
                Encoding::Jpeg { quality: 90 },
                None,
            )
        });
        let fits = |bytes: &Vec<u8>| bytes.len() <= most;
        let found = smaller.into_iter().find(fits);
        found
            .map(Bytes::from)
            .ok_or_else(|| unsupported("image", "is too large for the back end"))
    })
    .await
}

/// A picture whose longer side is no longer, as the bytes of a JPEG of the best kind.
pub(crate) async fn shrink_to_side(picture: Picture, side: u32) -> Result<Bytes, Fault> {
    on_threads(&[], move || {
        let own = picture.width.max(picture.height).max(1);
        let scale = f64::from(side.min(own)) / f64::from(own);
        let length = |side: u32| ((f64::from(side) * scale).round() as u32).max(1);
        let (width, height) = (length(picture.width), length(picture.height));
        let smaller = picture.on([255; 3]).resized(width, height);
        Ok(encode(&smaller, Encoding::Jpeg { quality: 95 }, None).into())
    })
    .await
}

/// The media type of a picture that is sent on.
pub(crate) fn media_type(bytes: &[u8]) -> &'static str {
    header(bytes).map_or("image/png", |header| header.format.media_type())
}

/// A picture as an address that holds it.
pub(crate) fn data_uri(bytes: &[u8]) -> String {
    format!(
        "data:{};base64,{}",
        media_type(bytes),
        STANDARD.encode(bytes)
    )
}

/// A picture as the bytes of a PNG.
pub(crate) fn png(picture: Picture) -> BoxFuture<'static, Result<Bytes, Fault>> {
    Box::pin(on_threads(&[], move || {
        Ok(encode(&picture, Encoding::Png, None).into())
    }))
}

/// A mask as a drawing: white where the work is to happen.
pub(crate) fn white(mask: &Mask) -> Picture {
    Picture::drawn(mask.width, mask.height, |x, y| {
        let share = mask.share(x, y);
        [share, share, share, 255]
    })
}

/// A mask as the alpha of a drawing: transparent where the work is to happen.
pub(crate) fn transparent(mask: &Mask) -> Picture {
    Picture::drawn(mask.width, mask.height, |x, y| {
        [0, 0, 0, 255 - mask.share(x, y)]
    })
}

/// Where a picture lies in a larger canvas (left, top, width, height) when more of its world is wanted.
pub(crate) fn outpaint_area(task: Task, (width, height): Size, canvas: Size) -> Option<[u32; 4]> {
    let (across, down) = (canvas.0 as f32, canvas.1 as f32);
    let shape = width as f32 / height.max(1) as f32;
    let (left, top, inner_width, inner_height) = match task {
        Task::ZoomOut(tenths) => {
            let factor = (tenths as f32 / 10.0).max(1.0);
            let inner = (across / factor, down / factor);
            (
                (across - inner.0) / 2.0,
                (down - inner.1) / 2.0,
                inner.0,
                inner.1,
            )
        }
        Task::Pan(direction) => {
            let sideways = matches!(direction, Direction::Left | Direction::Right);
            let inner = if sideways {
                ((down * shape).min(across), down)
            } else {
                (across, (across / shape).min(down))
            };
            let (left, top) = match direction {
                Direction::Left => (across - inner.0, 0.0),
                Direction::Up => (0.0, down - inner.1),
                Direction::Right | Direction::Down => (0.0, 0.0),
            };
            (left, top, inner.0, inner.1)
        }
        Task::Square => {
            let longest = width.max(height).max(1) as f32;
            let inner = (
                across * width as f32 / longest,
                down * height as f32 / longest,
            );
            (
                (across - inner.0) / 2.0,
                (down - inner.1) / 2.0,
                inner.0,
                inner.1,
            )
        }
        _ => return None,
    };
    Some([left, top, inner_width, inner_height].map(|length| length.round() as u32))
}

/// The size of each result of a follow-up.
pub(crate) fn size_or_usual(work: &Work) -> Size {
    match (work.brief.width, work.brief.height) {
        (0, _) | (_, 0) => (USUAL_SIDE, USUAL_SIDE),
        given => given,
    }
}

/// The seed that the followed job was made with, for vendors whose notes tell it.
pub(crate) fn seed_of_parent(work: &Work) -> Result<WorkOutput, Fault> {
    let seed = parent_notes(work)["seed"].as_u64();
    let seed = seed.ok_or_else(|| Fault::unusable("jobId: this picture has no seed"))?;
    Ok(WorkOutput {
        seed: Some(seed.to_string()),
        made: 1,
        ..WorkOutput::default()
    })
}

/// The fault of a wish that this back end cannot fulfil.
pub(crate) fn unsupported(field: &str, what: &str) -> Fault {
    Fault {
        field: Some(field.to_owned()),
        ..Fault::new(Class::Unable, FaultKind::BadParameter, what)
    }
}
