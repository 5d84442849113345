//! Flat poster: a handful of flat colours, no texture, shadows as shapes.

use super::look::{Look, Spot, Style};
use crate::paint::colour::{Rgba, from_hsl, luma, mix, saturate, to_hsl, with_alpha};
use crate::paint::region::{Region, Role};

pub(crate) struct Poster;

/// Rounds a colour to the few a printer would mix.
fn few(colour: [f32; 3]) -> [f32; 3] {
    let [h, s, l] = to_hsl(saturate(colour, 1.1));
    let hue = (h * 18.0).round() / 18.0;
    let sat = ((s * 4.0).round() / 4.0).clamp(0.0, 0.85);
    let light = (l * 7.0).round() / 7.0;
    mix(from_hsl([hue, sat, light]), [0.96, 0.9, 0.8], 0.12)
}

impl Style for Poster {
    fn look(&self) -> Look {
        Look {
            facets: 0.0016,
            cut: true,
            dull: true,
            ..Look::default()
        }
    }

    fn pixel(&self, spot: &Spot, region: &Region) -> Rgba {
        let [r, g, b, a] = (region.field)(spot.x, spot.y);
        let own = [r, g, b];
        let colour = match region.role {
            Role::Sky => {
                let row = (spot.y / 0.11).floor() * 0.11 + 0.05;
                let [r, g, b, _] = (region.field)(0.12, row);
                few([r, g, b])
            }
            Role::Subject => {
                let step = if luma(own) < luma(spot.flat) - 0.045 {
                    0.8
                } else {
                    1.0
                };
                few(spot.flat).map(|v| v * step)
            }
            Role::Far | Role::Ground => {
                let lit = luma(own) > luma(spot.flat) + 0.02;
                few(if lit {
                    mix(spot.flat, [1.0, 0.97, 0.9], 0.18)
                } else {
                    spot.flat
                })
            }
            _ => few(mix(spot.flat, own, 0.35)),
        };
        let alpha = match region.role {
            Role::Shadow => f32::from(a > 0.18) * 0.4,
            Role::Water => {
                if a > 0.95 {
                    1.0
                } else {
                    f32::from(a > 0.4) * 0.9
                }
            }
            Role::Light | Role::Weather => a,
            _ => f32::from(a > 0.4),
        };
        with_alpha(colour, alpha * spot.cover)
    }
}
