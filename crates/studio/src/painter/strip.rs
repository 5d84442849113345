//! A strip of the picture while regions are laid behind each other into it.

use super::prepared_region::{PreparedRegion, Shadow};
use super::strip_weave::StripWeave;
use super::veil::Veil;
use crate::paint::canvas::Frame;
use crate::paint::cover::Cover;
use crate::paint::region::Blend;
use crate::style::look::{Spot, Style};

/// How dark a cut shape's shadow is.
const DROPPED: f32 = 0.42;

/// Some rows of the picture.
pub(super) struct Strip<'a> {
    veils: &'a mut [Veil],
    wide: usize,
    first: usize,
    style: &'a dyn Style,
    frame: &'a Frame,
    weave: StripWeave,
}

impl<'a> Strip<'a> {
    /// The rows from `first` on.
    pub(super) fn new(
        veils: &'a mut [Veil],
        wide: usize,
        first: usize,
        style: &'a dyn Style,
        frame: &'a Frame,
    ) -> Self {
        let weave = StripWeave::new(style, wide, veils.len() / wide);
        Self {
            veils,
            wide,
            first,
            style,
            frame,
            weave,
        }
    }

    /// Lays a region behind what was laid before: its outline is in front of it and its shadow behind.
    pub(super) fn lay(&mut self, one: &PreparedRegion) {
        if let Some(line) = &one.line {
            self.line(one, line);
        }
        if let Some(cover) = &one.cover {
            self.fill(one, cover);
        }
        if let Some(shadow) = &one.shadow {
            self.shadow(shadow);
        }
    }

    fn line(&mut self, one: &PreparedRegion, line: &Cover) {
        let (region, style, frame) = (one.region.as_ref(), self.style, self.frame);
        let (dx, dy) = frame.shift(region.depth);
        self.visit(line, |_, (x, y), at, veil| {
            let inside = line.inside[at];
            if inside == 0 {
                return;
            }
            let (wx, wy) = frame.world(x as f32, y as f32);
            if let Some([r, g, b, a]) = style.line(wx - dx, wy - dy, region) {
                veil.lay([r, g, b, a * f32::from(inside) / 255.0], Blend::Cover);
            }
        });
    }

    fn fill(&mut self, one: &PreparedRegion, cover: &Cover) {
        let (region, style, frame) = (one.region.as_ref(), self.style, self.frame);
        let (dx, dy) = frame.shift(region.depth);
        let grain = 1.0 / frame.scale;
        let first = self.first;
        self.visit(cover, |weave, (x, y), at, veil| {
            let inside = cover.inside[at];
            let edge = one.edge.as_ref().map_or(inside, |edge| edge[at]);
            if inside == 0 && edge == 0 {
                return;
            }
            let (wx, wy) = frame.world(x as f32, y as f32);
            let mut cell = weave.at(region.role, (x, y - first), (wx, wy));
            (cell.x, cell.y) = (cell.x - dx, cell.y - dy);
            let spot = Spot {
                x: wx - dx,
                y: wy - dy,
                cover: f32::from(inside) / 255.0,
                edge: f32::from(edge) / 255.0,
                grain,
                cell,
                flat: one.flat,
                paper: weave.paper(style, (x, y - first), (wx, wy)),
            };
            veil.lay(style.pixel(&spot, region), region.blend);
        });
    }

    fn shadow(&mut self, shadow: &Shadow) {
        self.visit(&shadow.cover, |_, _, at, veil| {
            let alpha = f32::from(shadow.soft[at]) / 255.0 * DROPPED;
            veil.lay([0.05, 0.05, 0.12, alpha], Blend::Darken);
        });
    }

    /// Visits the pixels of the strip under a cover behind which something still shows.
    fn visit(
        &mut self,
        cover: &Cover,
        mut visit: impl FnMut(&mut StripWeave, (usize, usize), usize, &mut Veil),
    ) {
        let last = self.first + self.veils.len() / self.wide;
        let rows = cover.y.max(self.first)..(cover.y + cover.height).min(last);
        for y in rows {
            let start = (y - self.first) * self.wide + cover.x;
            let line = &mut self.veils[start..start + cover.width];
            let row = (y - cover.y) * cover.width;
            for (column, veil) in line.iter_mut().enumerate() {
                if !veil.hides() {
                    visit(&mut self.weave, (cover.x + column, y), row + column, veil);
                }
            }
        }
    }
}
