//! The inline images of iTerm, which other terminals know too.

use atelier_media::{Encoding, Picture, encode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

pub(super) fn drawn(picture: &Picture) -> String {
    let bytes = encode(picture, Encoding::Png, None);
    let (size, encoded) = (bytes.len(), STANDARD.encode(&bytes));
    format!("\x1b]1337;File=inline=1;size={size};preserveAspectRatio=1:{encoded}\x07\n")
}
