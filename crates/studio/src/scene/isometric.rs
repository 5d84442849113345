//! The isometric diorama: the setting as blocks on a floating tile, the subjects standing among them.

use super::actor;
use super::stage::{Stage, field};
use crate::choices::kinds::Setting;
use crate::layout;
use crate::layout::Floor;
use crate::paint::colour::{Rgb, hex, mix, scale, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Blend, Role, ellipse, plain, polygon};

/// Tiles along each side.
const SIDE: i32 = 9;
/// Half the width of one tile.
const HALF: f32 = 0.048;
/// World height of the tile's far corner.
const TOP: f32 = -0.17;

/// What covers one tile: its colour, its height in blocks and what grows on it.
#[derive(Clone, Copy)]
struct Tile {
    colour: Rgb,
    height: f32,
    thing: TileObject,
}

#[derive(Clone, Copy, PartialEq)]
enum TileObject {
    Nothing,
    Tree,
    Tower,
    Cactus,
}

fn corner(i: f32, j: f32, height: f32) -> (f32, f32) {
    ((i - j) * HALF, TOP + (i + j) * HALF * 0.5 - height * HALF)
}

/// From which height to which something reaches.
#[derive(Clone, Copy)]
struct Span {
    low: f32,
    high: f32,
}

const fn span(low: f32, high: f32) -> Span {
    Span { low, high }
}

/// A block from its lower corner cell, its footprint and height, in three tones.
fn block(stage: &mut Stage, (i, j): (f32, f32), size: f32, span: Span, colour: Rgb) {
    let Span { low, high } = span;
    let at = |di: f32, dj: f32, h: f32| corner(i + di * size, j + dj * size, h);
    let side = stage.light.side(0.0);
    let tone = |facing: f32| stage.light.on(colour, facing);
    let (top, left, right) = (tone(0.95), tone(0.45 - side * 0.2), tone(0.45 + side * 0.2));
    let faces = [
        (
            [
                at(0.0, 1.0, high),
                at(1.0, 1.0, high),
                at(1.0, 1.0, low),
                at(0.0, 1.0, low),
            ],
            left,
        ),
        (
            [
                at(1.0, 1.0, high),
                at(1.0, 0.0, high),
                at(1.0, 0.0, low),
                at(1.0, 1.0, low),
            ],
            right,
        ),
        (
            [
                at(0.0, 0.0, high),
                at(1.0, 0.0, high),
                at(1.0, 1.0, high),
                at(0.0, 1.0, high),
            ],
            top,
        ),
    ];
    for (points, colour) in faces {
        stage.add(polygon(&points), plain(colour), Role::Building, 0.3);
    }
}

