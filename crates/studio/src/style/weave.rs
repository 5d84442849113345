//! Divides the sheet into strokes, facets or cells that stay where they are in the world.

use crate::paint::noise;

/// How the sheet is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Weave {
    /// Brush strokes of this length that follow a slow swirl.
    Strokes(f32),
    /// Triangles with sides of about this length.
    Facets(f32),
    /// Irregular cells of about this size.
    Cells(f32),
}

/// The part of the sheet a pixel belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cell {
    /// World place whose colour the part takes.
    pub x: f32,
    /// World place whose colour the part takes.
    pub y: f32,
    /// A number of its own in 0..1.
    pub tone: f32,
    /// How far from its border, 0 at the border to 1.
    pub inner: f32,
}

impl Weave {
    /// The same division, coarser or finer.
    pub(crate) fn scaled(self, by: f32) -> Self {
        match self {
            Self::Strokes(size) => Self::Strokes(size * by),
            Self::Facets(size) => Self::Facets(size * by),
            Self::Cells(size) => Self::Cells(size * by),
        }
    }

    /// The part a world place belongs to.
    pub(crate) fn at(self, x: f32, y: f32) -> Cell {
        match self {
            Self::Strokes(size) => stroke(x, y, size),
            Self::Facets(size) => facet(x, y, size),
            Self::Cells(size) => cell(x, y, size),
        }
    }
}

fn knot(ix: i32, iy: i32, seed: u32) -> (f32, f32) {
    (
        ix as f32 + 0.15 + 0.7 * noise::cell(ix, iy, seed),
        iy as f32 + 0.15 + 0.7 * noise::cell(ix, iy, seed ^ 0x55),
    )
}

fn cell(x: f32, y: f32, size: f32) -> Cell {
    let (u, v) = (x / size, y / size);
    let (ix, iy) = (u.floor() as i32, v.floor() as i32);
    let (mut near, mut next) = ((9.0_f32, (0.0, 0.0), (0, 0)), 9.0_f32);
    for dy in -1..=1 {
        for dx in -1..=1 {
            let at = knot(ix + dx, iy + dy, 71);
            let away = (at.0 - u).hypot(at.1 - v);
            if away < near.0 {
                next = near.0;
                near = (away, at, (ix + dx, iy + dy));
            } else if away < next {
                next = away;
            }
        }
    }
    let (home, (kx, ky)) = (near.1, near.2);
    Cell {
        x: home.0 * size,
        y: home.1 * size,
        tone: noise::cell(kx, ky, 5),
        inner: next - near.0,
    }
}

fn stroke(x: f32, y: f32, size: f32) -> Cell {
    let turn = noise::gradient(x * 1.7 / (size * 14.0), y * 1.7 / (size * 14.0), 33) * 2.6 + 0.35;
    let (sin, cos) = turn.sin_cos();
    let (mut best, mut found) = (-1.0_f32, Cell::default());
    let mut bristle = (0.0, 0.0);
    let step = size * 0.42;
    let (ix, iy) = ((x / step).floor() as i32, (y / step).floor() as i32);
    for dy in -1..=1 {
        for dx in -1..=1 {
            let at = knot(ix + dx, iy + dy, 17);
            let (ox, oy) = (x - at.0 * step, y - at.1 * step);
            let along = (ox * cos + oy * sin) / (size * 0.62);
            let across = (oy * cos - ox * sin) / (size * 0.26);
            let away = along * along + across * across;
            let rank = noise::cell(ix + dx, iy + dy, 29);
            if away < 1.0 && rank > best {
                best = rank;
                let tone = noise::cell(ix + dx, iy + dy, 43);
                found = Cell {
                    x: at.0 * step,
                    y: at.1 * step,
                    tone,
                    inner: 1.0 - away,
                };
                bristle = (across * 5.0 + rank * 90.0, along * 0.8);
            }
        }
    }
    if best < 0.0 {
        return Cell {
            x,
            y,
            tone: 0.5,
            inner: 0.5,
        };
    }
    // Bristles: fine ridges along the stroke.
    found.tone += (noise::value(bristle.0, bristle.1, 3) - 0.5) * 0.7;
    found
}

fn facet(x: f32, y: f32, size: f32) -> Cell {
    let (u, v) = (x / size, y / size);
    let (ix, iy) = (u.floor() as i32, v.floor() as i32);
    for dy in -1..=1 {
        for dx in -1..=1 {
            let (cx, cy) = (ix + dx, iy + dy);
            let corners = [(cx, cy), (cx + 1, cy), (cx + 1, cy + 1), (cx, cy + 1)];
            let [a, b, c, d] = corners.map(|(i, j)| knot(i, j, 61));
            for (half, tri) in [[a, b, c], [a, c, d]].into_iter().enumerate() {
                if inside(tri, u, v) {
                    let middle = (
                        (tri[0].0 + tri[1].0 + tri[2].0) / 3.0,
                        (tri[0].1 + tri[1].1 + tri[2].1) / 3.0,
                    );
                    let tone = noise::cell(cx, cy, 7 + half as u32);
                    return Cell {
                        x: middle.0 * size,
                        y: middle.1 * size,
                        tone,
                        inner: 1.0,
                    };
                }
            }
        }
    }
    Cell {
        x,
        y,
        tone: 0.5,
        inner: 1.0,
    }
}

fn inside(tri: [(f32, f32); 3], x: f32, y: f32) -> bool {
    let side = |a: (f32, f32), b: (f32, f32)| (b.0 - a.0) * (y - a.1) - (b.1 - a.1) * (x - a.0);
    let (s, t, r) = (
        side(tri[0], tri[1]),
        side(tri[1], tri[2]),
        side(tri[2], tri[0]),
    );
    (s >= 0.0 && t >= 0.0 && r >= 0.0) || (s <= 0.0 && t <= 0.0 && r <= 0.0)
}
