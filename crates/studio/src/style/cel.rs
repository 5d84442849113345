//! Cel painting: a soft background in clear colours, flat figures in two tones with thin dark outlines.

use super::look::{Look, Spot, Style};
use crate::figure::drawing::SOFT;
use crate::paint::canvas::{Canvas, Frame};
use crate::paint::colour::{Rgba, luma, mix, saturate, scale, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Region, Role};

pub(crate) struct Cel;

impl Style for Cel {
    fn look(&self) -> Look {
        Look {
            line: 0.0026,
            ..Look::default()
        }
    }

    fn pixel(&self, spot: &Spot, region: &Region) -> Rgba {
        let [r, g, b, a] = spot.own(&region.field);
        let own = [r, g, b];
        let colour = match region.role {
            // Characters bring their own two tones.
            Role::Subject if region.depth <= SOFT => own,
            Role::Subject => {
                let shade = noise::smooth(-0.02, -0.05, luma(own) - luma(spot.flat));
                saturate(scale(spot.flat, 1.1 - 0.3 * shade), 1.2)
            }
            Role::Sky | Role::Water => saturate(own, 1.3),
            Role::Shadow | Role::Weather | Role::Light => own,
            _ => saturate(scale(own, 1.05), 1.22),
        };
        with_alpha(colour, a)
    }

    fn line(&self, x: f32, y: f32, region: &Region) -> Option<Rgba> {
        let soft = (region.depth - SOFT).abs() < 1e-4;
        if region.role != Role::Subject || soft {
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
