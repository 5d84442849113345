//! Thumbnails: a picture, or the first frame of a clip, made small.

use std::sync::Arc;

use atelier_contract::pages::files::ThumbSize;
use atelier_media::{Encoding, decode, encode, first_frame};
use bytes::Bytes;

use crate::backend::Fault;
use crate::images::{VENDOR_LIMITS, on_threads_of};

/// A thumbnail's longer side and its quality.
fn measures(size: ThumbSize) -> (u32, u8) {
    match size {
        ThumbSize::Small => (384, 72),
        ThumbSize::Medium => (1280, 80),
    }
}

/// A small WebP of somebody's file; a fault for what cannot be shown as a picture.
pub async fn thumbnail(
    whose: &Arc<str>,
    bytes: Bytes,
    media_type: &str,
    size: ThumbSize,
) -> Result<Bytes, Fault> {
    let (side, quality) = measures(size);
    let clip = media_type.starts_with("video/");
    let whole = bytes.clone();
    on_threads_of(whose, &[bytes], move || {
        let unreadable = |why: String| Fault::internal(format!("no thumbnail: {why}"));
        let picture = if clip {
            first_frame(&whole).map_err(|error| unreadable(error.to_string()))?
        } else {
            decode(&whole, VENDOR_LIMITS).map_err(|error| unreadable(error.to_string()))?
        };
        let quality = Some(quality);
        let small = encode(&picture.fitted(side), Encoding::Webp { quality }, None);
        Ok(Bytes::from(small))
    })
    .await
}

#[cfg(test)]
mod tests {
    use atelier_media::{Picture, header};

    use super::*;

    #[tokio::test]
    async fn a_picture_becomes_a_small_webp_and_other_bytes_a_fault() {
        let large = Picture::filled(1600, 900, [10, 120, 200, 255]);
        let png = Bytes::from(encode(&large, Encoding::Png, None));
        let whose = "somebody".into();
        for (size, sides, most) in [
            (ThumbSize::Small, (384, 216), 20_000),
            (ThumbSize::Medium, (1280, 720), 60_000),
        ] {
            let small = thumbnail(&whose, png.clone(), "image/png", size).await;
            let small = small.expect("a thumbnail");
            let header = header(&small).expect("a picture");
            assert_eq!((header.width, header.height), sides);
            assert!(small.len() < most, "{} bytes", small.len());
        }
        let words = Bytes::from_static(b"no picture at all");
        for media_type in ["image/png", "video/mp4"] {
            let none = thumbnail(&whose, words.clone(), media_type, ThumbSize::Small).await;
            assert!(none.is_err(), "{media_type}");
        }
    }
}
