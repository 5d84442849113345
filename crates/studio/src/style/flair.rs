//! How strongly a style shows: its outlines, strokes and colours, less or more than usual.

use super::look::{Look, Spot, Style};
use super::weave::Weave;
use crate::paint::canvas::{Canvas, Frame};
use crate::paint::colour::{Rgba, saturate};
use crate::paint::noise;
use crate::paint::region::Region;

/// A style with less or more of what makes it.
pub(crate) struct Flair {
    style: Box<dyn Style>,
    amount: f32,
}

impl Flair {
    /// A style, `amount` times as strong.
    pub(crate) fn new(style: Box<dyn Style>, amount: f32) -> Self {
        Self {
            style,
            amount: amount.clamp(0.0, 2.0),
        }
    }

    fn is_usual(&self) -> bool {
        (self.amount - 1.0).abs() < 1e-3
    }
}

impl Style for Flair {
    fn look(&self) -> Look {
        let look = self.style.look();
        let part = 0.5 + 0.5 * self.amount;
        Look {
            wobble: look.wobble * self.amount,
            facets: look.facets * self.amount,
            edge: look.edge * part,
            line: look.line * part,
            drop: look.drop * self.amount,
            ..look
        }
    }

    fn weave(&self) -> Option<[Weave; 2]> {
        let part = 0.45 + 0.55 * self.amount;
        self.style
            .weave()
            .map(|kinds| kinds.map(|kind| kind.scaled(part)))
    }

    fn sheet(&self, x: f32, y: f32) -> [f32; 3] {
        self.style.sheet(x, y)
    }

    fn paper(&self, x: f32, y: f32) -> [f32; 3] {
        self.style.paper(x, y)
    }

    fn pixel(&self, spot: &Spot, region: &Region) -> Rgba {
        self.style.pixel(spot, region)
    }

    fn line(&self, x: f32, y: f32, region: &Region) -> Option<Rgba> {
        self.style.line(x, y, region)
    }

    fn finish(&self, canvas: &mut Canvas, frame: &Frame) {
        self.style.finish(canvas, frame);
        if self.is_usual() {
            return;
        }
        let (frame, more) = (*frame, self.amount - 1.0);
        canvas.each(|x, y, pixel| {
            let (wx, wy) = frame.world(x as f32, y as f32);
            let corner = 1.0 - 0.3 * more.max(0.0) * noise::smooth(0.35, 0.95, wx.hypot(wy));
            let strong = saturate([pixel[0], pixel[1], pixel[2]], 1.0 + 0.45 * more);
            for (channel, value) in pixel.iter_mut().zip(strong) {
                *channel = (0.5 + (value - 0.5) * (1.0 + 0.22 * more)) * corner;
            }
        });
    }
}
