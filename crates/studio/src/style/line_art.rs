//! Line art: pen lines of changing weight on white, darkness told by hatching.

use super::look::{Look, Spot, Style, is_airy};
use crate::paint::colour::{Rgba, luma, mix, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Region, Role};

pub(crate) struct LineArt;

const INK: [f32; 3] = [0.1, 0.11, 0.14];
const PAPER: [f32; 3] = [0.99, 0.988, 0.975];

impl Style for LineArt {
    fn look(&self) -> Look {
        Look {
            wobble: 0.0022,
            line: 0.0036,
            cut: true,
            dull: true,
            ..Look::default()
        }
    }

    fn sheet(&self, _x: f32, _y: f32) -> [f32; 3] {
        PAPER
    }

    fn pixel(&self, spot: &Spot, region: &Region) -> Rgba {
        let [r, g, b, a] = (region.field)(spot.x, spot.y);
        if matches!(region.role, Role::Sky | Role::Light | Role::Cloud) {
            return with_alpha(PAPER, a * spot.cover);
        }
        if region.role == Role::Weather {
            return with_alpha(INK, a * spot.cover * 0.8);
        }
        let own = luma([r, g, b]);
        let tone = if region.role == Role::Subject {
            luma(spot.flat) * 0.6 + own * 0.4
        } else {
            own
        };
        let shake = noise::gradient(spot.x * 20.0, spot.y * 20.0, 3) * 0.004;
        let hatch = |turn: f32, gap: f32| {
            let (sin, cos) = turn.sin_cos();
            let at = ((spot.x * cos + spot.y * sin + shake) / gap).rem_euclid(1.0);
            let wide = (0.16_f32).max(spot.grain / gap * 0.9);
            noise::smooth(wide, wide * 0.5, (at - 0.5).abs())
        };
        let mut ink = 0.0_f32;
        if tone < 0.52 {
            ink = ink.max(hatch(0.75, 0.0105) * noise::smooth(0.52, 0.38, tone));
        }
        if tone < 0.34 {
            ink = ink.max(hatch(2.3, 0.0105) * noise::smooth(0.34, 0.24, tone));
        }
        if tone < 0.17 {
            ink = ink.max(noise::smooth(0.17, 0.1, tone));
        }
        if region.role == Role::Shadow {
            return with_alpha(INK, hatch(0.1, 0.008) * a * spot.cover);
        }
        if region.role == Role::Water {
            return with_alpha(
                mix(PAPER, INK, f32::from(a < 0.9) * 0.8),
                if a < 0.9 {
                    f32::from(a > 0.45) * spot.cover
                } else {
                    spot.cover
                },
            );
        }
        with_alpha(mix(PAPER, INK, ink), f32::from(a > 0.3) * spot.cover)
    }

    fn line(&self, x: f32, y: f32, region: &Region) -> Option<Rgba> {
        let drawn =
            !is_airy(region.role) && region.role != Role::Water || region.role == Role::Cloud;
        drawn.then(|| {
            let press = 0.72 + 0.4 * noise::gradient(x * 9.0, y * 9.0, 5);
            with_alpha(INK, press.clamp(0.35, 1.0))
        })
    }
}
