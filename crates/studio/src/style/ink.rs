//! Ink wash: a few tones of black in wet strokes on warm paper, a red seal in the corner.

use super::look::{Look, Spot, Style, is_airy};
use crate::paint::canvas::{Canvas, Frame};
use crate::paint::colour::{Rgba, luma, mix, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Region, Role};

pub(crate) struct Ink;

const PAPER: [f32; 3] = [0.957, 0.933, 0.88];
const BLACK: [f32; 3] = [0.09, 0.09, 0.11];

impl Style for Ink {
    fn look(&self) -> Look {
        Look {
            wobble: 0.006,
            edge: 0.006,
            line: 0.0042,
            grained: true,
            ..Look::default()
        }
    }

    fn sheet(&self, _x: f32, _y: f32) -> [f32; 3] {
        PAPER
    }

    /// Where it is wet, where a dry brush leaves gaps, and how far ink bleeds.
    fn paper(&self, x: f32, y: f32) -> [f32; 3] {
        [
            noise::fractal(x * 6.0, y * 6.0, 3, 3),
            noise::fractal(x * 24.0, y * 150.0, 8, 2),
            noise::fractal(x * 40.0, y * 40.0, 4, 2) * 0.12,
        ]
    }

    fn pixel(&self, spot: &Spot, region: &Region) -> Rgba {
        let [wet, dry, bleed] = spot.paper;
        let cover = noise::smooth(0.32, 0.66, spot.edge + bleed);
        if cover <= 0.0 {
            return [0.0; 4];
        }
        let [r, g, b, a] = (region.field)(spot.x, spot.y);
        let dark = 1.0 - luma([r, g, b]);
        let (low, high) = match region.role {
            Role::Sky | Role::Cloud => (0.0, 0.28),
            Role::Far => (0.08, 0.55),
            Role::Subject => (0.03, 1.0),
            Role::Light => (0.0, 0.1),
            _ => (0.04, 0.72),
        };
        let mut tone = low + (high - low) * noise::smooth(0.12, 0.95, dark + wet * 0.22);
        if region.role != Role::Subject {
            tone *= 0.8 + noise::smooth(-0.2, 0.5, dry) * 0.25;
        }
        // A trace of the own colour stays, as in tinted ink paintings.
        let tint = if region.role == Role::Subject {
            0.34
        } else {
            0.08
        };
        let ink = mix(
            mix(PAPER, BLACK, tone),
            [r, g, b],
            tint * (1.0 - (tone - 0.5).abs()),
        );
        with_alpha(ink, a * cover)
    }

    fn line(&self, x: f32, y: f32, region: &Region) -> Option<Rgba> {
        if is_airy(region.role) || matches!(region.role, Role::Water | Role::Plant | Role::Ground) {
            return None;
        }
        let press = noise::fractal(x * 13.0, y * 13.0, 6, 2);
        let alpha = if region.role == Role::Subject {
            0.9
        } else {
            0.55
        };
        Some(with_alpha(BLACK, alpha * noise::smooth(-0.35, 0.25, press)))
    }

    fn finish(&self, canvas: &mut Canvas, frame: &Frame) {
        let frame = *frame;
        canvas.each(|x, y, pixel| {
            let (wx, wy) = frame.world(x as f32, y as f32);
            let fibre = noise::fractal(wx * 90.0, wy * 240.0, 9, 2) * 0.02;
            for channel in pixel.iter_mut().take(3) {
                *channel += fibre;
            }
            stamp(wx, wy, pixel);
        });
    }
}

/// A red seal in a corner of the sheet.
fn stamp(x: f32, y: f32, pixel: &mut [f32; 4]) {
    let (u, v) = ((x - 0.37) / 0.034, (y + 0.35) / 0.034);
    if u.abs() > 1.0 || v.abs() > 1.0 {
        return;
    }
    let worn = noise::fractal(x * 160.0, y * 160.0, 2, 2) > -0.45;
    let carved = (u.abs() < 0.62 && v.abs() < 0.68)
        && ((u.abs() < 0.09)
            || (v.abs() < 0.09)
            || ((u.abs() - 0.42).abs() < 0.08 && v > -0.4)
            || ((v - 0.5).abs() < 0.08));
    if worn && !carved {
        let red = [0.72, 0.16, 0.13];
        for (channel, value) in pixel.iter_mut().zip(red) {
            *channel = *channel * 0.12 + value * 0.88;
        }
    }
}