#[rustfmt::skip]
fn tile(stage: &Stage, i: i32, j: i32) -> Tile {
    let dice = stage.dice;
    let roll = dice.cell("iso", i, j);
    let bump = noise::fractal(i as f32 * 0.42, j as f32 * 0.42, dice.noise("iso"), 3);
    // The front corner stays free for those who stand there.
    let free = i + j >= SIDE - 2;
    let back = ((SIDE - 2 - i - j).max(0) as f32) / SIDE as f32;
    let grass = crate::scene::setting::green::green(stage);
    let green = scale(grass, 0.92 + 0.14 * roll);
    let make = |colour: Rgb, height: f32, thing: TileObject| Tile {
        colour,
        height: if free { height.min(0.3) } else { height },
        thing: if free { TileObject::Nothing } else { thing },
    };
    let tree = |share: f32| {
        if roll < share { TileObject::Tree } else { TileObject::Nothing }
    };
    match stage.scene.setting {
        Setting::Mountains | Setting::Volcano | Setting::Waterfall => {
            let height = (back * 9.0 * (0.55 + bump.abs() + roll * 0.3)).round() * 0.5;
            let rock = if height > 2.4 {
                hex(0xf4f7fb)
            } else if height > 1.0 {
                hex(0x8b8f9c)
            } else {
                green
            };
            make(rock, height, if height < 0.9 { tree(0.3) } else { TileObject::Nothing })
        }
        Setting::Forest | Setting::Jungle => {
            make(green, (bump * 1.5).max(0.0).round() * 0.3, tree(0.62))
        }
        Setting::Sea | Setting::Lake | Setting::River | Setting::Underwater => {
            let water = mix(hex(0x3f9ad0), hex(0x7fd0e8), 0.5 + bump);
            let land = stage.scene.setting != Setting::Sea && back > 0.38;
            if land { make(green, 0.4, tree(0.4)) } else { make(water, -0.25, TileObject::Nothing) }
        }
        Setting::Beach => {
            let dry = i > 3;
            if dry { make(hex(0xeed9a8), 0.0, tree(0.12)) } else { make(hex(0x4fb4d8), -0.25, TileObject::Nothing) }
        }
        Setting::Desert | Setting::Canyon => {
            let thing = if roll < 0.14 { TileObject::Cactus } else { TileObject::Nothing };
            make(scale(hex(0xe3b873), 0.94 + roll * 0.1), (bump * 3.0).max(0.0).round() * 0.5, thing)
        }
        Setting::City | Setting::Street => {
            let road = i % 4 == 3 || j % 4 == 3;
            let thing = if road { TileObject::Nothing } else { TileObject::Tower };
            make(if road { hex(0x6d7178) } else { hex(0xb4b8be) }, 0.0, thing)
        }
        Setting::Snow => make(scale(hex(0xf1f5fa), 0.95 + roll * 0.05), (back * 4.0 * (0.4 + bump.abs())).round() * 0.5, tree(0.3)),
        Setting::Space => make(scale(hex(0x9aa0ae), 0.85 + roll * 0.2), (bump * 2.0).round() * 0.25, TileObject::Nothing),
        Setting::Room | Setting::Table | Setting::Studio => make(if (i + j) % 2 == 0 {
                hex(0xc09066)
            } else {
                hex(0xb08058)
            }, 0.0, TileObject::Nothing),
        _ => make(green, (bump * 2.2).max(0.0).round() * 0.35, tree(0.22)),
    }
}

fn thing(stage: &mut Stage, (i, j): (i32, i32), tile: Tile) {
    let (x, y, h) = (i as f32, j as f32, tile.height);
    let roll = stage.dice.cell("iso thing", i, j);
    match tile.thing {
        TileObject::Nothing => {}
        TileObject::Tree => {
            let leaf = crate::scene::setting::country::leafy(stage);
            block(
                stage,
                (x + 0.4, y + 0.4),
                0.2,
                span(h, h + 0.5),
                hex(0x6b4a30),
            );
            let tall = 0.7 + roll * 0.8;
            block(
                stage,
                (x + 0.15, y + 0.15),
                0.7,
                span(h + 0.4, h + 0.4 + tall),
                leaf,
            );
            block(
                stage,
                (x + 0.28, y + 0.28),
                0.44,
                span(h + 0.4 + tall, h + 0.8 + tall),
                scale(leaf, 1.08),
            );
        }
        TileObject::Tower => {
            let tall = 0.8 + roll * roll * 4.6;
            let wall = [
                hex(0xd9a07a),
                hex(0x8fa8c4),
                hex(0xcfc4b0),
                hex(0xa4b8a0),
                hex(0xc48a8a),
            ][(noise::hash(i, j, stage.dice.noise("iso tower")) % 5) as usize];
            block(stage, (x + 0.08, y + 0.08), 0.84, span(h, h + tall), wall);
            windows(stage, (x + 0.08, y + 0.08), 0.84, span(h, h + tall));
            block(
                stage,
                (x + 0.3, y + 0.3),
                0.4,
                span(h + tall, h + tall + 0.18),
                scale(wall, 0.8),
            );
        }
        TileObject::Cactus => block(
            stage,
            (x + 0.38, y + 0.38),
            0.24,
            span(h, h + 0.9),
            hex(0x5b8f4a),
        ),
    }
}

