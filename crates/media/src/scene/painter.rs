//! Paints the items of a scene onto a canvas in one style: outlines in parallel first, then row by row.

use rayon::prelude::*;
use tiny_skia::{Path, Stroke};

use super::canvas::{Canvas, Frame, lay};
use super::colour::Rgb;
use super::mask::{Area, Cover};
use super::noise;
use super::outline;
use super::region::{Blend, Item, Mirror, Region, Role};
use crate::style::{Cell, Look, Spot, Style, Weave};

/// One region ready to be laid.
struct Prepared<'a> {
    region: &'a Region,
    cover: Option<Cover>,
    edge: Option<Vec<u8>>,
    line: Option<Cover>,
    shadow: Option<Shadow>,
    flat: Rgb,
}

/// The soft shadow a cut shape throws on the layers below.
struct Shadow {
    cover: Cover,
    soft: Vec<u8>,
}

/// Paints all items.
pub(crate) fn paint(items: &[Item], style: &dyn Style, frame: &Frame, canvas: &mut Canvas) {
    let look = style.look();
    let weave = Woven::new(style, frame);
    let mut rest = items;
    while !rest.is_empty() {
        let take = batch(rest, frame);
        let (now, later) = rest.split_at(take);
        rest = later;
        if let [Item::Mirror(mirror)] = now {
            if !look.dull {
                reflect(mirror, frame, canvas);
            }
            continue;
        }
        let ready: Vec<Prepared> = now
            .par_iter()
            .filter_map(|item| match item {
                Item::Fill(region) => Some(prepare(region, style, look, frame)),
                Item::Mirror(_) => None,
            })
            .collect();
        for one in &ready {
            lay_region(one, style, (frame, &weave), canvas);
        }
    }
}

/// How many items can be prepared at once: up to the next mirror, and not more than a bounded number of pixels.
fn batch(items: &[Item], frame: &Frame) -> usize {
    if matches!(items[0], Item::Mirror(_)) {
        return 1;
    }
    let most = 24.0 * 1024.0 * 1024.0;
    let mut pixels = 0.0;
    let mut take = 0;
    for item in items {
        let Item::Fill(region) = item else { break };
        let bounds = region.path.bounds();
        let (wide, high) = (bounds.width() * frame.scale, bounds.height() * frame.scale);
        pixels += wide.min(frame.width as f32) * high.min(frame.height as f32);
        take += 1;
        if pixels > most || take >= 64 {
            break;
        }
    }
    take.max(1)
}

fn handmade(region: &Region, look: Look) -> Option<Path> {
    if look.wobble <= 0.0 && look.facets <= 0.0 || region.role == Role::Weather {
        return None;
    }
    let mut runs = outline::runs(&region.path, 0.008);
    if look.facets > 0.0 {
        let small = region
            .path
            .bounds()
            .width()
            .min(region.path.bounds().height());
        let tolerance = look.facets.min(small * 0.08);
        runs = runs
            .iter()
            .map(|run| outline::angular(run, tolerance))
            .collect();
    }
    let wobble = look.wobble
        * if region.role == Role::Subject {
            0.6
        } else {
            1.0
        };
    outline::joined(&runs, |x, y| {
        let dx = noise::fractal(x * 22.0, y * 22.0, 301, 2) * wobble;
        let dy = noise::fractal(x * 22.0, y * 22.0, 302, 2) * wobble;
        (x + dx, y + dy)
    })
}

fn prepare<'a>(region: &'a Region, style: &dyn Style, look: Look, frame: &Frame) -> Prepared<'a> {
    let bent = handmade(region, look);
    let path = bent.as_ref().unwrap_or(&region.path);
    let transform = frame.transform(region.depth);
    let reach = look.edge * frame.scale;
    let room = if look.edge > 0.0 {
        reach * 2.0 + 2.0
    } else {
        1.0
    };
    let area = Area {
        width: frame.width,
        height: frame.height,
        room,
    };
    let cover = Cover::of(path, transform, area);
    let edge = cover
        .as_ref()
        .filter(|_| look.edge > 0.0)
        .map(|cover| cover.softened(reach));
    let middle = region.path.bounds();
    let (cx, cy) = (
        middle.x() + middle.width() * 0.5,
        middle.y() + middle.height() * 0.5,
    );
    let drawn = look.line > 0.0 && style.line(cx, cy, region).is_some();
    let line = drawn
        .then(|| outline_cover(path, look, frame, region.depth))
        .flatten();
    let thrown = look.drop > 0.0
        && region.blend == Blend::Cover
        && !matches!(region.role, Role::Sky | Role::Weather | Role::Shadow);
    let shadow = thrown
        .then(|| drop_shadow(path, look, frame, region.depth))
        .flatten();
    Prepared {
        region,
        cover,
        edge,
        line,
        shadow,
        flat: flat(region),
    }
}

