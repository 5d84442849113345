//! Paper cut: one sheet of coloured paper per region, each throwing a shadow on the next.

use super::look::{Look, Spot, Style};
use crate::paint::canvas::{Canvas, Frame};
use crate::paint::colour::{Rgba, mix, saturate, scale, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Region, Role};

/// Layers of cut paper.
pub(crate) struct Paper;

impl Style for Paper {
    fn look(&self) -> Look {
        Look {
            facets: 0.003,
            drop: 0.009,
            cut: true,
            dull: true,
            ..Look::default()
        }
    }

    fn pixel(&self, spot: &Spot, region: &Region) -> Rgba {
        let [r, g, b, a] = (region.field)(spot.x, spot.y);
        let colour = match region.role {
            Role::Sky => sky(spot, region),
            Role::Light | Role::Weather | Role::Shadow => [r, g, b],
            Role::Subject => mix(spot.flat, [r, g, b], 0.25),
            _ => mix(spot.flat, [r, g, b], 0.12),
        };
        let alpha = match region.role {
            Role::Water => a * f32::from(a > 0.4),
            Role::Light | Role::Shadow | Role::Weather | Role::Cloud => a,
            _ => f32::from(a > 0.3),
        };
        with_alpha(saturate(colour, 1.15), alpha * spot.cover)
    }

    fn finish(&self, canvas: &mut Canvas, frame: &Frame) {
        let frame = *frame;
        canvas.each(|x, y, pixel| {
            let (wx, wy) = frame.world(x as f32, y as f32);
            let fibre = noise::fractal(wx * 150.0, wy * 150.0, 2, 2) * 0.035
                + noise::gradient(wx * 40.0, wy * 300.0, 7) * 0.012;
            let lit = scale([pixel[0], pixel[1], pixel[2]], 1.0 + fibre);
            pixel[..3].copy_from_slice(&lit);
        });
    }
}

/// The sky is a stack of sheets with wavy edges.
fn sky(spot: &Spot, region: &Region) -> [f32; 3] {
    let wave = 0.02 * noise::line(spot.x * 2.6, 4, 2);
    let step = 0.12;
    let row = ((spot.y + wave) / step).floor();
    let inside = (spot.y + wave) / step - row;
    let [r, g, b, _] = (region.field)(0.1, (row + 0.5) * step);
    // Each sheet lies over the one above it.
    let shade = 1.0 - 0.16 * noise::smooth(0.82, 1.0, inside);
    scale([r, g, b], shade)
}
