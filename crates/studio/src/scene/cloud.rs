//! Clouds: soft fields of noise for painters, rounded heaps for those who cut shapes.

use super::stage::{Stage, field};
use crate::choices::kinds::Weather;
use crate::paint::colour::{Rgb, mix, scale, screen, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Role, polygon, rectangle};

/// How much of the sky the weather covers, 0..1.
fn cover(weather: Weather, roll: f32) -> f32 {
    match weather {
        Weather::Clear | Weather::Aurora | Weather::Meteors => 0.12 + 0.22 * roll,
        Weather::Cloudy => 0.55 + 0.15 * roll,
        Weather::Wind | Weather::Rainbow => 0.45 + 0.1 * roll,
        Weather::Fog => 0.2,
        Weather::Overcast | Weather::Rain | Weather::Snowfall => 0.85,
        Weather::Storm => 0.95,
    }
}

/// Adds the clouds of the weather.
pub(crate) fn clouds(stage: &mut Stage) {
    if stage.scene.leaves_out("cloud") {
        return;
    }
    let amount = cover(stage.scene.weather, stage.dice.roll("clouds"));
    let amount = if stage.light.dark > 0.8 {
        amount * 0.7
    } else {
        amount
    };
    if stage.look.cut {
        heaps(stage, amount);
    } else {
        soft(stage, amount);
    }
}

/// Bright and shaded sides of clouds under this light.
fn tones(stage: &Stage) -> (Rgb, Rgb) {
    let light = &stage.light;
    let stormy = stage.scene.weather == Weather::Storm;
    let white = scale([1.0, 1.0, 1.0], 1.0 - light.dark * 0.72);
    let white = mix(white, light.disc, 0.35 * (1.0 - light.dark));
    let bright = mix(
        white,
        light.sky[2],
        if light.direct < 0.5 { 0.6 } else { 0.2 },
    );
    let shade = mix(light.sky[1], light.ambient, if stormy { 0.7 } else { 0.45 });
    (bright, scale(shade, if stormy { 0.6 } else { 0.95 }))
}

fn soft(stage: &mut Stage, amount: f32) {
    let (bright, shade) = tones(stage);
    let (light, horizon) = (stage.light.clone(), stage.horizon);
    let seed = stage.dice.noise("cloud");
    let stretch = stage.dice.between("cloud stretch", 2.2, 4.4);
    let drift = stage.clock * 0.5 + stage.dice.roll("cloud shift") * 0.4;
    let density = move |x: f32, y: f32, octaves: u32| {
        let up = (horizon - y).max(-0.05);
        // Far clouds are seen edge-on: squeeze them towards the horizon.
        let near = 0.55 + up * 1.1;
        let (u, v) = ((x / near + drift) * 1.5, y / near * stretch);
        let warp = noise::gradient(u * 0.9, v * 0.9, seed ^ 0x4d) * 0.8;
        let bank = noise::gradient(u * 0.6 + 9.0, v * 0.6, seed ^ 5) * 0.6;
        noise::fractal(u + warp, v + warp * 0.5, seed, octaves) + bank
    };
    let low = 0.62 - amount * 1.15;
    let colours = field(move |x, y| {
        // Two octaves tell where there is no cloud at all; only the rest is worked out in full.
        if density(x, y, 2) < low - 0.3 {
            return [0.0; 4];
        }
        let here = density(x, y, 4);
        let alpha = noise::smooth(low, low + 0.5, here);
        if alpha <= 0.004 {
            return [0.0; 4];
        }
        let (dx, dy) = (light.sun.0 - x, light.sun.1 - y);
        let away = dx.hypot(dy).max(0.05);
        let step = 0.035;
        let there = density(x + dx / away * step, y + dy / away * step, 2);
        let facing = (0.5 + (here - there) * 0.9 - (here - low) * 0.25).clamp(0.0, 1.0);
        let mut colour = mix(shade, bright, facing);
        let rim = (1.0 - alpha) * (-away * 4.0).exp() * light.direct;
        colour = screen(colour, scale(light.disc, rim * 0.7));
        let up = noise::smooth(-0.02, 0.12, horizon - y);
        with_alpha(
            mix(light.fog, colour, 0.35 + 0.65 * up),
            alpha * 0.94 * (0.25 + 0.75 * up),
        )
    });
    let path = rectangle(
        stage.view.left,
        stage.view.top,
        stage.view.right,
        horizon + 0.02,
    );
    stage.smooth(path, colours, Role::Cloud, 0.97, 1.0 / 256.0);
}

/// A heap of round bumps on a flat base.
pub(crate) fn heap(x: f32, y: f32, wide: f32, seed: u32) -> Vec<(f32, f32)> {
    let mut points = Vec::new();
    let bumps = 5 + (noise::cell(1, 0, seed) * 3.0) as i32;
    for bump in 0..bumps {
        let t = bump as f32 / (bumps - 1) as f32;
        let rise = (t * std::f32::consts::PI).sin().powf(0.7);
        let r = wide * (0.10 + 0.12 * rise + 0.04 * noise::cell(bump, 2, seed));
        let (cx, cy) = (x + (t - 0.5) * wide * 0.85, y - rise * wide * 0.15);
        for part in 0..=8 {
            let turn = std::f32::consts::PI * (1.0 + part as f32 / 8.0);
            points.push((cx + turn.cos() * r, cy + turn.sin() * r));
        }
    }
    points.push((x + wide * 0.55, y + wide * 0.02));
    points.push((x - wide * 0.55, y + wide * 0.02));
    points
}

fn heaps(stage: &mut Stage, amount: f32) {
    let (bright, shade) = tones(stage);
    let seed = stage.dice.noise("heap");
    let size = 0.42 - amount * 0.14;
    let drift = stage.clock * 0.3;
    for row in 0..4 {
        let up = 0.12 + 0.2 * row as f32;
        for i in stage.cells(size, 0.5) {
            if noise::cell(i, row, seed) > 0.35 + amount * 0.6 {
                continue;
            }
            let x = (i as f32 + noise::cell(i, row, seed ^ 1)) * size + drift;
            let y = stage.horizon - up - 0.1 * noise::cell(i, row, seed ^ 2);
            let wide = (0.16 + 0.2 * noise::cell(i, row, seed ^ 3)) * (0.6 + up);
            let colours = field(move |_, py| {
                let t = noise::smooth(y - wide * 0.3, y + wide * 0.02, py);
                with_alpha(mix(bright, shade, t * 0.75), 1.0)
            });
            let depth = 0.97 - up * 0.08;
            stage.add(
                polygon(&heap(x, y, wide, seed ^ i as u32)),
                colours,
                Role::Cloud,
                depth,
            );
        }
    }
}