fn outline_cover(path: &Path, look: Look, frame: &Frame, depth: f32) -> Option<Cover> {
    let stroke = Stroke {
        width: look.line,
        line_join: tiny_skia::LineJoin::Round,
        line_cap: tiny_skia::LineCap::Round,
        ..Stroke::default()
    };
    let drawn = path.stroke(&stroke, frame.scale)?;
    let area = Area {
        width: frame.width,
        height: frame.height,
        room: 1.0,
    };
    Cover::of(&drawn, frame.transform(depth), area)
}

fn drop_shadow(path: &Path, look: Look, frame: &Frame, depth: f32) -> Option<Shadow> {
    let reach = (look.drop * frame.scale).max(1.0);
    let area = Area {
        width: frame.width,
        height: frame.height,
        room: reach * 2.5,
    };
    let moved = frame.transform(depth).post_translate(reach * 0.6, reach);
    let cover = Cover::of(path, moved, area)?;
    let soft = cover.softened(reach * 0.7);
    Some(Shadow { cover, soft })
}

/// One colour for a whole region: the mean of its field over the part of it that the first window can show.
fn flat(region: &Region) -> Rgb {
    let bounds = region.path.bounds();
    let (mut left, mut right) = (bounds.left().max(-0.5), bounds.right().min(0.5));
    let (mut top, mut bottom) = (bounds.top().max(-0.5), bounds.bottom().min(0.5));
    if left >= right || top >= bottom {
        (left, right, top, bottom) = (bounds.left(), bounds.right(), bounds.top(), bounds.bottom());
    } else if bounds.width() > 0.9 {
        // A long edge is judged by the part of it that every window shows.
        let near = region
            .path
            .points()
            .iter()
            .filter(|p| p.x.abs() <= 0.5)
            .map(|p| p.y);
        top = near.fold(bottom, f32::min).max(-0.5);
    }
    let mut sum = [0.0_f32; 4];
    for j in 0..4_u8 {
        for i in 0..5_u8 {
            let x = left + (right - left) * (f32::from(i) + 0.5) / 5.0;
            let y = top + (bottom - top) * (f32::from(j) + 0.4) / 5.0;
            let [r, g, b, a] = (region.field)(x, y);
            let weight = a + 0.001;
            sum = [
                sum[0] + r * weight,
                sum[1] + g * weight,
                sum[2] + b * weight,
                sum[3] + weight,
            ];
        }
    }
    [sum[0] / sum[3], sum[1] / sum[3], sum[2] / sum[3]]
}

/// The weave of a style over a frame, worked out once where memory allows.
struct Woven {
    kinds: Option<[Weave; 2]>,
    wide: usize,
    cells: [Vec<Cell>; 2],
}

impl Woven {
    /// Pixels up to which the weave is kept in memory.
    const KEPT: usize = 2 * 1024 * 1024;

