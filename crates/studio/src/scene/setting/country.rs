//! Grass country: meadow, garden, farmland, village, river.

use tiny_skia::PathBuilder;

use super::cottage;
use super::green::green;
use crate::choices::kinds::Season;
use crate::layout::Floor;
use crate::paint::colour::{Rgb, hex, mix, scale, with_alpha};
use crate::paint::foliage::TreeSite;
use crate::paint::noise;
use crate::paint::region::{Role, polygon};
use crate::scene::flora::{Tree, Wood};
use crate::scene::stage::{Stage, field};
use crate::scene::terrain::{Hills, Range};
use crate::scene::{flora, terrain, water};

/// Far hills behind all grass country.
fn backdrop(stage: &mut Stage) {
    let h = stage.horizon;
    let green = green(stage);
    if stage.dice.pick("ridge", 3) > 0 {
        let height = stage.dice.between("ridge height", 0.14, 0.3);
        let rock = mix(hex(0x71839c), green, 0.2);
        terrain::range(
            stage,
            Range {
                name: "ridge",
                foot: h,
                height,
                spacing: 0.3,
                depth: 0.9,
                rock,
                snow: 0.22,
            },
        );
    }
    for (name, up, depth) in [("far", 0.05, 0.78), ("mid", 0.015, 0.55)] {
        let colour = scale(green, 0.9);
        let swing = stage.dice.between(name, 0.03, 0.075);
        terrain::hills(
            stage,
            Hills {
                name,
                crest: h - up,
                swing,
                pitch: 1.6,
                depth,
                colour,
            },
        );
        let line = terrain::crest(
            stage,
            &Hills {
                name,
                crest: h - up,
                swing,
                pitch: 1.6,
                depth,
                colour,
            },
        );
        if stage.dice.cell("copse", (depth * 10.0) as i32, 0) > 0.35
            && !stage.scene.leaves_out("tree")
        {
            let kind = if stage.dice.pick("copse kind", 2) == 0 {
                Tree::Pine
            } else {
                Tree::Leaf
            };
            flora::wood(
                stage,
                Wood {
                    kind,
                    tall: 0.05 * (1.3 - depth),
                    depth,
                    colour: scale(leafy(stage), 0.7),
                },
                line,
            );
        }
    }
    terrain::plain(stage, h + 0.03, green, 1.0);
}

/// The colour of leaves this season.
pub(crate) fn leafy(stage: &Stage) -> Rgb {
    match stage.scene.season {
        Season::Autumn => [hex(0xd9772b), hex(0xc9452c), hex(0xe0a030)][stage.dice.pick("leaf", 3)],
        Season::Winter => hex(0xc9d6dc),
        Season::Spring => hex(0x8fc05a),
        Season::Summer => [hex(0x4f8a3c), hex(0x3f7d48), hex(0x6c9440)][stage.dice.pick("leaf", 3)],
    }
}

/// Trees to both sides of the middle, where the subjects stand.
pub(crate) fn flanks(stage: &mut Stage, kind: Tree, count: i32, colour: Rgb) {
    if stage.scene.leaves_out("tree") {
        return;
    }
    let (dice, h) = (stage.dice, stage.horizon);
    let mut spots: Vec<TreeSite> = stage
        .cells(0.22, 0.3)
        .flat_map(|i| (0..count).map(move |k| (i, k)))
        .filter_map(|(i, k)| {
            let x = (i as f32 + dice.cell("tree x", i, k)) * 0.22;
            let back = dice.cell("tree back", i, k);
            let middle = noise::smooth(0.14, 0.5, x.abs());
            if dice.cell("tree here", i, k) > 0.25 + 0.6 * middle {
                return None;
            }
            let near = back * back * (0.35 + 0.65 * middle);
            let y = h + 0.045 + near * 0.2;
            let tall = (0.09 + near * 0.42) * (0.8 + 0.4 * dice.cell("tree tall", i, k));
            let seed = noise::hash(i, k, dice.noise("tree"));
            Some(TreeSite {
                x,
                y,
                tall,
                depth: 0.5 - near * 0.38,
                seed,
            })
        })
        .collect();
    spots.sort_by(|a, b| a.y.total_cmp(&b.y));
    for spot in spots {
        let shade = 0.85 + 0.3 * noise::cell(0, 0, spot.seed);
        super::shadows::under_tree(stage, spot);
        flora::tree(stage, kind, spot, scale(colour, shade));
    }
}

pub(crate) fn meadow(stage: &mut Stage) {
    backdrop(stage);
    let kind = [Tree::Leaf, Tree::Leaf, Tree::Pine, Tree::Birch][stage.dice.pick("tree kind", 4)];
    let kind = if stage.scene.season == Season::Spring {
        Tree::Blossom
    } else {
        kind
    };
    let colour = if kind == Tree::Blossom {
        hex(0xf2a9c4)
    } else {
        leafy(stage)
    };
    flanks(stage, kind, 1, colour);
    flowers(stage, 0.35);
}

pub(crate) fn garden(stage: &mut Stage) {
    backdrop(stage);
    let pink = hex(0xf3a6c2);
    flanks(stage, Tree::Blossom, 1, pink);
    flowers(stage, 1.0);
}

