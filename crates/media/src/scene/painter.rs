//! Paints the items of a scene onto a canvas in one style: outlines in parallel first, then row by row.

use rayon::prelude::*;
use tiny_skia::{Path, Stroke};

use super::canvas::{Canvas, Frame, lay};
use super::colour::Rgb;
use super::mask::{Area, Cover};
use super::noise;
use super::outline;
use super::region::{Blend, Item, Region, Role};
use crate::style::{Look, Spot, Style};

mod flat;
mod mirror;
mod woven;

use flat::flat;
use mirror::reflect;
use woven::Woven;

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
