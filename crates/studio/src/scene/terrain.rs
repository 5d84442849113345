//! Land: peaks with gullies and snow, soft hills, dunes, plains.

use super::stage::{Stage, field};
use crate::paint::colour::{Rgb, hex, mix, scale, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Role, polygon};

/// World units within which the colours of rock, grass and sand hardly change.
const FINE: f32 = 1.0 / 420.0;

/// A row of peaks.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    /// A name for its choices.
    pub name: &'static str,
    /// World height of its feet.
    pub foot: f32,
    /// Height of the highest peaks.
    pub height: f32,
    pub spacing: f32,
    /// 0 right before the camera, 1 at the horizon.
    pub depth: f32,
    /// Colour of the rock.
    pub rock: Rgb,
    /// Share of the height under snow, 0..1.
    pub snow: f32,
}

/// Adds a row of peaks.
pub(crate) fn range(stage: &mut Stage, range: Range) {
    let dice = stage.dice;
    let mut peaks: Vec<Peak> = stage
        .cells(range.spacing, range.height * 2.0)
        .map(|i| {
            let x = (i as f32 + dice.cell(range.name, i, 1)) * range.spacing;
            let share = dice.cell(range.name, i, 2);
            let tall = range.height * (0.42 + 0.58 * share * share);
            let wide = tall * (0.95 + 0.6 * dice.cell(range.name, i, 3));
            let seed = dice.noise(range.name) ^ noise::hash(i, 4, 9);
            Peak {
                x,
                tall,
                wide,
                seed,
            }
        })
        .collect();
    // The tallest stand behind: lower shoulders overlap their flanks.
    peaks.sort_by(|a, b| b.tall.total_cmp(&a.tall));
    for one in peaks {
        peak(stage, range, one);
    }
}

/// One mountain of a row.
#[derive(Clone, Copy)]
struct Peak {
    /// Where its top is.
    x: f32,
    tall: f32,
    /// Half of its foot.
    wide: f32,
    seed: u32,
}

fn peak(stage: &mut Stage, range: Range, peak: Peak) {
    let Peak {
        x,
        tall,
        wide,
        seed,
    } = peak;
    let top = range.foot - tall;
    let mut points = Vec::new();
    let steps = 36;
    for i in -steps..=steps {
        let t = i as f32 / steps as f32;
        let fall = t.abs().powf(0.86);
        let jag = noise::fractal(t * 7.0 + 3.0, 0.5, seed, 4)
            * 0.09
            * (1.0 - (t.abs() * 2.0 - 1.0).powi(2)).max(0.0);
        points.push((x + t * wide, top + tall * (fall + jag).max(0.0)));
    }
    points.push((x + wide, range.foot + 0.12));
    points.push((x - wide, range.foot + 0.12));
    let light = stage.light.clone();
    let snow_colour = hex(0xf6f9ff);
    let lit_side = light.side(x);
    let colours = field(move |px, py| {
        let down = ((py - top) / tall).max(0.001);
        let wind = noise::fractal(py * 9.0 / tall.max(0.2), 1.7, seed ^ 3, 2) * 0.1 * wide;
        let from_ridge = (px - x - wind * down) / (wide * (down + 0.05));
        let gully = noise::fractal(from_ridge * 4.2, down * 1.8, seed ^ 7, 3);
        let tilt = from_ridge * 2.6 + gully * 1.15;
        let facing = noise::smooth(
            -0.5,
            0.5,
            tilt * lit_side.signum() * lit_side.abs().max(0.4),
        );
        let rock = scale(
            range.rock,
            0.86 + 0.22 * noise::value(px * 60.0, py * 90.0, seed),
        );
        let line = range.snow * (0.62 + 0.5 * gully + 0.2 * facing);
        let cover = noise::smooth(0.06, -0.02, down - line);
        let surface = mix(rock, snow_colour, cover);
        let colour = light.on(surface, 0.12 + 0.88 * facing);
        let low = noise::smooth(0.25, 1.05, down) * 0.45;
        with_alpha(
            light.through(colour, (range.depth + low * light.haze).min(0.97)),
            1.0,
        )
    });
    stage.smooth(polygon(&points), colours, Role::Far, range.depth, FINE);
}

