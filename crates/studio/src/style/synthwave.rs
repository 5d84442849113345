//! Synthwave: night purple, neon edges, a striped sun and a grid that runs to the horizon.

use super::look::{Look, Spot, Style};
use crate::paint::canvas::{Canvas, Frame};
use crate::paint::colour::{Rgba, hex, luma, mix, ramp, saturate, scale, screen, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Region, Role};

pub(crate) struct Synthwave;

const RAMP: [[f32; 3]; 5] = [
    hex(0x0b0221),
    hex(0x2d0b59),
    hex(0x8a1a8f),
    hex(0xff5fb0),
    hex(0xffd27a),
];
const CYAN: [f32; 3] = hex(0x2de2ff);
const PINK: [f32; 3] = hex(0xff3fa4);

impl Style for Synthwave {
    fn look(&self) -> Look {
        Look {
            line: 0.0042,
            cut: true,
            ..Look::default()
        }
    }

    fn pixel(&self, spot: &Spot, region: &Region) -> Rgba {
        let [r, g, b, a] = (region.field)(spot.x, spot.y);
        let own = [r, g, b];
        let colour = match region.role {
            Role::Sky => ramp(&RAMP, luma(own) * 0.95),
            Role::Light => sun(spot, region),
            Role::Subject => mix(
                ramp(&RAMP, luma(own) * 0.9 + 0.05),
                saturate(own, 1.5),
                0.45,
            ),
            Role::Ground => grid(spot, luma(own)),
            _ => ramp(&RAMP, luma(own) * 0.6),
        };
        let alpha = match region.role {
            Role::Cloud => a * 0.55,
            Role::Light => a * stripes(spot, region),
            _ => a,
        };
        with_alpha(colour, alpha * spot.cover)
    }

    fn line(&self, _x: f32, _y: f32, region: &Region) -> Option<Rgba> {
        match region.role {
            Role::Subject => Some(with_alpha(CYAN, 0.75)),
            Role::Far | Role::Building => Some(with_alpha(PINK, 0.8)),
            Role::Plant if region.path.bounds().width() > 0.03 => {
                Some(with_alpha(hex(0x7df9c0), 0.45))
            }
            _ => None,
        }
    }

    fn finish(&self, canvas: &mut Canvas, frame: &Frame) {
        let frame = *frame;
        canvas.each(|x, y, pixel| {
            let (_, wy) = frame.world(x as f32, y as f32);
            let scan = 1.0 - 0.05 * (0.5 + 0.5 * (wy * 1100.0).sin());
            let lit = saturate(scale([pixel[0], pixel[1], pixel[2]], scan), 1.15);
            pixel[..3].copy_from_slice(&lit);
        });
    }
}

fn is_disc(region: &Region) -> bool {
    let bounds = region.path.bounds();
    (bounds.width() - bounds.height()).abs() < bounds.width() * 0.02
        && bounds.width() < 0.5
        && region.depth > 0.98
}

fn sun(spot: &Spot, region: &Region) -> [f32; 3] {
    if !is_disc(region) {
        return ramp(&RAMP, 0.85);
    }
    let bounds = region.path.bounds();
    mix(
        hex(0xffe66d),
        PINK,
        (spot.y - bounds.top()) / bounds.height(),
    )
}

fn stripes(spot: &Spot, region: &Region) -> f32 {
    if !is_disc(region) {
        return 1.0;
    }
    let bounds = region.path.bounds();
    let down = (spot.y - bounds.top()) / bounds.height();
    let gap = (down * 11.0).fract();
    f32::from(down < 0.45 || gap > (down - 0.4) * 0.9)
}

fn grid(spot: &Spot, light: f32) -> [f32; 3] {
    // The vanishing point sits a little above the ground that is seen.
    let near = (spot.y + 0.02).max(0.02);
    let across = (spot.x / near * 1.6).rem_euclid(1.0);
    let along = (1.0 / near * 0.62).rem_euclid(1.0);
    let wide = 0.045 + spot.grain / near * 1.5;
    let line = |v: f32| noise::smooth(wide, wide * 0.3, (v - 0.5).abs());
    let glow = line(across).max(line(along)) * noise::smooth(0.02, 0.12, near);
    screen(mix(hex(0x12042e), hex(0x2a0a52), light), scale(PINK, glow))
}
