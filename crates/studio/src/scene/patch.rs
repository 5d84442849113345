//! Repainted regions: another scene of the same world shows through a soft-edged hole.

use atelier_media::Mask;

use super::Patch;
use super::window::Window;

/// Cells along each side of a stored region.
const SIDE: usize = 192;

/// A region unpacked for sampling.
pub(crate) struct Hole {
    window: Window,
    cells: Vec<bool>,
}

/// The box around the chosen cells: left, top, right, bottom in the world.
pub(crate) fn bounds(patch_window: Window, cells: &[bool]) -> Option<[f32; 4]> {
    let chosen = cells
        .iter()
        .enumerate()
        .filter(|(_, inside)| **inside)
        .map(|(at, _)| at);
    let (mut left, mut top, mut right, mut bottom) = (SIDE, SIDE, 0, 0);
    for at in chosen {
        let (x, y) = (at % SIDE, at / SIDE);
        (left, right) = (left.min(x), right.max(x + 1));
        (top, bottom) = (top.min(y), bottom.max(y + 1));
    }
    let across = |cell: usize| patch_window.left + patch_window.width * cell as f32 / SIDE as f32;
    let down = |cell: usize| patch_window.top + patch_window.height * cell as f32 / SIDE as f32;
    (right > left).then(|| [across(left), down(top), across(right), down(bottom)])
}

/// The cells that lie fully inside a mask, with all their neighbours, so that no pixel outside is ever touched.
pub(crate) fn cells(mask: &Mask) -> Vec<bool> {
    let full = |cx: usize, cy: usize| {
        let edge = |cell: usize, length: u32| cell * length as usize / SIDE;
        let (x0, y0) = (edge(cx, mask.width), edge(cy, mask.height));
        let x1 = edge(cx + 1, mask.width)
            .max(x0 + 1)
            .min(mask.width as usize);
        let y1 = edge(cy + 1, mask.height)
            .max(y0 + 1)
            .min(mask.height as usize);
        (y0..y1).all(|y| {
            mask.shares[y * mask.width as usize + x0..y * mask.width as usize + x1]
                .iter()
                .all(|share| *share >= 128)
        })
    };
    let inside: Vec<bool> = (0..SIDE * SIDE)
        .map(|at| full(at % SIDE, at / SIDE))
        .collect();
    let around = |at: usize| {
        let (x, y) = ((at % SIDE) as isize, (at / SIDE) as isize);
        (-1..=1).all(|dy| {
            (-1..=1).all(|dx| {
                let (nx, ny) = (x + dx, y + dy);
                let out = nx < 0 || ny < 0 || nx >= SIDE as isize || ny >= SIDE as isize;
                out || inside[ny as usize * SIDE + nx as usize]
            })
        })
    };
    (0..SIDE * SIDE).map(around).collect()
}

/// Packs cells into run lengths.
pub(crate) fn packed(cells: &[bool]) -> Vec<u16> {
    let (mut runs, mut now, mut length) = (Vec::new(), false, 0_u16);
    for cell in cells {
        if *cell != now {
            runs.push(length);
            (now, length) = (*cell, 0);
        }
        length += 1;
    }
    runs.push(length);
    runs
}

impl Hole {
    pub(crate) fn of(patch: &Patch) -> Self {
        let mut cells = Vec::with_capacity(SIDE * SIDE);
        for (index, run) in patch.runs.iter().enumerate() {
            let left = (SIDE * SIDE).saturating_sub(cells.len());
            cells.extend(std::iter::repeat_n(
                index % 2 == 1,
                usize::from(*run).min(left),
            ));
        }
        cells.resize(SIDE * SIDE, false);
        Self {
            window: patch.window,
            cells,
        }
    }

    /// How much of the other scene shows at a place of the world: 0 outside, softly up to 1 inside.
    pub(crate) fn share(&self, x: f32, y: f32) -> f32 {
        let u = (x - self.window.left) / self.window.width * SIDE as f32 - 0.5;
        let v = (y - self.window.top) / self.window.height * SIDE as f32 - 0.5;
        let (fx, fy) = (u.floor(), v.floor());
        let get = |dx: i32, dy: i32| {
            let (cx, cy) = (fx as i32 + dx, fy as i32 + dy);
            let side = SIDE as i32;
            let inside = (0..side).contains(&cx) && (0..side).contains(&cy);
            f32::from(u8::from(inside && self.cells[(cy * side + cx) as usize]))
        };
        let (s, t) = (u - fx, v - fy);
        let top = get(0, 0) * (1.0 - s) + get(1, 0) * s;
        let low = get(0, 1) * (1.0 - s) + get(1, 1) * s;
        top * (1.0 - t) + low * t
    }
}
