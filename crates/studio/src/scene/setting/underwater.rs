//! Below the surface: beams, sand, weed, corals, bubbles.

use tiny_skia::PathBuilder;

use crate::paint::colour::{hex, mix, scale, screen, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Blend, Role};
use crate::scene::stage::{Stage, field};

/// The sea from inside.
pub(crate) fn underwater(stage: &mut Stage) {
    let dark = stage.light.dark * 0.6;
    let tint = stage.dice.pick("tint", 3);
    let top = [hex(0x5fd0dc), hex(0x4fb4e0), hex(0x63d6c0)][tint];
    let low = [hex(0x08304f), hex(0x0b2a5c), hex(0x06393f)][tint];
    let (seed, clock) = (stage.dice.noise("deep"), stage.clock);
    let source = stage.light.sun.0;
    let colours = field(move |x, y| {
        let down = ((y + 0.6) / 1.2).clamp(0.0, 1.0);
        let base = scale(mix(top, low, down.powf(0.8)), 1.0 - dark);
        let turn = (x - source * 0.5) / (y + 1.3);
        let ray = noise::value(turn * 16.0 + clock, clock * 3.0, seed)
            * noise::value(turn * 7.0 - clock, 3.0, seed ^ 1);
        with_alpha(
            screen(
                base,
                scale(top, noise::smooth(0.25, 0.7, ray) * (1.0 - down) * 0.6),
            ),
            1.0,
        )
    });
    let path = stage.everything();
    stage.smooth(path, colours, Role::Sky, 1.0, 1.0 / 200.0);
    rocks(stage, low, top);
    let line = move |x: f32| 0.30 + 0.03 * noise::line(x * 1.8, seed, 2);
    let sand = stage.below(0.008, line);
    let floor = field(move |x, y| {
        let near = (y - line(x)).max(0.0);
        let ripple = (noise::gradient(x * 5.0, y * 8.0, seed) * 5.0 + y * 120.0).sin() * 0.06;
        let net = noise::gradient(x * 14.0 + clock * 4.0, y * 22.0, seed ^ 3).abs()
            + noise::gradient(x * 13.0 - clock * 3.0, y * 20.0, seed ^ 5).abs();
        let caustic = noise::smooth(0.22, 0.0, net) * 0.5;
        let colour = scale(
            mix(hex(0xbfae86), top, 0.35),
            0.75 + ripple + caustic + near * 0.4,
        );
        with_alpha(mix(colour, low, (0.45 - near * 1.6).max(0.0)), 1.0)
    });
    stage.add(sand, floor, Role::Ground, 0.3);
    corals(stage);
}

fn rocks(stage: &mut Stage, low: [f32; 3], top: [f32; 3]) {
    for (row, (base, swing, share)) in [(0.16, 0.16, 0.75), (0.24, 0.13, 0.45)]
        .into_iter()
        .enumerate()
    {
        let seed = stage.dice.noise("reef") ^ row as u32;
        let line = move |x: f32| base - swing * noise::line(x * 2.4, seed, 4).max(-0.4);
        let path = stage.below(0.006, line);
        let colours = field(move |x, y| {
            let rough = noise::fractal(x * 22.0, y * 22.0, seed, 3);
            let rock = scale(
                mix(hex(0x2f4a55), hex(0x3f6a6a), 0.5 + rough),
                0.8 + rough * 0.4 - (y - line(x)) * 0.8,
            );
            with_alpha(mix(rock, mix(low, top, 0.35), share), 1.0)
        });
        let depth = 0.8 - row as f32 * 0.25;
        stage.smooth(path, colours, Role::Far, depth, 1.0 / 420.0);
    }
}

fn corals(stage: &mut Stage) {
    let dice = stage.dice;
    let colours = [
        hex(0xe8627a),
        hex(0xf29a4b),
        hex(0xb066c8),
        hex(0xf2c14e),
        hex(0x4fc3a1),
    ];
    for i in stage.cells(0.11, 0.1) {
        if dice.cell("coral", i, 0) > 0.62 {
            continue;
        }
        let x = (i as f32 + dice.cell("coral", i, 1)) * 0.11;
        let y = 0.33 + 0.09 * dice.cell("coral", i, 2);
        let size = 0.035 + 0.04 * dice.cell("coral", i, 3);
        let colour = mix(
            colours[(noise::hash(i, 0, dice.noise("coral")) % 5) as usize],
            hex(0x1d6a80),
            0.28,
        );
        let mut builder = PathBuilder::new();
        for branch in 0..7 {
            let turn = (branch as f32 / 6.0 - 0.5) * 2.0;
            let (sin, cos) = turn.sin_cos();
            let far = size * (0.8 + 0.5 * dice.cell("branch", i, branch));
            let w = size * 0.11;
            builder.move_to(x - w, y);
            builder.quad_to(
                x + sin * far * 0.3 - w,
                y - cos * far * 0.5,
                x + sin * far - w,
                y - cos * far,
            );
            builder.line_to(x + sin * far + w, y - cos * far);
            builder.quad_to(x + sin * far * 0.3 + w, y - cos * far * 0.4, x + w, y);
            builder.close();
            builder.push_circle(x + sin * far, y - cos * far, w * 1.5);
        }
        let shade =
            field(move |_, py| with_alpha(scale(colour, 0.55 + (y - py) / size * 0.5), 1.0));
        stage.add(builder.finish(), shade, Role::Plant, 0.25);
    }
}

/// Weed and bubbles before the subjects.
pub(crate) fn foreground(stage: &mut Stage) {
    let dice = stage.dice;
    let mut weed = PathBuilder::new();
    for i in stage.cells(0.05, 0.1) {
        let x = (i as f32 + dice.cell("weed", i, 0)) * 0.05;
        if dice.cell("weed", i, 1) > noise::smooth(0.12, 0.45, x.abs()) * 0.8 {
            continue;
        }
        let tall = 0.12 + 0.3 * dice.cell("weed", i, 2);
        let sway =
            (stage.clock * 9.0 + i as f32).sin() * 0.03 + (dice.cell("weed", i, 3) - 0.5) * 0.08;
        weed.move_to(x - 0.008, 0.56);
        weed.cubic_to(
            x - 0.03,
            0.5 - tall * 0.4,
            x + sway + 0.03,
            0.5 - tall * 0.7,
            x + sway,
            0.5 - tall,
        );
        weed.cubic_to(
            x + sway + 0.05,
            0.5 - tall * 0.6,
            x,
            0.5 - tall * 0.3,
            x + 0.012,
            0.56,
        );
        weed.close();
    }
    let leaf = field(move |x, y| {
        let tone = 0.5 + noise::gradient(x * 40.0, y * 8.0, 5) * 0.3 - (y - 0.2) * 0.5;
        with_alpha(scale(hex(0x2e7f62), tone.max(0.2)), 1.0)
    });
    stage.add(weed.finish(), leaf, Role::Plant, 0.05);
    let mut bubbles = PathBuilder::new();
    for i in 0..46 {
        let x = (dice.cell("bubble", i, 0) - 0.5) * 1.6;
        let rise = (dice.cell("bubble", i, 1) + stage.clock * 1.5).rem_euclid(1.0);
        bubbles.push_circle(
            x,
            0.45 - rise * 1.1,
            0.0025 + 0.008 * dice.cell("bubble", i, 2).powi(3),
        );
    }
    let shine = field(|_, _| with_alpha(hex(0xd9f6ff), 0.5));
    stage.blend(bubbles.finish(), shine, Role::Weather, 0.1, Blend::Glow);
}
