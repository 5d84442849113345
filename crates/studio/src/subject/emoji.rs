//! Pictures from the Twemoji set (graphics under CC-BY 4.0, see NOTICE), read as parts and drawn anew by us.

use super::art::{Art, Part};
use super::build::{Builder, blob, limb, oval};
use super::{twemoji, vector};
use crate::paint::colour::{Rgb, hex, luma, scale};

/// People that the set shows as heads and shoulders only.
const BUSTS: &str =
    "👮🕵💂👷🤴👸👳👲🧕🤵👰👼🎅🤶🦸🦹🧙🧛🧝🧟👱👴👵🧓🧑👨👩🧔🥷🫅🤱🤰🫄🫃👯🧖🤦🤷🙍🙎🙅🙆💁🙋🙇🧏";
/// The lower edge of the set's pictures.
const EDGE: f32 = 36.0;

/// The parts of an emoji's picture.
pub(crate) fn art(glyph: &str) -> Option<Art> {
    let parts = vector::parts(twemoji::svg(glyph)?);
    let person = glyph.chars().next().is_some_and(|c| BUSTS.contains(c));
    match shoulders(&parts).filter(|_| person) {
        Some((left, right, cloth)) => with_body(parts, left, right, cloth),
        None => Art::new(parts),
    }
}

/// Left and right end of what a picture's lower edge cuts off, and its colour.
fn shoulders(parts: &[Part]) -> Option<(f32, f32, Rgb)> {
    let cut = parts
        .iter()
        .filter(|part| part.path.bounds().bottom() > EDGE - 0.6);
    let widest = cut.max_by(|a, b| {
        let wide = |part: &Part| part.path.bounds().width();
        wide(a).total_cmp(&wide(b))
    })?;
    let bounds = widest.path.bounds();
    (bounds.width() > EDGE * 0.4).then(|| (bounds.left(), bounds.right(), widest.colour))
}

/// The rest of someone of whom only head and shoulders are drawn, so that they can stand.
fn with_body(bust: Vec<Part>, left: f32, right: f32, cloth: Rgb) -> Option<Art> {
    let (middle, half) = ((left + right) * 0.5, (right - left) * 0.5);
    let trousers = if luma(cloth) < 0.25 {
        hex(0x5b6068)
    } else {
        scale(cloth, 0.55)
    };
    let mut body = Builder::default();
    for side in [-1.0, 1.0] {
        let x = |share: f32| middle + side * half * share;
        body.main(
            limb(&[
                (x(0.78), EDGE, 3.4),
                (x(0.95), 43.0, 2.7),
                (x(0.9), 49.0, 2.3),
            ]),
            scale(cloth, 0.88),
        );
        body.fixed(oval(x(0.9), 51.0, 2.4, 2.4), hex(0xf2c06b));
        body.main(limb(&[(x(0.3), 51.0, 4.2), (x(0.32), 61.0, 3.4)]), trousers);
        body.fixed(oval(x(0.38), 64.4, 4.4, 2.2), hex(0x2e2a2c));
    }
    body.main(
        blob(&[
            (middle - half * 0.9, EDGE - 2.0),
            (middle, EDGE - 4.0),
            (middle + half * 0.9, EDGE - 2.0),
            (middle + half * 0.74, 46.0),
            (middle + half * 0.72, 55.0),
            (middle, 56.0),
            (middle - half * 0.72, 55.0),
            (middle - half * 0.74, 46.0),
        ]),
        cloth,
    );
    let mut parts = body.parts();
    parts.extend(bust);
    Art::new(parts)
}
