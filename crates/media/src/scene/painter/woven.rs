//! The strokes, facets and cells of a style, for the pixels of one strip of a frame.

use crate::scene::region::Role;
use crate::style::{Cell, Style, Weave};

/// The weave of a style over a strip; each pixel's part is worked out when it is first asked for.
pub(super) struct Woven {
    kinds: Option<[Weave; 2]>,
    wide: usize,
    cells: [Vec<Option<Cell>>; 2],
}

impl Woven {
    /// A strip of so many pixels across and down.
    pub(super) fn new(style: &dyn Style, wide: usize, high: usize) -> Self {
        let kinds = style.weave();
        let count = if kinds.is_some() { wide * high } else { 0 };
        Self {
            kinds,
            wide,
            cells: [vec![None; count], vec![None; count]],
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
}
