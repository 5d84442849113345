//! Water settings: lake, open sea, beach.

use super::heights;
use crate::choices::kinds::Season;
use crate::paint::colour::{hex, scale};
use crate::paint::foliage::TreeSite;
use crate::paint::noise;
use crate::scene::flora::{Tree, Wood};
use crate::scene::stage::Stage;
use crate::scene::terrain::Hills;
use crate::scene::{flora, terrain, water};

/// A still lake before mountains; says how near the water comes.
pub(crate) fn lake(stage: &mut Stage) -> f32 {
    heights::ranges(stage, stage.dice.between("range", 0.75, 1.0));
    let h = stage.horizon;
    let green = super::green::green(stage);
    let shore = Hills {
        name: "shore",
        crest: h - 0.012,
        swing: 0.014,
        pitch: 2.2,
        depth: 0.5,
        colour: scale(green, 0.8),
    };
    terrain::hills(stage, shore);
    let line = terrain::crest(stage, &shore);
    if !stage.scene.leaves_out("tree") {
        let pine = if stage.scene.season == Season::Winter {
            hex(0x7f9aa0)
        } else {
            hex(0x38604a)
        };
        flora::wood(
            stage,
            Wood {
                kind: Tree::Pine,
                tall: 0.075,
                depth: 0.48,
                colour: pine,
            },
            line,
        );
    }
    water::water(stage, stage.view.bottom + 0.2, hex(0x2c6480), 0.95);
    let bank = Hills {
        name: "bank",
        crest: 0.40,
        swing: 0.03,
        pitch: 1.6,
        depth: 0.1,
        colour: green,
    };
    terrain::hills(stage, bank);
    0.36
}

/// The open sea; says how near it comes.
pub(crate) fn open(stage: &mut Stage) -> f32 {
    let h = stage.horizon;
    if stage.dice.pick("island", 3) > 0 {
        let height = stage.dice.between("island", 0.05, 0.16);
        let range = terrain::Range {
            name: "isle",
            foot: h,
            height,
            spacing: 0.9,
            depth: 0.86,
            rock: hex(0x5d7368),
            snow: 0.0,
        };
        terrain::range(stage, range);
    }
    water::water(stage, stage.view.bottom + 0.2, hex(0x1f5f86), 0.35);
    0.42
}

/// Sand, surf and palms; says how near the water comes.
pub(crate) fn beach(stage: &mut Stage) -> f32 {
    open(stage);
    let seed = stage.dice.noise("shoreline");
    let tilt = stage.dice.between("tilt", -0.12, 0.12);
    let edge = move |x: f32| 0.19 + tilt * x + 0.025 * noise::line(x * 1.6, seed, 2);
    let sand = stage.below(0.006, edge);
    let light = stage.light.clone();
    let colours = crate::scene::stage::field(move |x, y| {
        let grain = noise::value(x * 300.0, y * 300.0, 3) - 0.5;
        let dune = noise::fractal(x * 5.0, y * 14.0, seed, 3);
        let sand = scale(hex(0xecd3a2), 1.0 + grain * 0.06 + dune * 0.1);
        crate::paint::colour::with_alpha(light.on(sand, 0.7 + dune * 0.4), 1.0)
    });
    stage.add(sand, colours, crate::paint::region::Role::Ground, 0.25);
    water::shore(stage, edge);
    palms(stage);
    0.2
}

fn palms(stage: &mut Stage) {
    if stage.scene.leaves_out("tree") || stage.scene.leaves_out("palm") {
        return;
    }
    let side = if stage.dice.pick("palms", 2) == 0 {
        -1.0
    } else {
        1.0
    };
    for i in 0..3 {
        let x = side * (0.32 + 0.13 * i as f32 + 0.05 * stage.dice.cell("palm", i, 0));
        let tall = 0.62 - 0.12 * i as f32 + 0.1 * stage.dice.cell("palm", i, 1);
        let spot = TreeSite {
            x,
            y: 0.27 + 0.03 * i as f32,
            tall,
            depth: 0.18,
            seed: noise::hash(i, 1, stage.dice.noise("palm")),
        };
        super::shadows::under_tree(stage, spot);
        flora::tree(stage, Tree::Palm, spot, hex(0x4d8a45));
    }
}
