//! Paints the items of a scene onto a canvas in one style: outlines in parallel first, then strip by strip from the
//! front to the back, so that nothing hidden is worked out.

mod flat;
mod lattice;
mod mirror;
mod prepared_region;
mod strip;
mod strip_weave;
mod veil;

use std::borrow::Cow;

use rayon::prelude::*;
use tiny_skia::{Path, Stroke};

use crate::paint::canvas::{Canvas, Frame};
use crate::paint::cover::{Area, Cover};
use crate::paint::region::{Blend, Item, Region, Role};
use crate::paint::{noise, outline};
use crate::style::look::{Look, Style};
use flat::flat;
use mirror::reflect;
use prepared_region::{PreparedRegion, Shadow};
use strip::Strip;
use veil::Veil;

/// Rows of a strip; strips are shared among threads.
const STRIP: usize = 16;

/// Paints all items. The first `hidden` rows only serve as the source of mirrors.
pub(crate) fn paint(
    items: &[Item],
    style: &dyn Style,
    frame: &Frame,
    canvas: &mut Canvas,
    hidden: usize,
) {
    let dull = style.look().dull;
    let shown: Vec<&Item> = items
        .iter()
        .filter(|item| !(dull && matches!(item, Item::Mirror(_))))
        .collect();
    let mut parts = shown
        .split(|item| matches!(item, Item::Mirror(_)))
        .peekable();
    let mut mirrors = shown.iter().filter_map(|item| match item {
        Item::Mirror(mirror) => Some(mirror),
        Item::Fill(_) => None,
    });
    while let Some(part) = parts.next() {
        // Nothing mirrors what comes after the last mirror.
        let first = if parts.peek().is_some() { 0 } else { hidden };
        let regions: Vec<&Region> = part
            .iter()
            .filter_map(|item| match item {
                Item::Fill(region) => Some(region),
                Item::Mirror(_) => None,
            })
            .collect();
        paint_part(&regions, style, frame, first, canvas);
        if let Some(mirror) = mirrors.next() {
            reflect(mirror, frame, canvas);
        }
    }
}

/// Paints regions that no mirror parts, the last of which is in front.
fn paint_part(
    regions: &[&Region],
    style: &dyn Style,
    frame: &Frame,
    first: usize,
    canvas: &mut Canvas,
) {
    let look = style.look();
    let wide = canvas.width;
    let mut veils = vec![Veil::CLEAR; wide * (canvas.height - first)];
    let mut rest = regions;
    while !rest.is_empty() {
        let (later, now) = rest.split_at(rest.len() - batch(rest, frame));
        rest = later;
        let ready: Vec<PreparedRegion> = now
            .par_iter()
            .map(|region| prepare(region, style, look, frame))
            .collect();
        veils
            .par_chunks_mut(wide * STRIP)
            .enumerate()
            .for_each(|(index, veils)| {
                let mut strip = Strip::new(veils, wide, first + index * STRIP, style, frame);
                for one in ready.iter().rev() {
                    strip.lay(one);
                }
            });
    }
    veil::drop_over(canvas, first, &veils);
}

/// How many of the last regions can be prepared at once: not more than a bounded number of pixels.
fn batch(regions: &[&Region], frame: &Frame) -> usize {
    let most = 24.0 * 1024.0 * 1024.0;
    let mut pixels = 0.0;
    let mut take = 0;
    for region in regions.iter().rev() {
        let bounds = region.path.bounds();
        let (wide, high) = (bounds.width() * frame.scale, bounds.height() * frame.scale);
        pixels += wide.min(frame.width as f32) * high.min(frame.height as f32);
        take += 1;
        if pixels > most || take >= 256 {
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

fn prepare<'a>(
    region: &'a Region,
    style: &dyn Style,
    look: Look,
    frame: &Frame,
) -> PreparedRegion<'a> {
    let bent = handmade(region, look);
    let path = bent.as_ref().unwrap_or(&region.path);
    let transform = frame.transform(region.depth);
    let reach = look.edge * frame.scale;
    let margin = if look.edge > 0.0 {
        reach * 2.0 + 2.0
    } else {
        1.0
    };
    let area = Area {
        width: frame.width,
        height: frame.height,
        margin,
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
    let flat = flat(region);
    let sampled = cover
        .as_ref()
        .and_then(|cover| lattice::read_from_grid(region, cover, frame));
    PreparedRegion {
        region: sampled.map_or(Cow::Borrowed(region), Cow::Owned),
        cover,
        edge,
        line,
        shadow,
        flat,
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
        margin: 1.0,
    };
    Cover::of(&drawn, frame.transform(depth), area)
}

fn drop_shadow(path: &Path, look: Look, frame: &Frame, depth: f32) -> Option<Shadow> {
    let reach = (look.drop * frame.scale).max(1.0);
    let area = Area {
        width: frame.width,
        height: frame.height,
        margin: reach * 2.5,
    };
    let moved = frame.transform(depth).post_translate(reach * 0.6, reach);
    let cover = Cover::of(path, moved, area)?;
    let soft = cover.softened(reach * 0.7);
    Some(Shadow { cover, soft })
}
