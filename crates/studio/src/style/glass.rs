//! Stained glass: pieces of one bright colour each, set in lead, light from behind.

use super::look::{Look, Spot, Style};
use super::weave::Weave;
use crate::paint::canvas::{Canvas, Frame};
use crate::paint::colour::{Rgba, mix, saturate, scale, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Region, Role};

/// Coloured glass in lead.
pub(crate) struct Glass;

const LEAD: [f32; 3] = [0.07, 0.07, 0.085];

impl Style for Glass {
    fn look(&self) -> Look {
        Look {
            facets: 0.003,
            line: 0.0085,
            cut: true,
            dull: true,
            ..Look::default()
        }
    }

    fn weave(&self) -> Option<[Weave; 2]> {
        Some([Weave::Cells(0.095), Weave::Cells(0.062)])
    }

    fn pixel(&self, spot: &Spot, region: &Region) -> Rgba {
        let [r, g, b, a] = (region.field)(spot.cell.x, spot.cell.y);
        if matches!(region.role, Role::Shadow | Role::Weather)
            || region.blend != crate::paint::region::Blend::Cover
        {
            return [0.0; 4];
        }
        let base = if region.role == Role::Subject {
            spot.flat
        } else {
            [r, g, b]
        };
        let streak =
            noise::fractal(spot.x * 9.0 + spot.cell.tone * 30.0, spot.y * 34.0, 4, 3) * 0.12;
        let glow = 0.92
            + 0.3 * noise::smooth(0.0, 0.5, spot.cell.inner)
            + (spot.cell.tone - 0.5) * 0.3
            + streak;
        let pane = saturate(scale(mix(base, [0.5, 0.5, 0.5], -0.12), glow), 1.55);
        let joint = noise::smooth(0.075, 0.045, spot.cell.inner);
        let joint = if region.role == Role::Light {
            0.0
        } else {
            joint
        };
        let solid = f32::from(a > 0.35);
        with_alpha(mix(pane, LEAD, joint), solid * spot.cover)
    }

    fn line(&self, _x: f32, _y: f32, region: &Region) -> Option<Rgba> {
        let small = region
            .path
            .bounds()
            .width()
            .max(region.path.bounds().height())
            < 0.02;
        let drawn = !matches!(region.role, Role::Sky | Role::Shadow | Role::Weather)
            && region.blend == crate::paint::region::Blend::Cover
            && !small;
        drawn.then_some(with_alpha(LEAD, 1.0))
    }

    fn finish(&self, canvas: &mut Canvas, frame: &Frame) {
        let frame = *frame;
        canvas.each(|x, y, pixel| {
            let (wx, wy) = frame.world(x as f32, y as f32);
            let light = 1.1 - 0.3 * noise::smooth(0.2, 1.0, wx.hypot(wy + 0.1));
            let bubble = noise::value(wx * 140.0, wy * 140.0, 9) * 0.05;
            for channel in pixel.iter_mut().take(3) {
                *channel = *channel * light + bubble * *channel;
            }
        });
    }
}