fn windows(stage: &mut Stage, (i, j): (f32, f32), size: f32, span: Span) {
    let Span { low, high } = span;
    let lit = stage.light.dark > 0.3;
    let pane = if lit {
        hex(0xffd98c)
    } else {
        stage.light.on(hex(0x4a6076), 0.7)
    };
    let floors = ((high - low) / 0.42).floor() as i32;
    for floor in 0..floors {
        let base = low + 0.14 + floor as f32 * 0.42;
        for column in 0..2 {
            if lit && noise::cell(floor + column * 7, (i * 10.0) as i32, 5) < 0.35 {
                continue;
            }
            let a = 0.16 + column as f32 * 0.4;
            let front = |d: f32, h: f32| corner(i + d * size, j + size, h);
            let side = |d: f32, h: f32| corner(i + size, j + d * size, h);
            let (p, q) = (a, a + 0.26);
            let left = [
                front(p, base),
                front(q, base),
                front(q, base + 0.22),
                front(p, base + 0.22),
            ];
            let right = [
                side(p, base),
                side(q, base),
                side(q, base + 0.22),
                side(p, base + 0.22),
            ];
            stage.add(polygon(&left), plain(pane), Role::Building, 0.3);
            stage.add(
                polygon(&right),
                plain(scale(pane, 0.94)),
                Role::Building,
                0.3,
            );
        }
    }
}

/// Adds the whole diorama with its subjects.
pub(crate) fn build(stage: &mut Stage) {
    backdrop(stage);
    let soil = if matches!(stage.scene.setting, Setting::City | Setting::Street) {
        hex(0x8d9096)
    } else {
        hex(0x8a6242)
    };
    block(
        stage,
        (0.0, 0.0),
        SIDE as f32,
        span(-1.9, -0.9),
        scale(soil, 0.8),
    );
    block(stage, (0.0, 0.0), SIDE as f32, span(-0.9, -0.26), soil);
    for sum in 0..=2 * (SIDE - 1) {
        for i in 0..SIDE {
            let j = sum - i;
            if !(0..SIDE).contains(&j) {
                continue;
            }
            let tile = tile(stage, i, j);
            block(
                stage,
                (i as f32, j as f32),
                1.0,
                span(-0.3, tile.height),
                tile.colour,
            );
            thing(stage, (i, j), tile);
        }
    }
    let near = TOP + SIDE as f32 * HALF - HALF * 0.9;
    let setting = stage.scene.setting;
    let water = matches!(setting, Setting::Sea | Setting::Lake | Setting::River);
    let floor = Floor {
        horizon: TOP + 0.16,
        near: near - 0.02,
        water: water.then_some(near),
        setting,
    };
    for mut one in layout::placed(&stage.scene.subjects, floor, &stage.dice.clone()) {
        one.scale *= 0.72;
        one.foot.0 *= 0.72;
        actor::actor(stage, &one);
    }
}

fn backdrop(stage: &mut Stage) {
    let light = stage.light.clone();
    let colours = field(move |x, y| {
        let away = x.hypot(y * 1.2);
        let base = mix(
            mix(light.sky[2], light.sky[1], 0.5),
            light.sky[0],
            (away * 0.9).min(0.8),
        );
        with_alpha(mix(base, [1.0, 0.98, 0.95], 0.18 * (1.0 - light.dark)), 1.0)
    });
    let path = stage.everything();
    stage.add(path, colours, Role::Sky, 1.0);
    let shade = field(|x, y| {
        let away = (x / 0.5).hypot((y - 0.4) / 0.1);
        with_alpha([0.1, 0.1, 0.2], 0.4 * noise::smooth(1.0, 0.2, away))
    });
    stage.blend(
        ellipse(0.0, 0.4, 0.5, 0.1),
        shade,
        Role::Shadow,
        0.9,
        Blend::Darken,
    );
}
