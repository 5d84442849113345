//! Thumbnails: a picture, or the first frame of a clip, made small.

use std::sync::Arc;

use atelier_media::{Encoding, decode, encode, first_frame};
use bytes::Bytes;

use crate::backend::Fault;
use crate::images::{VENDOR_LIMITS, on_threads_of};

/// A thumbnail's longer side.
const SIDE: u32 = 384;
const QUALITY: u8 = 72;

/// A small WebP of somebody's file; a fault for what cannot be shown as a picture.
pub async fn thumbnail(whose: &Arc<str>, bytes: Bytes, media_type: &str) -> Result<Bytes, Fault> {
    let clip = media_type.starts_with("video/");
    let whole = bytes.clone();
    on_threads_of(whose, &[bytes], move || {
        let unreadable = |why: String| Fault::internal(format!("no thumbnail: {why}"));
        let picture = if clip {
            first_frame(&whole).map_err(|error| unreadable(error.to_string()))?
        } else {
            decode(&whole, VENDOR_LIMITS).map_err(|error| unreadable(error.to_string()))?
        };
        let quality = Some(QUALITY);
        let small = encode(&picture.fitted(SIDE), Encoding::Webp { quality }, None);
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
        let small = thumbnail(&whose, png, "image/png")
            .await
            .expect("a thumbnail");
        let header = header(&small).expect("a picture");
        assert_eq!((header.width, header.height), (384, 216));
        assert!(small.len() < 20_000, "{} bytes", small.len());
        let words = Bytes::from_static(b"no picture at all");
        assert!(thumbnail(&whose, words.clone(), "image/png").await.is_err());
        assert!(thumbnail(&whose, words, "video/mp4").await.is_err());
    }
}
