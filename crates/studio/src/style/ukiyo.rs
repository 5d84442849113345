//! Woodblock print: few inks printed flat, shading only as a wiped gradient, dark key lines, grain of the block.

use std::sync::LazyLock;

use super::look::{Look, Spot, Style, is_airy};
use crate::paint::canvas::{Canvas, Frame};
use crate::paint::colour::{Rgba, hex, luma, mix, saturate, scale, to_hsl, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Region, Role};

pub(crate) struct Ukiyo;

const INKS: [[f32; 3]; 12] = [
    hex(0xf2e3c2),
    hex(0xe3c48d),
    hex(0xcf8d4a),
    hex(0xb5442f),
    hex(0x7a2d24),
    hex(0x8fa878),
    hex(0x4f6f52),
    hex(0xbcd0d2),
    hex(0x6f9ab0),
    hex(0x2f5d8a),
    hex(0x1d3557),
    hex(0x3a3a3c),
];
/// The same inks as hue, saturation and lightness.
static TONES: LazyLock<[[f32; 3]; 12]> = LazyLock::new(|| INKS.map(to_hsl));
const KEY: [f32; 3] = hex(0x1c2436);

/// The ink that is closest to a colour, hue first.
fn ink(colour: [f32; 3]) -> [f32; 3] {
    let [hue, sat, light] = to_hsl(colour);
    let mut best = (f32::MAX, INKS[0]);
    for (candidate, [h, s, l]) in INKS.into_iter().zip(*TONES) {
        let turn = (hue - h).abs().min(1.0 - (hue - h).abs());
        let away = turn * 2.6 * sat.min(s) + (sat - s).abs() * 0.35 + (light - l).abs() * 1.25;
        if away < best.0 {
            best = (away, candidate);
        }
    }
    best.1
}

impl Style for Ukiyo {
    fn look(&self) -> Look {
        Look {
            wobble: 0.0018,
            line: 0.0034,
            cut: true,
            dull: true,
            ..Look::default()
        }
    }

    fn sheet(&self, _x: f32, _y: f32) -> [f32; 3] {
        INKS[0]
    }

    fn pixel(&self, spot: &Spot, region: &Region) -> Rgba {
        let [r, g, b, a] = (region.field)(spot.x, spot.y);
        let colour = match region.role {
            Role::Sky => sky(spot, region),
            Role::Cloud => INKS[0],
            Role::Light => mix(INKS[3], [r, g, b], 0.3),
            Role::Water => return water(spot, a),
            Role::Subject => mix(ink(spot.flat), saturate(spot.flat, 0.9), 0.35),
            Role::Shadow | Role::Weather => {
                return with_alpha(mix(KEY, INKS[7], luma([r, g, b])), a * spot.cover * 0.6);
            }
            _ => {
                // The wiped gradient: darker ink towards the top edge of each block.
                let down = (spot.y * 1.3 + 0.35).clamp(0.0, 1.0);
                let own = if luma([r, g, b]) > luma(spot.flat) + 0.07 {
                    [r, g, b]
                } else {
                    spot.flat
                };
                mix(ink(scale(own, 0.85)), INKS[0], 0.08 + down * 0.22)
            }
        };
        with_alpha(
            colour,
            f32::from(a > 0.35).max(a * f32::from(region.role == Role::Light)) * spot.cover,
        )
    }

    fn line(&self, x: f32, y: f32, region: &Region) -> Option<Rgba> {
        let drawn =
            !is_airy(region.role) && region.role != Role::Water || region.role == Role::Cloud;
        drawn.then(|| with_alpha(KEY, 0.75 + 0.25 * noise::gradient(x * 30.0, y * 30.0, 4)))
    }

    fn finish(&self, canvas: &mut Canvas, frame: &Frame) {
        let frame = *frame;
        canvas.each(|x, y, pixel| {
            let (wx, wy) = frame.world(x as f32, y as f32);
            let block = noise::fractal(wx * 6.0, wy * 130.0, 12, 2) * 0.028;
            let paper = noise::value(wx * 330.0, wy * 330.0, 4) * 0.03 - 0.015;
            for channel in pixel.iter_mut().take(3) {
                *channel += block + paper;
            }
        });
    }
}

/// Prussian blue wiped out from the top, warm paper at the horizon.
fn sky(spot: &Spot, region: &Region) -> [f32; 3] {
    let [r, g, b, _] = (region.field)(spot.x, spot.y);
    let dark = luma([r, g, b]) < 0.32;
    let band = noise::smooth(
        -0.24,
        -0.52,
        spot.y + 0.01 * noise::line(spot.x * 3.0, 5, 2),
    );
    let base = if dark {
        mix(INKS[9], INKS[10], 0.4)
    } else {
        mix(INKS[0], ink([r, g, b]), 0.55)
    };
    mix(base, INKS[10], band * 0.85)
}

/// Rows of scalloped waves.
fn water(spot: &Spot, alpha: f32) -> Rgba {
    if alpha < 0.9 {
        return with_alpha(INKS[0], f32::from(alpha > 0.5) * spot.cover * 0.9);
    }
    let row = (spot.y * 38.0).floor();
    let (u, v) = (
        (spot.x * 17.0 + row * 0.5).rem_euclid(1.0) - 0.5,
        (spot.y * 38.0).fract(),
    );
    let far = u.hypot((v - 1.0) * 0.6);
    let ring = (far * 7.0).fract();
    let tone = mix(INKS[8], INKS[9], (spot.y + 0.1).clamp(0.0, 0.6) * 1.6);
    let line = f32::from(ring < 0.22 && far < 0.56);
    with_alpha(mix(tone, INKS[7], line * 0.8), spot.cover)
}
