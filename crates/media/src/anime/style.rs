//! Cel painting: a soft background, flat figures with thin dark outlines.

use crate::scene::{Canvas, Frame, Region, Rgba, Role, mix, noise, with_alpha};
use crate::style::{Look, Style};

/// Cel painting.
pub(crate) struct Cel;

impl Style for Cel {
    fn look(&self) -> Look {
        Look {
            line: 0.0026,
            ..Look::default()
        }
    }

    fn line(&self, x: f32, y: f32, region: &Region) -> Option<Rgba> {
        if region.role != Role::Subject || region.depth > 0.01 {
            return None;
        }
        // Lines take the colour of what they surround: softer than black.
        let [r, g, b, _] = (region.field)(x, y);
        Some(with_alpha(mix([0.13, 0.07, 0.1], [r, g, b], 0.22), 0.92))
    }

    fn finish(&self, canvas: &mut Canvas, frame: &Frame) {
        let frame = *frame;
        canvas.each(|x, y, pixel| {
            let (wx, wy) = frame.world(x as f32, y as f32);
            let bloom = noise::smooth(0.8, 0.0, (wx + 0.35).hypot(wy + 0.5)) * 0.10;
            for (channel, warm) in pixel.iter_mut().zip([1.0, 0.93, 0.82]) {
                *channel += bloom * warm * (1.0 - *channel);
            }
        });
    }
}
