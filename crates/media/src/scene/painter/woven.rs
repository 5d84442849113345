//! The strokes, facets and cells of a style, for every pixel of a frame.

use rayon::prelude::*;

use crate::scene::canvas::Frame;
use crate::scene::region::Role;
use crate::style::{Cell, Style, Weave};

/// The weave of a style over a frame, worked out once where memory allows.
pub(super) struct Woven {
    kinds: Option<[Weave; 2]>,
    wide: usize,
    cells: [Vec<Cell>; 2],
}

impl Woven {
    /// Pixels up to which the weave is kept in memory.
    const KEPT: usize = 2 * 1024 * 1024;

    /// Works the weave out.
    pub(super) fn new(style: &dyn Style, frame: &Frame) -> Self {
        let (wide, count) = (
            frame.width as usize,
            frame.width as usize * frame.height as usize,
        );
        let kinds = style.weave();
        let cells = match kinds {
            Some(kinds) if count <= Self::KEPT => kinds.map(|kind| {
                let mut cells = vec![Cell::default(); count];
                cells.par_chunks_mut(wide).enumerate().for_each(|(y, row)| {
                    for (x, cell) in row.iter_mut().enumerate() {
                        let (wx, wy) = frame.world(x as f32, y as f32);
                        *cell = kind.at(wx, wy);
                    }
                });
                cells
            }),
            _ => [Vec::new(), Vec::new()],
        };
        Self { kinds, wide, cells }
    }

    /// The part a pixel belongs to.
    pub(super) fn at(&self, role: Role, (x, y): (usize, usize), (wx, wy): (f32, f32)) -> Cell {
        let Some(kinds) = self.kinds else {
            return Cell::default();
        };
        let which = usize::from(role == Role::Subject);
        match self.cells[which].get(y * self.wide + x) {
            Some(cell) => *cell,
            None => kinds[which].at(wx, wy),
        }
    }
}
