//! Built places: skylines, streets, cottages.

use crate::paint::colour::{Rgb, hex, mix, scale, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Blend, Role, ellipse, plain, polygon, rectangle};
use crate::scene::stage::{Stage, field};

/// One tower: where it is, how large, how far.
#[derive(Clone, Copy)]
struct Tower {
    left: f32,
    right: f32,
    top: f32,
    foot: f32,
    depth: f32,
    seed: u32,
    wall: Rgb,
}

pub(crate) fn city(stage: &mut Stage) {
    let h = stage.horizon + 0.04;
    for (row, (tall, depth, size)) in [(0.3, 0.88, 0.06), (0.42, 0.7, 0.085), (0.5, 0.5, 0.12)]
        .into_iter()
        .enumerate()
    {
        let foot = h + row as f32 * 0.012;
        let row = row as i32;
        skyline(
            stage,
            Skyline {
                tall,
                depth,
                size,
                foot,
                row,
            },
        );
        super::heights::mist(stage, h - 0.03, 0.12, 0.5);
    }
    pavement(stage, h + 0.015);
}

/// A row of towers side by side.
#[derive(Clone, Copy)]
struct Skyline {
    /// Height of the highest towers.
    tall: f32,
    depth: f32,
    /// Width of one tower and the gap beside it.
    size: f32,
    /// World height of the feet.
    foot: f32,
    /// Gives each row choices of its own.
    row: i32,
}

fn skyline(stage: &mut Stage, line: Skyline) {
    let Skyline {
        tall,
        depth,
        size,
        foot,
        row,
    } = line;
    let dice = stage.dice;
    let walls = [
        hex(0x8b93a6),
        hex(0xa59a90),
        hex(0x6f7f92),
        hex(0xb0a8a0),
        hex(0x7d8a8c),
    ];
    for i in stage.cells(size, size) {
        let share = dice.cell("tower", i, row);
        let centre = noise::smooth(0.9, 0.0, (i as f32 * size).abs());
        let high = tall * (0.28 + 0.72 * share * share) * (0.6 + 0.4 * centre);
        let left = i as f32 * size + size * 0.12 * dice.cell("tower x", i, row);
        let wide = size * (0.62 + 0.36 * dice.cell("tower w", i, row));
        let seed = noise::hash(i, row, dice.noise("tower"));
        let wall = walls[(noise::hash(i, row, 3) % 5) as usize];
        tower(
            stage,
            Tower {
                left,
                right: left + wide,
                top: foot - high,
                foot: foot + 0.1,
                depth,
                seed,
                wall,
            },
        );
    }
}

fn roof(tower: Tower) -> Vec<(f32, f32)> {
    let Tower {
        left,
        right,
        top,
        foot,
        seed,
        ..
    } = tower;
    let (wide, middle) = (right - left, (left + right) * 0.5);
    let mut points = match seed % 5 {
        0 => vec![(left, top), (right, top)],
        1 => vec![
            (left, top + wide * 0.3),
            (middle, top - wide * 0.35),
            (right, top + wide * 0.3),
        ],
        2 => vec![
            (left, top + wide * 0.3),
            (left + wide * 0.2, top + wide * 0.3),
            (left + wide * 0.2, top),
            (right - wide * 0.2, top),
            (right - wide * 0.2, top + wide * 0.3),
            (right, top + wide * 0.3),
        ],
        3 => vec![
            (left, top),
            (middle - wide * 0.03, top),
            (middle - wide * 0.01, top - wide * 0.8),
            (middle + wide * 0.01, top - wide * 0.8),
            (middle + wide * 0.03, top),
            (right, top),
        ],
        _ => vec![(left, top + wide * 0.35), (right, top)],
    };
    points.extend([(right, foot), (left, foot)]);
    points
}

fn tower(stage: &mut Stage, tower: Tower) {
    let light = stage.light.clone();
    let side = light.side((tower.left + tower.right) * 0.5);
    let wide = tower.right - tower.left;
    let columns = (3 + tower.seed % 5) as f32;
    let pitch = wide / columns;
    let colours = field(move |x, y| {
        let (u, v) = ((x - tower.left) / pitch, (y - tower.top) / (pitch * 1.25));
        let (iu, iv) = (u.floor(), v.floor());
        let (fu, fv) = (u - iu, v - iv);
        let edge = 0.5 + ((x - tower.left) / wide - 0.5) * side * 0.7;
        let mut colour = light.on(tower.wall, edge);
        let pane = fu > 0.22 && fu < 0.78 && fv > 0.2 && fv < 0.72 && v > 0.6;
        if pane {
            let roll = noise::cell(iu as i32, iv as i32, tower.seed);
            let glass = mix(light.sky[1], scale(colour, 0.55), 0.55);
            let lamp = mix(
                hex(0xffd27a),
                hex(0xfff1c9),
                noise::cell(iv as i32, iu as i32, tower.seed ^ 1),
            );
            let on = noise::smooth(0.0, 0.05, light.dark * 0.62 - roll);
            colour = mix(glass, lamp, on * (0.35 + 0.65 * light.dark));
            return with_alpha(light.through(colour, tower.depth * (1.0 - on * 0.45)), 1.0);
        }
        with_alpha(light.through(colour, tower.depth), 1.0)
    });
    stage.add(polygon(&roof(tower)), colours, Role::Building, tower.depth);
}

