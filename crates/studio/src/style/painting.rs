//! The style when none is asked for: a soft digital painting with fine grain.

use super::look::Style;
use crate::paint::canvas::{Canvas, Frame};
use crate::paint::noise;

pub(crate) struct Painting;

impl Style for Painting {
    fn finish(&self, canvas: &mut Canvas, frame: &Frame) {
        let frame = *frame;
        canvas.each(|x, y, pixel| {
            let (wx, wy) = frame.world(x as f32, y as f32);
            let grain = noise::value(wx * 420.0, wy * 420.0, 91) - 0.5;
            for channel in pixel.iter_mut().take(3) {
                let v = channel.clamp(0.0, 1.0);
                // A gentle curve gives depth to the darks without losing the lights.
                let curved = v + (v - 0.5) * v * (1.0 - v) * 0.35;
                *channel = curved + grain * 0.014;
            }
        });
    }
}
