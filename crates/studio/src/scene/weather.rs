//! Weather: what hangs behind the land and what falls before everything.

use tiny_skia::PathBuilder;

use super::stage::{Stage, field};
use crate::choices::kinds::Weather;
use crate::paint::colour::{from_hsl, hex, mix, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Blend, Role, polygon};

/// Rainbow, lightning and falling stars, behind the land.
pub(crate) fn behind(stage: &mut Stage) {
    match stage.scene.weather {
        Weather::Rainbow => rainbow(stage),
        Weather::Storm => lightning(stage),
        Weather::Meteors => meteors(stage),
        _ => {}
    }
}

/// Rain, snow, leaves and fog, before everything.
pub(crate) fn before(stage: &mut Stage) {
    if !stage.scene.setting.is_outdoors() {
        return;
    }
    match stage.scene.weather {
        Weather::Rain | Weather::Storm => rain(stage),
        Weather::Snowfall => snow(stage),
        Weather::Wind => leaves(stage),
        Weather::Fog => fog(stage),
        _ => {}
    }
}

fn rainbow(stage: &mut Stage) {
    let (x, y) = (-stage.light.sun.0 * 0.8, stage.horizon + 0.12);
    let r = stage.dice.between("bow", 0.42, 0.56);
    let colours = field(move |px, py| {
        let far = (px - x).hypot(py - y);
        let t = (far - r) / 0.075;
        if !(0.0..=1.0).contains(&t) {
            return [0.0; 4];
        }
        let band = noise::smooth(0.0, 0.2, t) * noise::smooth(1.0, 0.8, t);
        with_alpha(from_hsl([0.78 * (1.0 - t), 0.95, 0.58]), band * 0.6)
    });
    let path = crate::paint::region::ellipse(x, y, r + 0.08, r + 0.08);
    stage.add(path, colours, Role::Light, 0.95);
}

fn lightning(stage: &mut Stage) {
    let dice = stage.dice;
    // Over time the second bolt comes and goes.
    let bolts = if (stage.clock * 40.0).sin() > -0.6 {
        2
    } else {
        1
    };
    for bolt in 0..bolts {
        let mut x = (dice.cell("bolt", bolt, 0) - 0.5) * 0.8;
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let top = -0.62;
        for step in 0..14 {
            let t = step as f32 / 13.0;
            let y = top + (stage.horizon - top) * t;
            x += (dice.cell("bolt step", bolt, step) - 0.5) * 0.075;
            let w = 0.0065 * (1.15 - t);
            left.push((x - w, y));
            right.push((x + w, y));
        }
        left.extend(right.into_iter().rev());
        stage.add(
            polygon(&left),
            field(|_, _| with_alpha(hex(0xf4f2ff), 1.0)),
            Role::Light,
            0.93,
        );
        let middle = x;
        let glow = field(move |px, _| {
            with_alpha(hex(0xb9b4ff), 0.35 * (-(px - middle).abs() * 6.0).exp())
        });
        let path = stage.everything();
        stage.wash(path, glow, 0.94, Blend::Glow, 1.0 / 200.0);
    }
}

fn meteors(stage: &mut Stage) {
    let dice = stage.dice;
    for i in 0..7 {
        let fall = stage.clock * 0.6;
        let x = (dice.cell("meteor", i, 0) - 0.5) * 1.3 + fall;
        let y = -0.5 + 0.45 * dice.cell("meteor", i, 1) + fall * 0.6;
        let reach = 0.1 + 0.16 * dice.cell("meteor", i, 2);
        let path = polygon(&[
            (x, y),
            (x - reach, y - reach * 0.6),
            (x - reach * 0.98, y - reach * 0.62),
        ]);
        let path2 = polygon(&[
            (x + 0.002, y - 0.002),
            (x - reach, y - reach * 0.6),
            (x - 0.002, y + 0.002),
        ]);
        let colours =
            field(move |px, _| with_alpha(hex(0xf2f6ff), (1.0 - (x - px) / reach).clamp(0.0, 1.0)));
        stage.add(path, colours.clone(), Role::Light, 0.96);
        stage.add(path2, colours, Role::Light, 0.96);
    }
}

