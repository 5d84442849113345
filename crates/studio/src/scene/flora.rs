//! Trees and grass: drawn one by one near the viewer, as one ragged edge far away.

use tiny_skia::PathBuilder;

use super::stage::{Stage, field};
use crate::paint::colour::{Rgb, mix, scale, with_alpha};
use crate::paint::foliage::{TreeSite, pine, tuft};
use crate::paint::noise;
use crate::paint::region::Role;

/// What kind of tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    /// Dark, pointed.
    Pine,
    /// Round crown.
    Leaf,
    /// Round crown in blossom.
    Blossom,
    /// Bare trunk with fronds.
    Palm,
    /// White trunk, light crown.
    Birch,
}

pub(crate) fn tree(stage: &mut Stage, kind: Tree, spot: TreeSite, colour: Rgb) {
    match kind {
        Tree::Pine => {
            let light = stage.light.clone();
            let side = light.side(spot.x);
            let colours = field(move |x, y| {
                let up = (spot.y - y) / spot.tall;
                let lean = (x - spot.x) / (spot.tall * 0.2);
                let comb = noise::gradient(
                    x * 46.0 / spot.tall.max(0.1),
                    y * 30.0 / spot.tall.max(0.1),
                    spot.seed,
                );
                let facing = 0.3 + lean * side * 0.4 + up * 0.3 + comb * 0.35;
                let base = if up < 0.09 {
                    mix(colour, [0.3, 0.2, 0.14], 0.8)
                } else {
                    colour
                };
                with_alpha(light.through(light.on(base, facing), spot.depth), 1.0)
            });
            stage.add(pine(spot), colours, Role::Plant, spot.depth);
        }
        Tree::Palm => palm(stage, spot, colour),
        Tree::Leaf | Tree::Blossom | Tree::Birch => crown(stage, kind, spot, colour),
    }
}

fn trunk(stage: &mut Stage, spot: TreeSite, colour: Rgb, lean: f32) {
    let TreeSite {
        x,
        y,
        tall,
        depth,
        seed,
    } = spot;
    let w = tall * 0.045;
    let top = y - tall * 0.62;
    let mut b = PathBuilder::new();
    b.move_to(x - w * 1.7, y + tall * 0.01);
    b.quad_to(x - w * 0.6, y - tall * 0.12, x + lean * 0.5 - w * 0.6, top);
    b.line_to(x + lean + w * 0.5, top);
    b.quad_to(x + w * 0.7, y - tall * 0.14, x + w * 1.8, y + tall * 0.01);
    b.close();
    let light = stage.light.clone();
    let side = light.side(x);
    let colours = field(move |px, py| {
        let bark = noise::fractal(px * 60.0 / tall, py * 12.0 / tall, seed, 2);
        let facing = 0.4 + (px - x) / w * side * 0.4 + bark * 0.25;
        with_alpha(
            light.through(light.on(scale(colour, 1.0 + bark * 0.2), facing), depth),
            1.0,
        )
    });
    stage.add(b.finish(), colours, Role::Plant, depth);
}

fn crown(stage: &mut Stage, kind: Tree, spot: TreeSite, colour: Rgb) {
    let TreeSite {
        x,
        y,
        tall,
        depth,
        seed,
    } = spot;
    let bark = if kind == Tree::Birch {
        [0.88, 0.87, 0.84]
    } else {
        [0.36, 0.26, 0.2]
    };
    trunk(
        stage,
        spot,
        bark,
        tall * 0.04 * (noise::cell(0, 0, seed) - 0.5),
    );
    let side = stage.light.side(x);
    for (layer, tone) in [(0, 0.2), (1, 0.55), (2, 0.95)] {
        // One outline per tone: a tree is three regions, not twenty.
        let mut builder = PathBuilder::new();
        let count = [7, 8, 7][layer as usize];
        for blob in 0..count {
            let turn = (blob as f32 + noise::cell(blob, layer, seed)) / count as f32
                * std::f32::consts::TAU;
            let reach = tall
                * 0.2
                * [1.0, 0.85, 0.62][layer as usize]
                * (0.5 + 0.5 * noise::cell(blob, layer + 9, seed));
            let bx = x + turn.cos() * reach * 1.25 + side * tall * 0.035 * layer as f32;
            let by = y - tall * 0.68 + turn.sin() * reach - tall * 0.035 * layer as f32;
            let r = tall * [0.17, 0.12, 0.075][layer as usize];
            let own = seed ^ (blob as u32 * 31 + layer as u32);
            if let Some(path) = tuft(bx, by, r, own) {
                builder.push_path(&path);
            }
        }
        let light = stage.light.clone();
        let middle = y - tall * 0.7;
        let colours = field(move |px, py| {
            let leaf = noise::fractal(px * 26.0 / tall, py * 26.0 / tall, seed, 2);
            let clump = noise::gradient(px * 9.0 / tall, py * 9.0 / tall, seed ^ 3);
            let up = (middle - py) / (tall * 0.3);
            let facing = (tone + up * 0.16 + leaf * 0.4 + clump * 0.25).clamp(0.05, 1.0);
            let lit = light.on(scale(colour, 0.8 + facing * 0.45), facing);
            with_alpha(light.through(lit, depth), 1.0)
        });
        let step = tall / 140.0;
        stage.smooth(builder.finish(), colours, Role::Plant, depth, step);
    }
}