/// Rows of crops running to the horizon.
pub(crate) fn farm(stage: &mut Stage) {
    backdrop(stage);
    let (top, light) = (stage.horizon + 0.05, stage.light.clone());
    let vanish = stage.dice.between("rows", -0.25, 0.25);
    let path = stage.below(0.05, |_| top);
    let green = green(stage);
    let colours = field(move |x, y| {
        let near = (y - top).max(0.002);
        let across = (x - vanish) / (near + 0.06);
        let row = (across * 5.0).fract().abs();
        let ridge = noise::smooth(0.0, 0.3, row) * noise::smooth(1.0, 0.7, row);
        let soil = mix(hex(0x8a6238), green, ridge);
        let leaf = noise::fractal(x * 70.0, y * 90.0, 5, 2);
        let lit = light.on(scale(soil, 1.0 + leaf * 0.2), 0.35 + ridge * 0.5);
        with_alpha(light.through(lit, (0.3 - near).max(0.0)), 1.0)
    });
    stage.add(path, colours, Role::Ground, 0.22);
    flanks(stage, Tree::Leaf, 1, leafy(stage));
}

/// Small houses on the hills.
pub(crate) fn village(stage: &mut Stage) {
    backdrop(stage);
    flanks(stage, Tree::Leaf, 1, leafy(stage));
    let (dice, h) = (stage.dice, stage.horizon);
    let mut homes: Vec<(f32, f32, f32, i32)> = stage
        .cells(0.13, 0.2)
        .filter(|&i| dice.cell("home", i, 0) < 0.72)
        .map(|i| {
            let near = dice.cell("home near", i, 1);
            let x = (i as f32 + dice.cell("home x", i, 2)) * 0.13;
            (x, h + 0.035 + near * 0.09, 0.055 + near * 0.05, i)
        })
        .collect();
    homes.sort_by(|a, b| a.1.total_cmp(&b.1));
    for (x, y, size, i) in homes {
        cottage::cottage(stage, (x, y), size, dice.part("cottage", i));
    }
}

/// A winding river; says how near it comes.
pub(crate) fn river(stage: &mut Stage) -> f32 {
    backdrop(stage);
    let (h, seed) = (stage.horizon + 0.035, stage.dice.noise("river"));
    let lean = stage.dice.between("river lean", -0.3, 0.3);
    let middle = move |y: f32| {
        let near = (y - h).max(0.0);
        lean * near * 1.2 + noise::line(near.sqrt() * 5.0, seed, 2) * (0.05 + near * 0.35)
    };
    // The bends lie at fixed places, however much of the river is seen.
    let rows = ((stage.view.bottom + 0.1 - h).max(0.1) * 3600.0)
        .sqrt()
        .ceil()
        .min(400.0) as i32;
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for i in 0..=rows {
        let t = i as f32 / 60.0;
        let y = h + t * t;
        let wide = 0.004 + (y - h) * 0.42;
        left.push((middle(y) - wide, y));
        right.push((middle(y) + wide, y));
    }
    left.extend(right.into_iter().rev());
    let path = polygon(&left);
    let light = stage.light.clone();
    let clock = stage.clock * 4.0;
    let colours = field(move |x, y| {
        let near = (y - h).max(0.0);
        let wave = noise::fractal(
            x * 12.0 / (0.1 + near),
            (near + 0.02).ln() * 14.0 - clock,
            seed,
            2,
        );
        let base = mix(
            light.sky[1],
            light.on(hex(0x2f6f86), 0.6),
            0.35 + near * 0.4,
        );
        with_alpha(
            mix(base, light.sky[2], noise::smooth(0.2, 0.5, wave) * 0.7),
            1.0,
        )
    });
    stage.add(path.clone(), colours, Role::Water, 0.3);
    stage.mirror(path, h, 0.35);
    flanks(stage, Tree::Leaf, 1, leafy(stage));
    0.3
}

/// Flowers scattered over the near ground.
pub(crate) fn flowers(stage: &mut Stage, amount: f32) {
    if stage.scene.season == Season::Winter || stage.scene.leaves_out("flower") {
        return;
    }
    let dice = stage.dice;
    let colours = [
        hex(0xf4d03f),
        hex(0xe8556d),
        hex(0xffffff),
        hex(0xb067d6),
        hex(0xf08a3c),
    ];
    let seed = dice.noise("flowers");
    let share = amount * dice.between("flower share", 0.3, 1.0);
    for (which, colour) in colours.into_iter().enumerate() {
        let mut builder = PathBuilder::new();
        for row in 0..14 {
            let near = row as f32 / 14.0;
            let y = stage.horizon + 0.1 + near * near * 0.42;
            let size = 0.0022 + near * 0.006;
            for i in stage.cells(size * 3.2, 0.02) {
                let pick = noise::cell(i, row * 7 + which as i32, seed);
                let bed = noise::value(
                    i as f32 * size * 9.0,
                    row as f32 * 0.4 + which as f32 * 9.0,
                    seed ^ 3,
                );
                if pick > share * 0.35 * noise::smooth(0.45, 0.8, bed) {
                    continue;
                }
                let x = (i as f32 + noise::cell(i, row, seed ^ 5)) * size * 3.2;
                let dy = noise::cell(i, row, seed ^ 6) * 0.03;
                for petal in 0..5 {
                    let (sin, cos) = (petal as f32 * 1.2566).sin_cos();
                    builder.push_circle(
                        x + cos * size * 0.55,
                        y + dy + sin * size * 0.4,
                        size * 0.45,
                    );
                }
            }
        }
        let tone = stage.lit(colour, 0.85, 0.05);
        let colours = field(move |_, _| with_alpha(tone, 1.0));
        stage.add(builder.finish(), colours, Role::Plant, 0.2);
    }
}

/// Grass before the feet of those who stand in it.
pub(crate) fn foreground(stage: &mut Stage, floor: Floor) {
    if stage.scene.leaves_out("grass") {
        return;
    }
    let green = scale(green(stage), 0.8);
    flora::grass(stage, floor.near + 0.055, 0.075, green);
}

/// Still water between banks for settings that want a pond.
pub(crate) fn pond(stage: &mut Stage, bottom: f32) {
    water::water(stage, bottom, hex(0x2c6a80), 0.9);
}
