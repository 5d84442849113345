//! Blueprint: white construction lines on blue, a grid below, hatching where a part is cut.

use super::look::{Look, Spot, Style, is_airy};
use crate::paint::colour::{Rgba, hex, luma, mix, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Region, Role};

/// White lines on blue.
pub(crate) struct Blueprint;

const BLUE: [f32; 3] = hex(0x12448f);
const LINE: [f32; 3] = hex(0xe6f0ff);

/// World units over which a ruled line fades.
const SOFT: f32 = 0.001;

/// How far a number lies behind the whole one before it.
fn beyond_whole(v: f32) -> f32 {
    let cut = v - v as i32 as f32;
    if cut < 0.0 { cut + 1.0 } else { cut }
}

/// Blue paper with a fine and a coarse grid.
fn sheet(x: f32, y: f32) -> [f32; 3] {
    let fine = 0.02;
    let rule = |v: f32, gap: f32, wide: f32| {
        let at = beyond_whole(v / gap);
        noise::smooth(wide + SOFT / gap, wide * 0.4, at.min(1.0 - at))
    };
    let small = rule(x, fine, 0.03).max(rule(y, fine, 0.03)) * 0.10;
    let large = rule(x, 0.1, 0.008).max(rule(y, 0.1, 0.008)) * 0.22;
    let fade = noise::gradient(x * 2.0, y * 2.0, 3) * 0.05;
    mix(mix(BLUE, hex(0x0b2f6b), 0.4 + fade), LINE, small.max(large))
}

impl Style for Blueprint {
    fn look(&self) -> Look {
        Look {
            line: 0.0028,
            cut: true,
            dull: true,
            grained: true,
            ..Look::default()
        }
    }

    fn sheet(&self, x: f32, y: f32) -> [f32; 3] {
        sheet(x, y)
    }

    /// The sheet again: what covers something else shows the ruling, too.
    fn paper(&self, x: f32, y: f32) -> [f32; 3] {
        sheet(x, y)
    }

    fn pixel(&self, spot: &Spot, region: &Region) -> Rgba {
        if is_airy(region.role) {
            return [0.0; 4];
        }
        let [r, g, b, a] = (region.field)(spot.x, spot.y);
        let base = spot.paper;
        if region.role != Role::Subject {
            let solid = f32::from(a > 0.5 && region.role != Role::Water);
            return with_alpha(mix(base, LINE, 0.02), solid * spot.cover * 0.94);
        }
        let dark = 1.0 - luma(spot.flat) * 0.7 - luma([r, g, b]) * 0.3;
        let gap = 0.011;
        let at = beyond_whole((spot.x + spot.y) / gap);
        let hatch = noise::smooth(0.1 + spot.grain / gap, 0.04, (at - 0.5).abs())
            * noise::smooth(0.35, 0.6, dark);
        with_alpha(
            mix(mix(base, LINE, 0.07), LINE, hatch * 0.55),
            f32::from(a > 0.3) * spot.cover,
        )
    }

    fn line(&self, _x: f32, _y: f32, region: &Region) -> Option<Rgba> {
        let disc = region.role == Role::Light
            && region.path.bounds().width() < 0.25
            && region.path.bounds().height() > 0.05;
        let strength = match region.role {
            Role::Subject => 1.0,
            Role::Building | Role::Plant | Role::Far => 0.55,
            Role::Ground => 0.45,
            _ if disc => 0.5,
            Role::Cloud => 0.35,
            _ => return None,
        };
        Some(with_alpha(LINE, strength))
    }
}
