//! The sky: colours from the horizon up, sun, moon, stars.

use tiny_skia::PathBuilder;

use super::stage::{Stage, field};
use crate::choices::kinds::{Time, Weather};
use crate::paint::colour::{hex, mix, scale, screen, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Blend, Role, ellipse, rectangle};

/// Adds the sky and what shines in it.
pub(crate) fn sky(stage: &mut Stage) {
    let (light, horizon) = (stage.light.clone(), stage.horizon);
    let glow_size = if light.dark > 0.8 { 9.0 } else { 3.2 };
    let glow_power = light.direct * if light.dark > 0.8 { 0.3 } else { 0.75 };
    let colours = field(move |x, y| {
        let up = ((horizon - y) / 0.8).clamp(-0.2, 1.3);
        let low = mix(light.sky[2], light.sky[1], noise::smooth(-0.05, 0.45, up));
        let base = mix(low, light.sky[0], noise::smooth(0.2, 1.15, up));
        let away = (x - light.sun.0).hypot((y - light.sun.1) * 1.15);
        let glow = (-away * glow_size).exp() * glow_power;
        with_alpha(screen(base, scale(light.disc, glow * 0.8)), 1.0)
    });
    let path = stage.everything();
    stage.smooth(path, colours, Role::Sky, 1.0, 1.0 / 96.0);
    if stage.light.dark > 0.5 && stage.light.direct > 0.5 {
        stars(stage);
    }
    if stage.scene.weather == Weather::Aurora {
        aurora(stage);
    }
    if stage.light.direct > 0.25 && stage.scene.time != Time::Dusk {
        disc(stage);
    }
}

/// Adds stars to the whole sky.
pub(crate) fn stars(stage: &mut Stage) {
    let seed = stage.dice.noise("stars");
    let size = 0.045;
    let mut builder = PathBuilder::new();
    let rows = (stage.view.top / size).floor() as i32..=(stage.view.bottom / size).ceil() as i32;
    for j in rows {
        for i in stage.cells(size, 0.0) {
            if noise::cell(i, j, seed) > 0.6 {
                continue;
            }
            let x = (i as f32 + noise::cell(i, j, seed ^ 1)) * size;
            let y = (j as f32 + noise::cell(i, j, seed ^ 2)) * size;
            let bright = noise::cell(i, j, seed ^ 3).powi(5);
            let r = 0.0008 + 0.0022 * bright;
            builder.push_circle(x, y, r);
        }
    }
    let strength = stage.light.dark;
    let horizon = stage.horizon;
    let twinkle = stage.clock;
    let colours = field(move |x, y| {
        let hue = noise::value(x * 31.0, y * 31.0, 8);
        let flicker = 0.75 + 0.25 * (hue * 40.0 + twinkle * 60.0).sin();
        let low = noise::smooth(0.0, 0.35, horizon - y).max(0.15);
        with_alpha(
            mix(hex(0xbcd4ff), hex(0xfff2d8), hue),
            strength * low * flicker,
        )
    });
    stage.add(builder.finish(), colours, Role::Light, 1.0);
}

fn disc(stage: &mut Stage) {
    let light = stage.light.clone();
    let (x, y) = light.sun;
    let night = light.dark > 0.8;
    let big = if night { 0.062 } else { 0.05 } * stage.dice.between("disc", 0.8, 1.35);
    let phase = if stage.scene.full_moon || !night {
        9.0
    } else {
        stage.dice.between("phase", 0.7, 2.4)
    };
    let seed = stage.dice.noise("moon");
    let colours = field(move |px, py| {
        let (u, v) = ((px - x) / big, (py - y) / big);
        let mut colour = light.disc;
        let mut alpha = 1.0;
        if night {
            let marks = noise::fractal(u * 1.6 + 3.0, v * 1.6, seed, 3);
            colour = mix(
                colour,
                hex(0xb9bcc4),
                noise::smooth(0.05, 0.45, marks) * 0.7,
            );
            let lit = noise::smooth(-0.25, 0.25, phase - 1.0 - u + v * 0.25);
            colour = mix(light.sky[1], colour, lit);
            alpha = 0.25 + 0.75 * lit;
        }
        with_alpha(colour, alpha)
    });
    if night {
        let halo = stage.light.clone();
        let glow = field(move |px, py| {
            let away = ((px - x).hypot(py - y) / big - 1.0).max(0.0);
            with_alpha(halo.disc, 0.30 * (-away * 0.8).exp())
        });
        stage.wash(
            ellipse(x, y, big * 7.0, big * 7.0),
            glow,
            1.0,
            Blend::Glow,
            1.0 / 300.0,
        );
    }
    stage.add(ellipse(x, y, big, big), colours, Role::Light, 1.0);
}

fn aurora(stage: &mut Stage) {
    let (seed, horizon, clock) = (stage.dice.noise("aurora"), stage.horizon, stage.clock);
    let colours = field(move |x, y| {
        let up = horizon - y;
        let mut sum = 0.0;
        for band in 0..3 {
            let b = band as f32;
            let middle =
                0.26 + 0.13 * b + 0.12 * noise::line(x * 1.3 + clock * 2.0, seed + band, 2);
            let ray = 0.55 + 0.45 * noise::value(x * 34.0 + clock * 4.0, b, seed ^ 9);
            let above = up - middle;
            let rise = noise::smooth(-0.03, 0.01, above) * (-above.max(0.0) * 7.0).exp();
            sum += rise * ray * (0.9 - 0.2 * b);
        }
        let colour = mix(hex(0x3df5a0), hex(0xb46cff), noise::smooth(0.25, 0.75, up));
        with_alpha(colour, (sum * 0.75).min(0.85))
    });
    let view = stage.view;
    let path = rectangle(view.left, view.top, view.right, horizon);
    stage.wash(path, colours, 0.99, Blend::Glow, 1.0 / 300.0);
}