/// A row of soft hills.
#[derive(Clone, Copy)]
pub(crate) struct Hills {
    /// A name for its choices.
    pub name: &'static str,
    /// World height of the middle of the crest line.
    pub crest: f32,
    /// How far the crest line goes up and down.
    pub swing: f32,
    /// How many hills in a world unit.
    pub pitch: f32,
    /// 0 right before the camera, 1 at the horizon.
    pub depth: f32,
    /// Colour of the ground.
    pub colour: Rgb,
}

/// The crest line of hills.
pub(crate) fn crest(stage: &Stage, hills: &Hills) -> impl Fn(f32) -> f32 + Send + Sync + 'static {
    let seed = stage.dice.noise(hills.name);
    let shift = stage.dice.roll(hills.name) * 0.8;
    let (crest, swing, pitch) = (hills.crest, hills.swing, hills.pitch);
    move |x| crest + swing * noise::line((x + shift) * pitch, seed, 3)
}

/// Adds a row of soft hills.
pub(crate) fn hills(stage: &mut Stage, hills: Hills) {
    let line = crest(stage, &hills);
    let path = stage.below(0.004, &line);
    let light = stage.light.clone();
    let seed = stage.dice.noise(hills.name) ^ 0x15;
    let colours = field(move |x, y| {
        let top = line(x);
        let slope = (line(x + 0.02) - top) / 0.02;
        let down = (y - top).max(0.0);
        let facing = 0.55 + slope * light.side(x) * 0.9 - down * 0.9;
        let tuft = noise::fractal(x * 40.0, y * 80.0, seed, 2);
        let patch = noise::gradient(x * 5.0, y * 12.0, seed ^ 2);
        let colour = scale(hills.colour, 1.0 + tuft * 0.16 + patch * 0.14);
        let rim = noise::smooth(0.014, 0.0, down) * 0.25;
        let lit = light.on(colour, (facing + rim).clamp(0.12, 1.0));
        with_alpha(light.through(lit, hills.depth), 1.0)
    });
    stage.smooth(path, colours, Role::Ground, hills.depth, FINE);
}

/// Adds dunes: a sharp crest between a lit and a shaded side.
pub(crate) fn dunes(stage: &mut Stage, hills: Hills) {
    let line = crest(stage, &hills);
    let path = stage.below(0.004, &line);
    let light = stage.light.clone();
    let seed = stage.dice.noise(hills.name) ^ 0x0d;
    let colours = field(move |x, y| {
        let top = line(x);
        let slope = (line(x + 0.015) - line(x - 0.015)) / 0.03;
        let down = (y - top).max(0.0);
        // The shaded side hangs down from the crest like a curtain.
        let reach = 0.05 + 0.22 * noise::value(x * 3.0, 2.0, seed);
        let turned = slope * light.side(x) - 0.08 + down * 0.35 / reach;
        let facing = noise::smooth(-0.12, 0.16, turned);
        let ripple = (noise::gradient(x * 6.0, y * 9.0, seed) * 6.0 + y * 260.0 + x * 40.0).sin();
        let colour = scale(hills.colour, 1.0 + ripple * 0.025 * (1.0 - hills.depth));
        with_alpha(
            light.through(light.on(colour, 0.15 + facing * 0.85), hills.depth),
            1.0,
        )
    });
    stage.smooth(path, colours, Role::Ground, hills.depth, FINE);
}

/// Adds a plain that starts at `top` and comes towards the viewer.
pub(crate) fn plain(stage: &mut Stage, top: f32, colour: Rgb, rough: f32) {
    let seed = stage.dice.noise("plain");
    let line = move |x: f32| top + 0.006 * noise::line(x * 3.0, seed, 2);
    let path = stage.below(0.008, line);
    let light = stage.light.clone();
    let colours = field(move |x, y| {
        let near = ((y - top) / 0.5).clamp(0.0, 1.4);
        // Texture gets finer with distance, as on real ground.
        let size = 1.0 / (0.12 + near);
        let tuft = noise::fractal(x * 18.0 * size, y * 76.0 * size.sqrt(), seed, 2);
        let patch = noise::gradient(x * 3.0 * size.sqrt(), y * 14.0, seed ^ 4);
        let surface = scale(colour, 1.0 + tuft * 0.2 * rough + patch * 0.16 * rough);
        let lit = light.on(surface, 0.72 - near * 0.22);
        with_alpha(
            light.through(lit, (0.42 * (1.0 - near * 1.6)).max(0.0)),
            1.0,
        )
    });
    stage.add(path, colours, Role::Ground, 0.25);
}
