//! The last work on an anime picture: how far it is carried out, and how soft or sharp it is.

use atelier_media::Picture;

use crate::grain::grained;

/// Steps after which a picture is carried out as usual.
pub(super) const USUAL_STEPS: u32 = 23;
/// The adherence at which a picture is neither softened nor sharpened.
pub(super) const USUAL_ADHERENCE: f32 = 5.0;

/// The picture as far as its steps carry it, softer or sharper with its adherence.
pub(super) fn finished(picture: Picture, steps: u32, adherence: f32, seed: u64) -> Picture {
    let steps = steps as f32;
    let usual = USUAL_STEPS as f32;
    let unfinished = (1.0 - steps / usual).max(0.0);
    let more = (steps / usual - 1.0).max(0.0) * 0.35;
    let adherence = (adherence - USUAL_ADHERENCE) / USUAL_ADHERENCE;
    // Below zero the picture goes towards its own blur, above it away from it.
    let crisp = more + adherence.clamp(-1.0, 1.0) * 0.8 - unfinished * 0.9;
    let mut out = if crisp.abs() > 0.01 {
        against_blur(&picture, crisp, adherence)
    } else {
        picture
    };
    if unfinished > 0.05 {
        out = grained(&out, unfinished * unfinished * 0.5, seed);
    }
    out
}

/// The picture mixed with its blur: towards it below zero, away from it above.
fn against_blur(picture: &Picture, crisp: f32, adherence: f32) -> Picture {
    let (width, height) = (picture.width, picture.height);
    let longest = width.max(height) as f32;
    // A brush of about this many pixels paints over lines when the picture is soft.
    let brush = if crisp < 0.0 {
        longest / 110.0
    } else {
        longest / 400.0
    }
    .max(1.6);
    let side = |length: u32| ((length as f32 / brush) as u32).max(1);
    let blurred = picture
        .resized(side(width), side(height))
        .resized(width, height);
    let (mut out, lively) = (picture.clone(), 1.0 + 0.18 * adherence.clamp(-1.0, 1.0));
    for (pixel, soft) in out.pixels_mut().iter_mut().zip(blurred.pixels()) {
        let own: [f32; 3] = std::array::from_fn(|c| {
            let value = f32::from(pixel[c]);
            value + (value - f32::from(soft[c])) * crisp
        });
        let grey = own[0] * 0.3 + own[1] * 0.59 + own[2] * 0.11;
        for (channel, value) in pixel.iter_mut().zip(own) {
            *channel = (grey + (value - grey) * lively).clamp(0.0, 255.0) as u8;
        }
    }
    out
}