fn palm(stage: &mut Stage, spot: TreeSite, colour: Rgb) {
    let TreeSite {
        x,
        y,
        tall,
        depth,
        seed,
    } = spot;
    let lean = tall * (noise::cell(0, 1, seed) - 0.5) * 0.5;
    let (tx, ty) = (x + lean, y - tall * 0.8);
    let w = tall * 0.025;
    let mut b = PathBuilder::new();
    b.move_to(x - w * 1.5, y);
    b.quad_to(x - w + lean * 0.1, y - tall * 0.45, tx - w * 0.7, ty);
    b.line_to(tx + w * 0.7, ty);
    b.quad_to(x + w + lean * 0.1, y - tall * 0.45, x + w * 1.5, y);
    b.close();
    let light = stage.light.clone();
    let bark = field(move |px, py| {
        let ring = (py / tall * 120.0).sin() * 0.12;
        let facing = 0.45 + (px - x) / w * 0.1 + ring;
        with_alpha(
            light.through(light.on([0.5, 0.38, 0.26], facing), depth),
            1.0,
        )
    });
    stage.add(b.finish(), bark, Role::Plant, depth);
    for frond in 0..9 {
        let turn = -0.25
            + (frond as f32 + 0.4 * noise::cell(frond, 2, seed)) / 8.0 * 3.6
            + std::f32::consts::PI * 0.94;
        let reach = tall * (0.3 + 0.1 * noise::cell(frond, 3, seed));
        let (ex, ey) = (
            tx + turn.cos() * reach,
            ty + turn.sin() * reach * 0.45 + reach * 0.42,
        );
        let (mx, my) = ((tx + ex) * 0.5, (ty + ey) * 0.5 - reach * 0.34);
        let mut b = PathBuilder::new();
        b.move_to(tx, ty);
        b.quad_to(mx, my - reach * 0.1, ex, ey);
        b.quad_to(mx, my + reach * 0.14, tx, ty + w);
        b.close();
        let light = stage.light.clone();
        let tone = 0.35 + 0.55 * noise::cell(frond, 4, seed);
        let colours = field(move |px, py| {
            let rib = (px * 130.0 / tall + py * 60.0 / tall).sin() * 0.12;
            with_alpha(light.through(light.on(colour, tone + rib), depth), 1.0)
        });
        stage.add(b.finish(), colours, Role::Plant, depth);
    }
}

/// The trees of a far wood.
#[derive(Clone, Copy)]
pub(crate) struct Wood {
    pub kind: Tree,
    /// Height of the tallest trees.
    pub tall: f32,
    pub depth: f32,
    pub colour: Rgb,
}

/// A far wood along a line: one ragged edge of tree tops.
pub(crate) fn wood(stage: &mut Stage, wood: Wood, line: impl Fn(f32) -> f32) {
    let Wood {
        kind,
        tall,
        depth,
        colour,
    } = wood;
    let mut builder = PathBuilder::new();
    let spacing = tall * 0.3;
    let seed = stage.dice.noise("wood") ^ (depth * 100.0) as u32;
    for i in stage.cells(spacing, tall) {
        let x = (i as f32 + 0.8 * noise::cell(i, 1, seed)) * spacing;
        let size = tall * (0.55 + 0.5 * noise::cell(i, 2, seed));
        let spot = TreeSite {
            x,
            y: line(x) + tall * 0.1,
            tall: size,
            depth,
            seed: seed ^ i as u32,
        };
        let shape = if kind == Tree::Pine {
            pine(spot)
        } else {
            tuft(x, spot.y - size * 0.4, size * 0.42, spot.seed)
        };
        if let Some(path) = shape {
            builder.push_path(&path);
        }
    }
    let light = stage.light.clone();
    let colours = field(move |x, y| {
        let leaf = noise::fractal(x * 30.0, y * 30.0, seed, 2);
        with_alpha(
            light.through(light.on(colour, 0.4 + leaf * 0.4), depth),
            1.0,
        )
    });
    let step = 1.0 / 420.0;
    stage.smooth(builder.finish(), colours, Role::Plant, depth, step);
}

/// Blades of grass along the bottom of the picture, in front of everything that stands.
pub(crate) fn grass(stage: &mut Stage, line: f32, tall: f32, colour: Rgb) {
    let seed = stage.dice.noise("grass");
    // Seen from further away there is more grass before the first rows.
    let reach = (stage.view.bottom + tall - line) / (tall * 0.45);
    let rows = (reach.ceil() as i32).clamp(3, 48);
    for row in 0..rows {
        let mut builder = PathBuilder::new();
        let spacing = tall * 0.14;
        let base = line + tall * 0.45 * row as f32;
        for i in stage.cells(spacing, tall) {
            let clump = noise::value(i as f32 * 0.06, row as f32 * 7.0, seed ^ 8);
            let high = tall * (0.25 + 0.75 * noise::cell(i, row, seed)) * (0.35 + clump);
            let x = (i as f32 + noise::cell(i, row, seed ^ 1)) * spacing;
            let sway = (stage.clock * 12.0 + x * 9.0).sin() * 0.06;
            let lean = high * ((noise::cell(i, row, seed ^ 2) - 0.5) * 0.9 + sway);
            let w = tall * 0.045;
            builder.move_to(x - w, base + tall);
            builder.quad_to(x - w * 0.5, base - high * 0.3, x + lean, base - high);
            builder.quad_to(x + w * 0.8, base - high * 0.3, x + w, base + tall);
            builder.close();
        }
        let light = stage.light.clone();
        let tone = 0.75 - 0.25 * row.min(2) as f32 + 0.05 * (row % 2) as f32;
        let colours = field(move |x, y| {
            let up = ((base - y) / tall).clamp(-1.0, 1.0);
            let mottle = noise::gradient(x * 25.0, y * 8.0, seed);
            with_alpha(
                light.on(scale(colour, tone), 0.35 + up * 0.5 + mottle * 0.2),
                1.0,
            )
        });
        let depth = (0.06 - 0.02 * row as f32).max(0.01);
        stage.smooth(builder.finish(), colours, Role::Plant, depth, 1.0 / 420.0);
    }
}
