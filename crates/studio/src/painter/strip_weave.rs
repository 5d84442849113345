//! The strokes, facets and cells of a style and the grain of its sheet, for the pixels of one strip of a frame.

use crate::paint::region::Role;
use crate::style::look::Style;
use crate::style::weave::{Cell, Weave};

/// The weave of a style over a strip; each pixel's part is worked out when it is first asked for.
pub(super) struct StripWeave {
    kinds: Option<[Weave; 2]>,
    wide: usize,
    cells: [Vec<Option<Cell>>; 2],
    papers: Vec<Option<[f32; 3]>>,
}

impl StripWeave {
    /// A strip of so many pixels across and down.
    pub(super) fn new(style: &dyn Style, wide: usize, high: usize) -> Self {
        let kinds = style.weave();
        let count = |wanted: bool| if wanted { wide * high } else { 0 };
        let woven = count(kinds.is_some());
        Self {
            kinds,
            wide,
            cells: [vec![None; woven], vec![None; woven]],
            papers: vec![None; count(style.look().grained)],
        }
    }

    /// The part a pixel of the strip belongs to.
    pub(super) fn at(
        &mut self,
        role: Role,
        (x, row): (usize, usize),
        (wx, wy): (f32, f32),
    ) -> Cell {
        let Some(kinds) = self.kinds else {
            return Cell::default();
        };
        let which = usize::from(role == Role::Subject);
        *self.cells[which][row * self.wide + x].get_or_insert_with(|| kinds[which].at(wx, wy))
    }

    /// What the sheet is like at a pixel of the strip.
    pub(super) fn paper(
        &mut self,
        style: &dyn Style,
        (x, row): (usize, usize),
        (wx, wy): (f32, f32),
    ) -> [f32; 3] {
        match self.papers.get_mut(row * self.wide + x) {
            Some(known) => *known.get_or_insert_with(|| style.paper(wx, wy)),
            None => [0.0; 3],
        }
    }
}
