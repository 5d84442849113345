//! Oil: thick strokes that take one colour each and stand up from the canvas.

use super::look::{Look, Spot, Style};
use super::weave::Weave;
use crate::paint::canvas::{Canvas, Frame};
use crate::paint::colour::{Rgba, saturate, scale, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Region, Role};

pub(crate) struct Oil;

impl Style for Oil {
    fn look(&self) -> Look {
        Look {
            wobble: 0.004,
            ..Look::default()
        }
    }

    fn weave(&self) -> Option<[Weave; 2]> {
        Some([Weave::Strokes(0.042), Weave::Strokes(0.02)])
    }

    fn pixel(&self, spot: &Spot, region: &Region) -> Rgba {
        let cell = spot.cell;
        let share = match region.role {
            Role::Subject => 0.55,
            Role::Light | Role::Shadow | Role::Weather => 0.3,
            _ => 0.94,
        };
        let (x, y) = (
            spot.x + (cell.x - spot.x) * share,
            spot.y + (cell.y - spot.y) * share,
        );
        let [r, g, b, a] = (region.field)(x, y);
        let ridge = noise::smooth(0.0, 0.35, cell.inner) * noise::smooth(1.0, 0.5, cell.inner);
        let body = 0.84 + cell.tone * 0.26 + ridge * 0.1;
        with_alpha(saturate(scale([r, g, b], body), 1.2), a * spot.cover)
    }

    fn finish(&self, canvas: &mut Canvas, frame: &Frame) {
        let frame = *frame;
        canvas.each(|x, y, pixel| {
            let (wx, wy) = frame.world(x as f32, y as f32);
            let thread = ((wx * 900.0).sin() + (wy * 900.0).sin()) * 0.008;
            for channel in pixel.iter_mut().take(3) {
                let v = channel.clamp(0.0, 1.0);
                *channel = v + (v - 0.5) * v * (1.0 - v) * 0.6 + thread;
            }
        });
    }
}
