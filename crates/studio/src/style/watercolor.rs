//! Watercolour: washes with wandering, pigment-dark edges on grained paper.

use super::look::{Look, Spot, Style};
use crate::paint::canvas::{Canvas, Frame};
use crate::paint::colour::{Rgba, mix, saturate, scale, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Region, Role};

/// Pigment on wet paper.
pub(crate) struct Watercolor;

const PAPER: [f32; 3] = [0.975, 0.962, 0.93];

impl Style for Watercolor {
    fn look(&self) -> Look {
        Look {
            wobble: 0.007,
            edge: 0.0075,
            grained: true,
            ..Look::default()
        }
    }

    fn sheet(&self, _x: f32, _y: f32) -> [f32; 3] {
        PAPER
    }

    /// How far colours bleed, where they pool, and the grain that pigment settles in.
    fn paper(&self, x: f32, y: f32) -> [f32; 3] {
        [
            noise::fractal(x * 34.0, y * 34.0, 11, 3),
            noise::fractal(x * 5.0, y * 5.0, 23, 3),
            noise::value(x * 260.0, y * 260.0, 31) - 0.5,
        ]
    }

    fn pixel(&self, spot: &Spot, region: &Region) -> Rgba {
        let [bleed, pool, grain] = spot.paper;
        let soft = if region.role == Role::Subject {
            0.10
        } else {
            0.2
        };
        let cover = noise::smooth(0.5 - soft, 0.5 + soft, spot.edge + bleed * 0.11);
        if cover <= 0.0 {
            return [0.0; 4];
        }
        let [r, g, b, a] = (region.field)(spot.x, spot.y);
        // Pigment gathers where the wash dries last: along the edge.
        let rim = noise::smooth(0.92, 0.6, spot.edge) * noise::smooth(0.42, 0.55, spot.edge);
        let strength = match region.role {
            Role::Sky | Role::Cloud => 0.66,
            Role::Subject => 0.92,
            Role::Shadow => 0.6,
            _ => 0.78,
        };
        let load = (strength + pool * 0.28 + grain * 0.1).clamp(0.15, 1.0);
        let pigment = saturate([r, g, b], 1.18);
        let wash = mix(PAPER, pigment, load);
        let wash = scale(wash, 1.0 - rim * 0.24);
        let full = if region.role == Role::Subject {
            1.0
        } else {
            0.95
        };
        with_alpha(wash, a * cover * full)
    }

    fn finish(&self, canvas: &mut Canvas, frame: &Frame) {
        let frame = *frame;
        canvas.each(|x, y, pixel| {
            let (wx, wy) = frame.world(x as f32, y as f32);
            let tooth = noise::fractal(wx * 190.0, wy * 190.0, 5, 2) * 0.045;
            for channel in pixel.iter_mut().take(3) {
                *channel = *channel * 0.97 + 0.03 + tooth * (1.15 - *channel);
            }
        });
    }
}