fn rain(stage: &mut Stage) {
    let seed = stage.dice.noise("rain");
    let slant = stage.dice.between("slant", -0.35, 0.35);
    let fall = stage.clock * 6.0;
    for layer in 0..2 {
        let mut builder = PathBuilder::new();
        let size = 0.05 - 0.015 * layer as f32;
        let rows =
            (stage.view.top / 0.22).floor() as i32 - 1..=(stage.view.bottom / 0.22).ceil() as i32;
        for j in rows {
            for i in stage.cells(size, 0.2) {
                let x = (i as f32 + noise::cell(i, j, seed)) * size;
                let drop = (noise::cell(i, j, seed ^ 1) + fall).rem_euclid(1.0);
                let y = (j as f32 + drop) * 0.22;
                let reach = 0.035 + 0.05 * noise::cell(i, j, seed ^ 2);
                let w = 0.0007;
                builder.move_to(x - w, y);
                builder.line_to(x + w, y);
                builder.line_to(x + slant * reach + w, y + reach);
                builder.line_to(x + slant * reach - w, y + reach);
                builder.close();
            }
        }
        let colours = field(|_, _| with_alpha(hex(0xdfe9f4), 0.38));
        stage.add(builder.finish(), colours, Role::Weather, 0.04);
    }
}

fn snow(stage: &mut Stage) {
    let seed = stage.dice.noise("flakes");
    let fall = stage.clock * 2.0;
    let mut builder = PathBuilder::new();
    for layer in 0..3 {
        let size = 0.055 + 0.03 * layer as f32;
        let rows =
            (stage.view.top / size).floor() as i32 - 1..=(stage.view.bottom / size).ceil() as i32;
        for j in rows {
            for i in stage.cells(size, 0.1) {
                let drop = (noise::cell(i, j, seed ^ 1) + fall).rem_euclid(1.0);
                let x = (i as f32 + noise::cell(i, j, seed + layer)) * size;
                let r = (0.0011 + 0.0026 * noise::cell(i, j, seed ^ 2).powi(3))
                    * (1.0 + layer as f32 * 0.8);
                builder.push_circle(
                    x + 0.01 * (fall * 6.0 + x * 20.0).sin(),
                    (j as f32 + drop) * size,
                    r,
                );
            }
        }
    }
    let white = mix(
        [1.0, 1.0, 1.0],
        stage.light.ambient,
        0.25 * stage.light.dark,
    );
    stage.add(
        builder.finish(),
        field(move |_, _| with_alpha(white, 0.85)),
        Role::Weather,
        0.04,
    );
}

fn leaves(stage: &mut Stage) {
    let seed = stage.dice.noise("leaves");
    let fly = stage.clock * 1.2;
    for (which, colour) in [hex(0xd9772b), hex(0xc9452c), hex(0x9bb54a)]
        .into_iter()
        .enumerate()
    {
        let mut builder = PathBuilder::new();
        for i in 0..18 {
            let x = ((noise::cell(i, which as i32, seed) + fly).rem_euclid(1.0) - 0.5) * 1.6;
            let y = (noise::cell(i, which as i32, seed ^ 1) - 0.55) * 0.9 + 0.03 * (x * 9.0).sin();
            let (sin, cos) = (noise::cell(i, which as i32, seed ^ 2) * 6.0 + fly * 8.0).sin_cos();
            let r = 0.007 + 0.008 * noise::cell(i, which as i32, seed ^ 3);
            builder.move_to(x - cos * r, y - sin * r);
            builder.quad_to(
                x - sin * r * 0.8,
                y + cos * r * 0.8,
                x + cos * r,
                y + sin * r,
            );
            builder.quad_to(
                x + sin * r * 0.8,
                y - cos * r * 0.8,
                x - cos * r,
                y - sin * r,
            );
            builder.close();
        }
        let tone = stage.lit(colour, 0.8, 0.0);
        stage.add(
            builder.finish(),
            field(move |_, _| with_alpha(tone, 1.0)),
            Role::Weather,
            0.04,
        );
    }
}

fn fog(stage: &mut Stage) {
    let light = stage.light.clone();
    let (seed, clock, h) = (stage.dice.noise("fog"), stage.clock, stage.horizon);
    let colours = field(move |x, y| {
        let low = noise::smooth(0.4, 0.0, (y - h - 0.03).abs());
        let wisp = 0.5 + noise::fractal(x * 2.2 + clock * 1.5, y * 7.0, seed, 3) * 0.7;
        with_alpha(light.fog, (low * wisp * 0.62).clamp(0.0, 0.8))
    });
    let path = stage.everything();
    stage.smooth(path, colours, Role::Cloud, 0.1, 1.0 / 128.0);
}