    fn new(style: &dyn Style, frame: &Frame) -> Self {
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

    fn at(&self, role: Role, (x, y): (usize, usize), (wx, wy): (f32, f32)) -> Cell {
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

fn lay_region(
    one: &Prepared,
    style: &dyn Style,
    (frame, weave): (&Frame, &Woven),
    canvas: &mut Canvas,
) {
    let region = one.region;
    let (dx, dy) = frame.shift(region.depth);
    let grain = 1.0 / frame.scale;
    if let Some(shadow) = &one.shadow {
        rows(canvas, &shadow.cover, |_, _, at, pixel| {
            let alpha = f32::from(shadow.soft[at]) / 255.0 * 0.42;
            lay(pixel, [0.05, 0.05, 0.12, alpha], Blend::Darken);
        });
    }
    if let Some(cover) = &one.cover {
        rows(canvas, cover, |x, y, at, pixel| {
            let inside = cover.inside[at];
            let edge = one.edge.as_ref().map_or(inside, |edge| edge[at]);
            if inside == 0 && edge == 0 {
                return;
            }
            let (wx, wy) = frame.world(x as f32, y as f32);
            let mut cell = weave.at(region.role, (x, y), (wx, wy));
            (cell.x, cell.y) = (cell.x - dx, cell.y - dy);
            let spot = Spot {
                x: wx - dx,
                y: wy - dy,
                cover: f32::from(inside) / 255.0,
                edge: f32::from(edge) / 255.0,
                grain,
                cell,
                flat: one.flat,
            };
            lay(pixel, style.pixel(&spot, region), region.blend);
        });
    }
    if let Some(line) = &one.line {
        rows(canvas, line, |x, y, at, pixel| {
            if line.inside[at] == 0 {
                return;
            }
            let (wx, wy) = frame.world(x as f32, y as f32);
            if let Some([r, g, b, a]) = style.line(wx - dx, wy - dy, region) {
                lay(
                    pixel,
                    [r, g, b, a * f32::from(line.inside[at]) / 255.0],
                    Blend::Cover,
                );
            }
        });
    }
}

/// Visits the pixels under a cover; large covers are shared among threads.
fn rows(
    canvas: &mut Canvas,
    cover: &Cover,
    visit: impl Fn(usize, usize, usize, &mut [f32; 4]) + Sync,
) {
    let wide = canvas.width;
    let one = |(row, pixels): (usize, &mut [[f32; 4]])| {
        let y = cover.y + row;
        for (column, pixel) in pixels[cover.x..cover.x + cover.width]
            .iter_mut()
            .enumerate()
        {
            visit(cover.x + column, y, row * cover.width + column, pixel);
        }
    };
    let part = &mut canvas.pixels[cover.y * wide..(cover.y + cover.height) * wide];
    if cover.width * cover.height > 20_000 {
        part.par_chunks_mut(wide).enumerate().for_each(one);
    } else {
        part.chunks_mut(wide).enumerate().for_each(one);
    }
}

/// Mirrors the rows above the water line into the water, broken by waves that grow towards the viewer.
fn reflect(mirror: &Mirror, frame: &Frame, canvas: &mut Canvas) {
    let area = Area {
        width: frame.width,
        height: frame.height,
        room: 1.0,
    };
    let Some(cover) = Cover::of(&mirror.path, frame.transform(1.0), area) else {
        return;
    };
    let (wide, line) = (canvas.width, (mirror.line - frame.top) * frame.scale);
    let first = cover.y.max(line.ceil().max(0.0) as usize);
    let (above, below) = canvas.pixels.split_at_mut(first * wide);
    if above.is_empty() {
        return;
    }
    let last = above.len() / wide - 1;
    let phase = mirror.phase * std::f32::consts::TAU;
    let bottom = cover.y + cover.height;
    let rows = bottom.saturating_sub(first) * wide;
    below[..rows]
        .par_chunks_mut(wide)
        .enumerate()
        .for_each(|(row, pixels)| {
            let y = first + row;
            let source = (2.0 * line - y as f32 - 1.0)
                .round()
                .clamp(0.0, last as f32) as usize;
            for (x, pixel) in pixels[cover.x..cover.x + cover.width]
                .iter_mut()
                .enumerate()
            {
                let inside = cover.inside[(y - cover.y) * cover.width + x];
                if inside == 0 {
                    continue;
                }
                let (wx, wy) = frame.world((cover.x + x) as f32, y as f32);
                let near = (wy - mirror.line).max(0.0);
                let pitch = 70.0 / (0.25 + near * 3.0);
                let wave = (noise::gradient(wx * 9.0, wy * pitch + phase, 44)
                    + (wy * pitch * 2.1 + wx * 5.0 + phase).sin() * 0.35)
                    * (0.006 + near * 0.06);
                let from = (cover.x + x) as f32 + wave * frame.scale;
                let from = from.round().clamp(0.0, wide as f32 - 1.0) as usize;
                let seen = above[source * wide + from];
                let share =
                    mirror.strength * f32::from(inside) / 255.0 * (1.0 - near * 0.7).max(0.35);
                for channel in 0..3 {
                    pixel[channel] += (seen[channel] * 0.92 - pixel[channel]) * share;
                }
            }
        });
}
