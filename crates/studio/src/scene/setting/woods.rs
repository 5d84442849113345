//! Woods: rows of trunks in haze with beams of light, and the dense green of the jungle.

use tiny_skia::PathBuilder;

use super::country;
use crate::choices::kinds::Season;
use crate::paint::colour::{hex, mix, scale, with_alpha};
use crate::paint::foliage::TreeSite;
use crate::paint::noise;
use crate::paint::region::{Blend, Role};
use crate::scene::flora::{Tree, Wood};
use crate::scene::stage::{Stage, field};
use crate::scene::{flora, terrain};

/// Trees in rows, each clearer than the one behind it.
pub(crate) fn forest(stage: &mut Stage) {
    let h = stage.horizon;
    let pines = stage.dice.pick("forest", 2) == 0 || stage.scene.season == Season::Winter;
    let kind = if pines { Tree::Pine } else { Tree::Leaf };
    let colour = if pines {
        hex(0x355c44)
    } else {
        country::leafy(stage)
    };
    let colour = if stage.scene.season == Season::Winter {
        hex(0x8aa2a8)
    } else {
        colour
    };
    let shift = stage.dice.between("clearing", -0.12, 0.12);
    for (row, (up, tall, depth)) in [(0.02, 0.30, 0.92), (0.0, 0.36, 0.8), (-0.02, 0.44, 0.66)]
        .into_iter()
        .enumerate()
    {
        flora::wood(
            stage,
            Wood {
                kind,
                tall,
                depth,
                colour: scale(colour, 0.95),
            },
            |_| h - up + row as f32 * 0.012,
        );
    }
    beams(stage);
    let ground = mix(super::green::green(stage), hex(0x4f4a2c), 0.35);
    terrain::plain(stage, h + 0.03, ground, 1.2);
    stand(stage, kind, colour, shift);
    country::flowers(stage, 0.2);
}

fn stand(stage: &mut Stage, kind: Tree, colour: [f32; 3], shift: f32) {
    if stage.scene.leaves_out("tree") {
        return;
    }
    let (dice, h) = (stage.dice, stage.horizon);
    let mut spots = Vec::new();
    for i in stage.cells(0.14, 0.4) {
        for row in 0..3 {
            let x = (i as f32 + dice.cell("stand x", i, row)) * 0.14;
            let open = noise::smooth(0.10 + 0.07 * row as f32, 0.3, (x - shift).abs());
            if dice.cell("stand", i, row) > open * [0.75, 0.6, 0.45][row as usize] {
                continue;
            }
            let near = (row as f32 + dice.cell("stand back", i, row)) / 3.0;
            let tall = 0.42 + near * 0.75;
            let seed = noise::hash(i, row, dice.noise("stand"));
            spots.push(TreeSite {
                x,
                y: h + 0.05 + near * near * 0.24,
                tall,
                depth: 0.5 - near * 0.42,
                seed,
            });
        }
    }
    spots.sort_by(|a, b| a.y.total_cmp(&b.y));
    for spot in spots {
        super::shadows::under_tree(stage, spot);
        flora::tree(
            stage,
            kind,
            spot,
            scale(colour, 0.85 + 0.3 * noise::cell(1, 0, spot.seed)),
        );
    }
}

/// Beams of light between the trees.
pub(crate) fn beams(stage: &mut Stage) {
    let light = stage.light.clone();
    if light.direct < 0.5 {
        return;
    }
    let (seed, clock) = (stage.dice.noise("beams"), stage.clock);
    let from = (light.sun.0 * 1.4, light.sun.1.min(-0.55));
    let strength = 0.42 * light.haze.min(1.0) * (1.0 - light.dark * 0.6);
    let colours = field(move |x, y| {
        let turn = (x - from.0).atan2(y - from.1);
        let ray = noise::smooth(0.52, 0.85, noise::value(turn * 14.0 + clock, 1.0, seed));
        let fade = noise::smooth(1.5, 0.1, (x - from.0).hypot(y - from.1));
        with_alpha(light.disc, ray * fade * strength)
    });
    let path = stage.everything();
    stage.wash(path, colours, 0.5, Blend::Glow, 1.0 / 256.0);
}