fn pavement(stage: &mut Stage, top: f32) {
    let light = stage.light.clone();
    let wet = matches!(
        stage.scene.weather,
        crate::choices::kinds::Weather::Rain | crate::choices::kinds::Weather::Storm
    );
    let path = stage.below(0.1, |_| top);
    let colours = field(move |x, y| {
        let near = (y - top).max(0.001);
        let joint = (x / (near + 0.08) * 3.0).rem_euclid(1.0);
        let line = noise::smooth(0.03, 0.0, (joint - 0.5).abs()) * 0.25;
        let across = ((near + 0.03).ln() * 7.0).rem_euclid(1.0);
        let row = noise::smooth(0.05, 0.0, (across - 0.5).abs()) * 0.2;
        let grain = noise::fractal(x * 40.0, y * 80.0, 3, 2) * 0.1;
        let stone = scale(hex(0x8a8c92), 1.0 + grain - line - row);
        with_alpha(
            light.through(light.on(stone, 0.6 - near * 0.3), (0.4 - near).max(0.0)),
            1.0,
        )
    });
    stage.add(path.clone(), colours, Role::Ground, 0.25);
    if wet || stage.light.dark > 0.5 {
        stage.mirror(path, top, if wet { 0.6 } else { 0.35 });
    }
}

/// A street that runs between two rows of houses.
pub(crate) fn street(stage: &mut Stage) {
    let h = stage.horizon;
    let line = Skyline {
        tall: 0.3,
        depth: 0.88,
        size: 0.07,
        foot: h + 0.02,
        row: 4,
    };
    skyline(stage, line);
    pavement(stage, h);
    let dice = stage.dice;
    let vanish = dice.between("vanish", -0.1, 0.1);
    for side in [-1.0_f32, 1.0] {
        for i in (0..7).rev() {
            let far = 1.0 / (1.0 + i as f32 * 0.62);
            let next = 1.0 / (1.0 + (i as f32 - 1.0) * 0.62);
            let x = |share: f32| vanish + side * (0.2 + 0.03 * share) * (share * 2.2).min(9.0);
            house_front(stage, side, i, [x(far), x(next)], [far, next]);
        }
    }
    let lamp = dice.between("lamp", 0.3, 0.34);
    for side in [-1.0, 1.0] {
        lantern(stage, vanish + side * lamp, h + 0.16, 0.34);
    }
}

fn house_front(stage: &mut Stage, side: f32, i: i32, x: [f32; 2], share: [f32; 2]) {
    let (h, dice) = (stage.horizon, stage.dice);
    let row = i32::from(side > 0.0);
    let tall = 0.2 + 0.14 * dice.cell("house", i, row);
    let top = move |s: f32| h - tall * s * 1.7;
    let low = move |s: f32| h + 0.16 * s;
    let points = [
        (x[0], top(share[0])),
        (x[1], top(share[1])),
        (x[1], low(share[1])),
        (x[0], low(share[0])),
    ];
    let walls = [
        hex(0xd8b28a),
        hex(0xc98f7a),
        hex(0xa9b7b0),
        hex(0xd9c9a0),
        hex(0x9aa8c0),
        hex(0xc7a0a8),
    ];
    let wall = walls[(noise::hash(i, row, dice.noise("wall")) % 6) as usize];
    let light = stage.light.clone();
    let seed = noise::hash(i, row, 5);
    let depth = 0.7 - share[0] * 0.6;
    let colours = field(move |px, py| {
        let u = ((px - x[0]) / (x[1] - x[0])).clamp(0.0, 1.0);
        let s = share[0] + (share[1] - share[0]) * u;
        let v = (py - top(s)) / (low(s) - top(s));
        let (cu, cv) = (u * 3.0, v * 4.0);
        let (fu, fv) = (cu.fract(), cv.fract());
        let facing = 0.45 - light.side(x[0]) * side * 0.35;
        let mut colour = light.on(
            scale(
                wall,
                1.0 + 0.06 * noise::fractal(px * 50.0, py * 50.0, seed, 2),
            ),
            facing,
        );
        let frame = fu > 0.25 && fu < 0.75 && fv > 0.2 && fv < 0.75;
        if frame && v < 0.98 {
            let on = light.dark > 0.3 && noise::cell(cu as i32, cv as i32, seed) < 0.6;
            let glass = light.on(hex(0x3c4a58), 0.5);
            colour = if on {
                hex(0xffd68a)
            } else {
                mix(glass, light.sky[1], 0.3)
            };
        } else if v < 0.03 || (v > 0.73 && v < 0.76) {
            colour = scale(colour, 0.7);
        }
        with_alpha(light.through(colour, depth * 0.6), 1.0)
    });
    stage.add(polygon(&points), colours, Role::Building, depth);
}

fn lantern(stage: &mut Stage, x: f32, foot: f32, tall: f32) {
    let iron = stage.lit(hex(0x2c2f38), 0.5, 0.1);
    stage.add(
        rectangle(x - 0.005, foot - tall, x + 0.005, foot),
        plain(iron),
        Role::Building,
        0.12,
    );
    let (top, on) = (foot - tall, stage.light.dark > 0.25);
    let lamp = if on {
        hex(0xffe2a0)
    } else {
        stage.lit(hex(0xdfe4e0), 0.7, 0.1)
    };
    let head = polygon(&[
        (x - 0.016, top + 0.01),
        (x - 0.022, top - 0.035),
        (x + 0.022, top - 0.035),
        (x + 0.016, top + 0.01),
    ]);
    stage.add(head, plain(lamp), Role::Light, 0.12);
    if on {
        let glow = field(move |px, py| {
            with_alpha(
                hex(0xffcf80),
                0.6 * (-(px - x).hypot(py - top) * 16.0).exp(),
            )
        });
        stage.blend(
            ellipse(x, top, 0.22, 0.22),
            glow,
            Role::Light,
            0.12,
            Blend::Glow,
        );
    }
    let cap = polygon(&[
        (x - 0.028, top - 0.033),
        (x, top - 0.055),
        (x + 0.028, top - 0.033),
    ]);
    stage.add(cap, plain(iron), Role::Building, 0.12);
}
