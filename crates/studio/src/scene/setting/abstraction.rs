//! When no word is known: a composition of ribbons, discs and shards that the words themselves drive.

use tiny_skia::PathBuilder;

use crate::paint::colour::{Rgb, from_hsl, mix, scale, with_alpha};
use crate::paint::dice::word;
use crate::paint::noise;
use crate::paint::region::{Role, ellipse, polygon, rounded};
use crate::scene::stage::{Stage, field};

/// Colours of the composition: those that were asked for, or a harmony chosen by the words.
fn palette(stage: &Stage) -> Vec<Rgb> {
    let mut all: Vec<Rgb> = stage
        .scene
        .palette
        .iter()
        .map(|c| c.map(|v| f32::from(v) / 255.0))
        .collect();
    let hue = stage.dice.roll("abstract hue");
    let spread = [0.08, 0.33, 0.5][stage.dice.pick("harmony", 3)];
    for i in 0..5_u8 {
        let i = f32::from(i);
        let light = 0.28 + 0.13 * i;
        all.push(from_hsl([hue + spread * i * 0.5, 0.62, light]));
    }
    all.truncate(5);
    all
}

pub(crate) fn abstraction(stage: &mut Stage) {
    let words: Vec<u32> = stage
        .scene
        .prompt
        .split_whitespace()
        .map(|w| word(&w.to_lowercase()))
        .collect();
    let salt = words.iter().fold(0, |a, b| a ^ b);
    stage.dice = stage.dice.salted(u64::from(salt));
    let colours = palette(stage);
    ground(stage, &colours);
    match salt % 3 {
        0 => ribbons(stage, &colours),
        1 => discs(stage, &colours, &words),
        _ => shards(stage, &colours),
    }
    for (i, w) in words.iter().take(12).enumerate() {
        accent(stage, &colours, i, *w);
    }
}

fn ground(stage: &mut Stage, colours: &[Rgb]) {
    let (a, b, c) = (colours[0], colours[1], scale(colours[2], 0.5));
    let (seed, clock) = (stage.dice.noise("flow"), stage.clock);
    let path = stage.everything();
    let flow = field(move |x, y| {
        let warp = noise::fractal(x * 1.4 + clock * 0.4, y * 1.4, seed, 3);
        let vein = noise::fractal(
            x * 1.8 + warp * 1.6,
            y * 1.8 - warp * 1.2 + clock * 0.3,
            seed ^ 1,
            4,
        );
        let colour = mix(mix(c, a, 0.5 + vein), b, noise::smooth(0.0, 0.8, warp));
        with_alpha(scale(colour, 0.85 + vein * 0.35), 1.0)
    });
    stage.add(path, flow, Role::Sky, 1.0);
}

fn ribbons(stage: &mut Stage, colours: &[Rgb]) {
    let dice = stage.dice;
    for i in 0..9 {
        let seed = noise::hash(i, 0, dice.noise("ribbon"));
        let tilt = (dice.cell("ribbon", i, 0) - 0.5) * 0.9;
        let base = (dice.cell("ribbon", i, 1) - 0.5) * 1.1;
        let wide = 0.02 + 0.09 * dice.cell("ribbon", i, 2);
        let clock = stage.clock;
        let line = move |x: f32| base + tilt * x + 0.22 * noise::line(x * 1.3 + clock, seed, 2);
        let (mut top, mut low) = (Vec::new(), Vec::new());
        for step in stage.cells(0.01, 0.02) {
            let x = step as f32 * 0.01;
            let thick = wide * (0.5 + 0.5 * (x * 4.0 + seed as f32 % 7.0).sin().abs());
            top.push((x, line(x) - thick));
            low.push((x, line(x) + thick));
        }
        top.extend(low.into_iter().rev());
        let colour = colours[i as usize % colours.len()];
        let shade = field(move |x, y| {
            let across = (y - line(x)) / wide;
            with_alpha(scale(colour, 0.95 - across * 0.35), 0.92)
        });
        stage.add(polygon(&top), shade, Role::Subject, 0.8 - i as f32 * 0.07);
    }
}

fn discs(stage: &mut Stage, colours: &[Rgb], words: &[u32]) {
    let dice = stage.dice;
    for i in 0..(7 + words.len().min(9) as i32) {
        let (x, y) = (
            (dice.cell("disc", i, 0) - 0.5) * 0.9,
            (dice.cell("disc", i, 1) - 0.5) * 0.9,
        );
        let r = 0.05 + 0.19 * dice.cell("disc", i, 2).powi(2);
        let colour = colours[i as usize % colours.len()];
        let rings = 2.0 + (dice.cell("disc", i, 3) * 6.0).floor();
        let shade = field(move |px, py| {
            let far = (px - x).hypot(py - y) / r;
            let ring = (far * rings).fract();
            let tone = 0.72 + 0.4 * ring - (py - y) / r * 0.22;
            with_alpha(scale(colour, tone), 0.95)
        });
        stage.add(
            ellipse(x, y, r, r),
            shade,
            Role::Subject,
            0.8 - i as f32 * 0.03,
        );
    }
}

fn shards(stage: &mut Stage, colours: &[Rgb]) {
    let dice = stage.dice;
    let centre = (
        dice.between("shard x", -0.2, 0.2),
        dice.between("shard y", -0.2, 0.2),
    );
    for i in 0..34 {
        let turn = dice.cell("shard", i, 0) * std::f32::consts::TAU;
        let (near, far) = (
            0.05 + 0.2 * dice.cell("shard", i, 1),
            0.3 + 0.6 * dice.cell("shard", i, 2),
        );
        let wide = 0.04 + 0.16 * dice.cell("shard", i, 3);
        let at = |r: f32, t: f32| (centre.0 + r * t.cos(), centre.1 + r * t.sin());
        let points = [
            at(near, turn),
            at(far, turn - wide),
            at(far * 1.06, turn),
            at(far * 0.98, turn + wide),
        ];
        let colour = colours[i as usize % colours.len()];
        let shade = field(move |px, py| {
            let away = (px - centre.0).hypot(py - centre.1);
            with_alpha(scale(colour, 1.25 - away * 0.8), 0.85)
        });
        stage.add(
            polygon(&points),
            shade,
            Role::Subject,
            0.7 - i as f32 * 0.015,
        );
    }
}

/// Each word leaves a mark of its own.
fn accent(stage: &mut Stage, colours: &[Rgb], index: usize, word: u32) {
    let pick = |k: i32| noise::cell(k, index as i32, word ^ stage.dice.noise("accent"));
    let (x, y, r) = (
        (pick(0) - 0.5) * 0.8,
        (pick(1) - 0.5) * 0.8,
        0.012 + 0.03 * pick(2),
    );
    let colour = mix(
        colours[word as usize % colours.len()],
        [1.0, 1.0, 1.0],
        0.35,
    );
    let shade = field(move |_, _| with_alpha(colour, 1.0));
    let corners = 3 + (word % 5) as i32;
    let star: Vec<(f32, f32)> = (0..corners * 2)
        .map(|k| {
            let turn = k as f32 / corners as f32 * std::f32::consts::PI;
            let far = if k % 2 == 0 { r } else { r * 0.45 };
            (x + far * turn.cos(), y + far * turn.sin())
        })
        .collect();
    let path = match word % 3 {
        0 => polygon(&star),
        1 => rounded(&star),
        _ => {
            let mut builder = PathBuilder::new();
            for k in 0..6 {
                builder.push_circle(x + (k as f32 - 2.5) * r * 0.9, y, r * 0.28);
            }
            builder.finish()
        }
    };
    stage.add(path, shade, Role::Subject, 0.1);
}
