//! Open water: sky in it, waves, the glitter of the light, surf at the shore.

use super::stage::{Stage, field};
use crate::paint::colour::{Rgb, mix, scale, screen, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Role, rectangle};

/// Adds water from the horizon down to `bottom`; `calm` 0..1 mirrors more.
pub(crate) fn water(stage: &mut Stage, bottom: f32, colour: Rgb, calm: f32) {
    let top = stage.horizon;
    let low = bottom.max(top + 0.05).min(stage.view.bottom.max(top) + 0.3);
    let path = rectangle(stage.view.left, top, stage.view.right, low);
    let light = stage.light.clone();
    let colours = field(move |_, y| {
        let near = ((y - top) / 0.55).clamp(0.0, 1.0);
        let deep = light.on(scale(colour, 1.25), 0.55);
        let shine = mix(light.sky[2], light.sky[1], (near * 1.3).min(1.0));
        with_alpha(mix(shine, deep, 0.35 + 0.5 * near), 1.0)
    });
    stage.add(path.clone(), colours, Role::Water, 0.6);
    if calm > 0.05 {
        stage.mirror(path, top, calm * 0.75);
    }
    waves(stage, low, calm);
}

fn waves(stage: &mut Stage, low: f32, calm: f32) {
    let top = stage.horizon;
    let light = stage.light.clone();
    let (seed, clock) = (stage.dice.noise("waves"), stage.clock * 6.0);
    let rough = 1.0 - calm * 0.75;
    let colours = field(move |x, y| {
        let near = (y - top).max(0.0);
        // Rows of waves lie closer together towards the horizon.
        let row = (near + 0.03).ln() * 16.0;
        let size = 3.0 / (0.06 + near);
        let swell = noise::fractal(x * size * 0.5 + clock * 0.3, row + clock * 0.5, seed, 3);
        let crest = noise::smooth(0.18, 0.5, swell) * rough;
        let trough = noise::smooth(-0.2, -0.6, swell) * rough;
        let (sx, _) = light.sun;
        let spread = 0.035 + near * 0.35;
        let path = (-((x - sx) / spread).powi(2)).exp() * light.direct;
        let spark = noise::smooth(
            0.1,
            0.45,
            noise::gradient(x * size * 1.4, row * 3.0 + clock, seed ^ 6),
        );
        let glitter = path * spark * (0.85 - near * 0.7).max(0.15);
        let bright = screen(scale(light.sky[2], 0.95), scale(light.disc, glitter));
        if crest + glitter >= trough {
            with_alpha(bright, (crest * 0.42 + glitter * 0.9).min(0.95))
        } else {
            with_alpha(scale(light.ambient, 0.35), trough * 0.4)
        }
    });
    let path = rectangle(stage.view.left, top, stage.view.right, low);
    stage.add(path, colours, Role::Water, 0.6);
}

/// Adds the wet edge and foam where water meets sand along a wandering line.
pub(crate) fn shore(stage: &mut Stage, line: impl Fn(f32) -> f32 + Send + Sync + 'static) {
    let light = stage.light.clone();
    let (seed, clock) = (stage.dice.noise("foam"), stage.clock);
    let wash = (clock * std::f32::consts::TAU * 2.0).sin() * 0.006;
    let path = stage.below(0.006, |x| line(x) - 0.03);
    let colours = field(move |x, y| {
        let away = y - line(x) - wash - 0.01 * noise::line(x * 9.0, seed, 2);
        if away > 0.05 {
            return [0.0; 4];
        }
        let lace = noise::fractal(x * 40.0, y * 90.0, seed ^ 2, 3);
        let foam = noise::smooth(0.012, 0.0, (away + 0.006).abs()) * (0.75 + lace);
        let wet = noise::smooth(0.05, 0.0, away) * noise::smooth(-0.002, 0.004, away) * 0.4;
        let white = light.on([1.0, 1.0, 1.0], 0.9);
        if foam > wet {
            with_alpha(white, foam.clamp(0.0, 0.95))
        } else {
            with_alpha(scale(light.sky[1], 0.5), wet)
        }
    });
    stage.add(path, colours, Role::Water, 0.3);
}
