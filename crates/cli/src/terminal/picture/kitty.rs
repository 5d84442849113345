//! The graphics protocol of kitty: a PNG in base64, in pieces.

use std::fmt::Write as _;

use atelier_media::{Encoding, Picture, encode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The protocol allows no longer pieces.
const PIECE: usize = 4096;

pub(super) fn drawn(picture: &Picture) -> String {
    let encoded = STANDARD.encode(encode(picture, Encoding::Png, None));
    let pieces: Vec<&[u8]> = encoded.as_bytes().chunks(PIECE).collect();
    let mut text = String::new();
    for (number, piece) in pieces.iter().enumerate() {
        let more = u8::from(number + 1 < pieces.len());
        let head = if number == 0 { "a=T,f=100,q=2," } else { "" };
        let piece = String::from_utf8_lossy(piece);
        let _ = write!(text, "\x1b_G{head}m={more};{piece}\x1b\\");
    }
    text.push('\n');
    text
}
