//! Noir: hard light, deep black, slats of a blind across the scene, film grain; a named colour may survive.

use super::look::{Look, Spot, Style};
use crate::paint::canvas::{Canvas, Frame};
use crate::paint::colour::{Rgba, luma, mix, saturate, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Region, Role};

/// Hard black and white.
pub(crate) struct Noir;

impl Style for Noir {
    fn look(&self) -> Look {
        Look {
            facets: 0.0015,
            ..Look::default()
        }
    }

    fn pixel(&self, spot: &Spot, region: &Region) -> Rgba {
        let [r, g, b, a] = (region.field)(spot.x, spot.y);
        let grey = luma([r, g, b]);
        // Dark scenes are lifted before the hard curve, so that both noon and midnight keep their shapes; a subject is
        // lifted further, as by a lamp of its own.
        let lift = if region.role == Role::Subject {
            0.48
        } else {
            0.62
        };
        let lifted = grey.max(0.0).powf(lift);
        let hard = noise::smooth(0.1, 0.98, lifted);
        let share = match region.role {
            Role::Subject | Role::Light => 1.0,
            Role::Sky | Role::Cloud => 0.66,
            _ => 0.8,
        };
        let tone = (0.04 + lifted * 0.28 + hard * 0.66) * share;
        let mut colour = [tone, tone, tone * 1.02];
        // Pure reds of a subject stay, as on the posters of the genre.
        if region.role == Role::Subject
            && spot.flat[0] > 0.42
            && spot.flat[0] > 2.1 * spot.flat[1].max(spot.flat[2])
        {
            colour = mix(colour, saturate([r, g, b], 1.6), 0.85);
        }
        with_alpha(colour, a * spot.cover)
    }

    fn finish(&self, canvas: &mut Canvas, frame: &Frame) {
        let frame = *frame;
        canvas.each(|x, y, pixel| {
            let (wx, wy) = frame.world(x as f32, y as f32);
            let slat = ((wy + wx * 0.32) / 0.085).rem_euclid(1.0);
            let beam = noise::smooth(0.5, 0.3, (wx + wy * 0.4 + 0.05).abs());
            let blind = 1.0 - 0.3 * beam * noise::smooth(0.44, 0.5, (slat - 0.5).abs() + 0.12);
            let corner = 1.0 - 0.6 * noise::smooth(0.4, 1.0, wx.hypot(wy));
            let grain = (noise::value(wx * 520.0, wy * 520.0, 6) - 0.5) * 0.10;
            for channel in pixel.iter_mut().take(3) {
                *channel =
                    (*channel * blind * corner.max(0.3) + grain * (0.3 + *channel)).clamp(0.0, 1.0);
            }
        });
    }
}