/// Ferns and dark leaves at the lower edge.
pub(crate) fn foreground(stage: &mut Stage) {
    let green = mix(super::green::green(stage), hex(0x24402c), 0.5);
    flora::grass(stage, 0.42, 0.09, green);
}

pub(crate) fn jungle(stage: &mut Stage) {
    let h = stage.horizon;
    let green = hex(0x3f8a4a);
    for (up, tall, depth) in [(0.1, 0.3, 0.9), (0.06, 0.36, 0.74), (0.02, 0.4, 0.58)] {
        flora::wood(
            stage,
            Wood {
                kind: Tree::Leaf,
                tall,
                depth,
                colour: green,
            },
            |_| h - up,
        );
    }
    beams(stage);
    terrain::plain(stage, h + 0.03, hex(0x5d7a3a), 1.3);
    let dice = stage.dice;
    for i in stage.cells(0.3, 0.6) {
        let x = (i as f32 + dice.cell("jungle", i, 0)) * 0.3;
        if x.abs() < 0.16 {
            continue;
        }
        let near = dice.cell("jungle", i, 1);
        let spot = TreeSite {
            x,
            y: h + 0.06 + near * 0.16,
            tall: 0.55 + near * 0.4,
            depth: 0.4 - near * 0.3,
            seed: noise::hash(i, 3, dice.noise("jungle")),
        };
        let kind = if dice.cell("jungle", i, 2) > 0.5 {
            Tree::Palm
        } else {
            Tree::Leaf
        };
        super::shadows::under_tree(stage, spot);
        flora::tree(stage, kind, spot, hex(0x3d8a46));
    }
}

/// Large leaves hanging in from the corners.
pub(crate) fn leaves(stage: &mut Stage) {
    let dice = stage.dice;
    for i in 0..14 {
        let side = if i % 2 == 0 { -1.0 } else { 1.0 };
        let (x, y) = (
            side * (0.5 + 0.08 * dice.cell("leaf", i, 0)),
            0.5 - 0.95 * dice.cell("leaf", i, 1).powi(2) * f32::from(i > 5),
        );
        let turn =
            side * (-0.5 - 0.9 * dice.cell("leaf", i, 2)) + if y < 0.0 { side * 1.6 } else { 0.0 };
        let reach = 0.2 + 0.14 * dice.cell("leaf", i, 3);
        let (sin, cos) = turn.sin_cos();
        let tip = (x + sin * reach, y - cos * reach);
        let bend = (cos * reach * 0.28, sin * reach * 0.28);
        let middle = ((x + tip.0) * 0.5, (y + tip.1) * 0.5);
        let mut b = PathBuilder::new();
        b.move_to(x, y);
        b.quad_to(middle.0 + bend.0, middle.1 + bend.1, tip.0, tip.1);
        b.quad_to(middle.0 - bend.0, middle.1 - bend.1, x, y);
        b.close();
        let light = stage.light.clone();
        let tone = 0.25 + 0.5 * dice.cell("leaf", i, 4);
        let colours = field(move |px, py| {
            let along = (px - x) * cos + (py - y) * sin;
            let rib = noise::smooth(0.004, 0.0, along.abs()) * 0.3;
            let vein = (((px - x) * sin - (py - y) * cos) * 90.0 + along.abs() * 60.0).sin() * 0.08;
            with_alpha(
                light.on(
                    hex(0x2f7a3e),
                    tone + rib + vein + f32::from(along > 0.0) * 0.12,
                ),
                1.0,
            )
        });
        stage.add(b.finish(), colours, Role::Plant, 0.03);
    }
}
