//! Enlarging foreign pictures so that edges stay crisp: a small network draws them anew at four times the size.

use std::sync::LazyLock;

use crate::net::{Layer, Weights};
use crate::{Limits, Picture};

/// How much the network enlarges.
const FACTOR: u32 = 4;
/// Most pixels the network looks at; larger pictures are shown to it smaller and get their own detail back after.
const LOOKED_AT: u32 = 384 * 384;
const CHANNELS: usize = 64;
const BODY: usize = 16;

static NETWORK: LazyLock<Vec<Layer>> = LazyLock::new(|| {
    let mut weights = Weights::new(include_bytes!("../data/upscale.bin"));
    let mut layers = Vec::with_capacity(BODY + 2);
    for index in 0..BODY + 2 {
        let inputs = if index == 0 { 3 } else { CHANNELS };
        let outputs = if index == BODY + 1 { 48 } else { CHANNELS };
        weights.skip(4);
        let kernel = weights.halves(inputs * outputs * 9);
        let bias = weights.floats(outputs);
        let slope = (index <= BODY).then(|| weights.floats(outputs));
        layers.push(Layer::new(inputs, &kernel, &bias, slope.as_deref()));
    }
    debug_assert!(
        weights.is_empty(),
        "the file holds this network and nothing else"
    );
    layers
});

/// Enlarges a picture by a factor (less where that would pass the limits), with crisp edges.
pub fn upscale(picture: &Picture, factor: u32, limits: Limits) -> Picture {
    let factor = f64::from(factor.max(1));
    let pixels = f64::from(picture.width) * f64::from(picture.height);
    let side = f64::from(picture.width.max(picture.height));
    let factor = factor
        .min((limits.max_pixels as f64 / pixels).sqrt())
        .min(f64::from(limits.max_side) / side)
        .max(1.0);
    let width = (f64::from(picture.width) * factor).round() as u32;
    let height = (f64::from(picture.height) * factor).round() as u32;
    let shrink = (f64::from(LOOKED_AT) / pixels).sqrt().min(1.0);
    let looked_at = picture.resized(
        (f64::from(picture.width) * shrink) as u32,
        (f64::from(picture.height) * shrink) as u32,
    );
    let mut out = drawn_anew(&looked_at).resized(width, height);
    if shrink < 1.0 {
        give_back_detail(&mut out, picture, &looked_at);
    }
    if picture.has_alpha() {
        let alpha = picture.resized(width, height);
        for (pixel, old) in out.pixels_mut().iter_mut().zip(alpha.pixels()) {
            pixel[3] = old[3];
        }
    }
    out
}

/// What the network makes of a picture.
fn drawn_anew(picture: &Picture) -> Picture {
    let (width, height) = (picture.width as usize, picture.height as usize);
    let input: Vec<f32> = picture
        .pixels()
        .iter()
        .flat_map(|&[r, g, b, _]| [r, g, b].map(|channel| f32::from(channel) / 255.0))
        .collect();
    let mut map = input.clone();
    for layer in NETWORK.iter() {
        map = layer.run(&map, width, height);
    }
    // The network gives differences to the plain enlargement: 16 small pixels for each, a channel after the other.
    Picture::drawn(picture.width * FACTOR, picture.height * FACTOR, |x, y| {
        let at = (y / FACTOR) as usize * width + (x / FACTOR) as usize;
        let part = ((y % FACTOR) * FACTOR + x % FACTOR) as usize;
        let channel = |c: usize| {
            let value = map[at * 48 + c * 16 + part] + input[at * 3 + c];
            (value * 255.0 + 0.5).clamp(0.0, 255.0) as u8
        };
        [channel(0), channel(1), channel(2), 255]
    })
}

/// Adds what the network could not see because the picture was shown to it smaller.
fn give_back_detail(out: &mut Picture, picture: &Picture, looked_at: &Picture) {
    let seen = looked_at.resized(picture.width, picture.height);
    let mut unseen = picture.clone();
    for (pixel, seen) in unseen.pixels_mut().iter_mut().zip(seen.pixels()) {
        for (channel, seen) in pixel.iter_mut().zip(seen).take(3) {
            *channel = (128 + i16::from(*channel) - i16::from(*seen)).clamp(0, 255) as u8;
        }
        pixel[3] = 255;
    }
    let unseen = unseen.resized(out.width, out.height);
    for (pixel, detail) in out.pixels_mut().iter_mut().zip(unseen.pixels()) {
        for (channel, detail) in pixel.iter_mut().zip(detail).take(3) {
            *channel = (i16::from(*channel) + i16::from(*detail) - 128).clamp(0, 255) as u8;
        }
    }
}
