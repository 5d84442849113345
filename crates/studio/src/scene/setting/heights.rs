//! High country: mountains, snow, volcano, waterfall, a sea of clouds.

use super::country;
use crate::choices::kinds::Season;
use crate::paint::colour::{hex, mix, scale, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Blend, Role, ellipse, polygon, rectangle};
use crate::scene::flora::{Tree, Wood};
use crate::scene::stage::{Stage, field};
use crate::scene::terrain::{Hills, Range};
use crate::scene::{flora, terrain};

/// Rows of peaks above a valley.
pub(crate) fn ranges(stage: &mut Stage, share: f32) {
    let h = stage.horizon;
    let rock = [hex(0x6d7486), hex(0x7a6a62), hex(0x5f6f7c)][stage.dice.pick("rock", 3)];
    let snow = if stage.scene.season == Season::Winter {
        0.9
    } else {
        stage.dice.between("snow", 0.3, 0.6)
    };
    let tall = stage.dice.between("tall", 0.36, 0.55) * share;
    for (name, height, spacing, depth, foot) in [
        ("third", tall, 0.5, 0.88, h),
        ("second", tall * 0.72, 0.42, 0.72, h + 0.02),
        ("first", tall * 0.42, 0.34, 0.52, h + 0.035),
    ] {
        let snow = snow * if name == "first" { 0.5 } else { 1.0 };
        terrain::range(
            stage,
            Range {
                name,
                foot,
                height,
                spacing,
                depth,
                rock,
                snow,
            },
        );
        mist(stage, foot - height * 0.12, 0.08, 0.35);
    }
}

/// A band of mist.
pub(crate) fn mist(stage: &mut Stage, y: f32, thick: f32, strength: f32) {
    let light = stage.light.clone();
    let (seed, clock) = (stage.dice.noise("mist"), stage.clock);
    let strength = strength * light.haze;
    let colours = field(move |px, py| {
        let across = ((py - y) / thick).abs();
        let wisps = 0.6 + noise::fractal(px * 3.0 + clock * 2.0, py * 14.0, seed, 3) * 0.7;
        with_alpha(
            light.fog,
            (strength * wisps * noise::smooth(1.0, 0.0, across)).clamp(0.0, 0.9),
        )
    });
    let path = rectangle(stage.view.left, y - thick, stage.view.right, y + thick);
    stage.smooth(path, colours, Role::Cloud, 0.7, 1.0 / 256.0);
}

/// Mountains over a green valley with pines.
pub(crate) fn mountains(stage: &mut Stage) {
    ranges(stage, 1.0);
    let h = stage.horizon;
    let green = mix(super::green::green(stage), hex(0x3f5f3c), 0.35);
    let hill = Hills {
        name: "foothill",
        crest: h + 0.03,
        swing: 0.035,
        pitch: 1.9,
        depth: 0.4,
        colour: green,
    };
    terrain::hills(stage, hill);
    let line = terrain::crest(stage, &hill);
    let pine = pine_colour(stage);
    if !stage.scene.leaves_out("tree") {
        flora::wood(
            stage,
            Wood {
                kind: Tree::Pine,
                tall: 0.07,
                depth: 0.38,
                colour: scale(pine, 0.9),
            },
            line,
        );
    }
    terrain::plain(stage, h + 0.085, green, 1.0);
    country::flanks(stage, Tree::Pine, 2, pine);
    country::flowers(stage, 0.25);
}

fn pine_colour(stage: &Stage) -> [f32; 3] {
    if stage.scene.season == Season::Winter {
        hex(0x7f9aa0)
    } else {
        hex(0x3c6448)
    }
}

/// Snow fields with pines.
pub(crate) fn snow(stage: &mut Stage) {
    ranges(stage, 0.75);
    let h = stage.horizon;
    for (name, crest, depth) in [("drift far", h + 0.02, 0.5), ("drift mid", h + 0.07, 0.3)] {
        terrain::hills(
            stage,
            Hills {
                name,
                crest,
                swing: 0.04,
                pitch: 1.7,
                depth,
                colour: hex(0xeef4fb),
            },
        );
    }
    terrain::plain(stage, h + 0.11, hex(0xf2f6fc), 0.25);
    country::flanks(stage, Tree::Pine, 2, hex(0x5f8088));
}

/// Low drifts of snow before the feet.
pub(crate) fn drifts(stage: &mut Stage) {
    let hill = Hills {
        name: "drift",
        crest: 0.43,
        swing: 0.02,
        pitch: 2.2,
        depth: 0.03,
        colour: hex(0xf6f9ff),
    };
    terrain::hills(stage, hill);
}

/// A mountain of fire.
pub(crate) fn volcano(stage: &mut Stage) {
    let h = stage.horizon;
    let x = stage.dice.between("cone", -0.2, 0.2);
    let (top, wide) = (h - stage.dice.between("cone up", 0.34, 0.44), 0.5);
    smoke(stage, x, top);
    let points: Vec<(f32, f32)> = [
        (-wide, h + 0.06),
        (-0.2, h - 0.13),
        (-0.06, top),
        (-0.02, top + 0.012),
        (0.03, top + 0.008),
        (0.065, top),
        (0.22, h - 0.12),
        (wide, h + 0.06),
    ]
    .into_iter()
    .map(|(dx, y)| (x + dx, y))
    .collect();
    let light = stage.light.clone();
    let (seed, clock) = (stage.dice.noise("lava"), stage.clock);
    let colours = field(move |px, py| {
        let down = ((py - top) / (h - top)).max(0.0);
        let around = (px - x) / (0.07 + down * 0.4);
        let gully = noise::fractal(around * 5.0, down * 2.0, seed, 3);
        let rock = light.on(
            hex(0x4a3f44),
            0.4 + around * light.side(x) * 0.4 + gully * 0.4,
        );
        let stream = noise::line(down * 3.0, seed ^ 2, 2) * 0.35;
        let lava = noise::smooth(0.16, 0.04, (around - stream).abs() / (1.0 - down * 0.6))
            * noise::smooth(1.0, 0.5, down);
        let hot = mix(
            hex(0xff5a1f),
            hex(0xffe27a),
            noise::value(px * 30.0, py * 20.0 - clock * 8.0, 3),
        );
        with_alpha(
            mix(
                light.through(rock, 0.4),
                hot,
                lava.max(noise::smooth(0.05, 0.0, down)),
            ),
            1.0,
        )
    });
    stage.add(polygon(&points), colours, Role::Far, 0.6);
    let glow = field(move |px, py| {
        let away = (px - x).hypot(py - top);
        with_alpha(hex(0xff6a2a), 0.7 * (-away * 9.0).exp())
    });
    stage.wash(
        ellipse(x, top, 0.4, 0.4),
        glow,
        0.6,
        Blend::Glow,
        1.0 / 200.0,
    );
    terrain::hills(
        stage,
        Hills {
            name: "lava hill",
            crest: h + 0.03,
            swing: 0.03,
            pitch: 2.0,
            depth: 0.35,
            colour: hex(0x5b5048),
        },
    );
    terrain::plain(stage, h + 0.08, hex(0x6d6a4a), 1.2);
    country::flanks(stage, Tree::Pine, 1, hex(0x3c5a40));
}

fn smoke(stage: &mut Stage, x: f32, top: f32) {
    let (seed, clock) = (stage.dice.noise("smoke"), stage.clock * 1.5);
    let light = stage.light.clone();
    let colours = field(move |px, py| {
        let up = (top - py).max(0.0);
        let middle = x + up * 0.35 + noise::line(up * 4.0, seed, 2) * 0.06;
        let wide = 0.05 + up * 0.45;
        let puff = noise::fractal(
            (px - middle) * 7.0 / (0.4 + up),
            py * 8.0 + clock * 3.0,
            seed,
            4,
        );
        let alpha = noise::smooth(1.0, 0.35, ((px - middle) / wide).abs() - puff * 0.5);
        let hot = mix(hex(0x6a5a5c), hex(0xff8a4a), (-up * 9.0).exp());
        with_alpha(light.on(scale(hot, 1.2), 0.5 + puff * 0.6), alpha * 0.92)
    });
    let path = rectangle(
        stage.view.left,
        stage.view.top,
        stage.view.right,
        top + 0.03,
    );
    stage.add(path, colours, Role::Cloud, 0.65);
}

/// Falling water between cliffs; says how near the pool comes.
pub(crate) fn waterfall(stage: &mut Stage) -> f32 {
    ranges(stage, 0.6);
    let h = stage.horizon + 0.06;
    let x = stage.dice.between("fall", -0.12, 0.12);
    let top = stage.dice.between("fall top", -0.32, -0.22);
    for side in [-1.0_f32, 1.0] {
        cliff(stage, x, side, top, h);
    }
    let (seed, clock) = (stage.dice.noise("fall"), stage.clock * 10.0);
    let light = stage.light.clone();
    let colours = field(move |px, py| {
        let strand = noise::fractal((px - x) * 60.0, py * 5.0 - clock, seed, 3);
        let white = light.on([1.0, 1.0, 1.0], 0.85);
        let deep = light.on(hex(0x8fc3d6), 0.6);
        with_alpha(mix(deep, white, 0.55 + strand * 0.8), 1.0)
    });
    let fall = polygon(&[
        (x - 0.075, top),
        (x + 0.08, top + 0.005),
        (x + 0.1, h + 0.01),
        (x - 0.1, h + 0.01),
    ]);
    stage.add(fall, colours, Role::Water, 0.45);
    stage.horizon = h;
    country::pond(stage, 0.33);
    mist(stage, h, 0.06, 1.2);
    let green = super::green::green(stage);
    let bank = Hills {
        name: "bank",
        crest: 0.31,
        swing: 0.02,
        pitch: 2.4,
        depth: 0.15,
        colour: green,
    };
    terrain::hills(stage, bank);
    0.28
}

fn cliff(stage: &mut Stage, x: f32, side: f32, top: f32, h: f32) {
    let seed = stage.dice.noise("cliff") ^ u32::from(side > 0.0);
    let edge = x + side * 0.07;
    let reach = if side < 0.0 {
        edge - stage.view.left
    } else {
        stage.view.right - edge
    };
    let count = (reach / 0.02).ceil().clamp(1.0, 900.0) as i32 + 2;
    let far = edge + side * 0.02 * count as f32;
    let mut points: Vec<(f32, f32)> = (0..=count)
        .map(|i| {
            let px = edge + side * 0.02 * i as f32;
            (
                px,
                top - 0.02 - (px - edge).abs() * 0.12 + 0.03 * noise::line(px * 6.0, seed, 3),
            )
        })
        .collect();
    points.push((far, h + 0.02));
    points.push((edge + side * 0.03, h + 0.02));
    let light = stage.light.clone();
    let green = super::green::green(stage);
    let colours = field(move |px, py| {
        let crack = noise::fractal(px * 26.0, py * 6.0, seed, 3);
        let moss = noise::smooth(
            0.1,
            0.5,
            noise::fractal(px * 9.0, py * 16.0, seed ^ 5, 3) + (top + 0.05 - py) * 3.0,
        );
        let rock = mix(hex(0x6f6a66), green, moss * 0.85);
        with_alpha(light.through(light.on(rock, 0.5 + crack * 0.6), 0.3), 1.0)
    });
    stage.add(polygon(&points), colours, Role::Far, 0.45);
}

/// Above the clouds.
pub(crate) fn clouds(stage: &mut Stage) {
    ranges(stage, 0.55);
    let h = stage.horizon;
    for layer in 0..6 {
        let near = layer as f32 / 5.0;
        let base = h + 0.01 + near * near * 0.42;
        let seed = stage.dice.noise("billow") ^ layer;
        let (clock, pitch) = (stage.clock * (0.2 + near * 0.4), 5.0 - near * 3.2);
        let line = move |x: f32| {
            let u = (x + clock) * pitch;
            base - (0.03 + 0.05 * near) * (noise::line(u, seed, 2) + (u * 3.1).sin().abs() * 0.45)
        };
        let path = stage.below(0.006, line);
        let light = stage.light.clone();
        let colours = field(move |x, y| {
            let down = (y - line(x)).max(0.0) / (0.09 + 0.1 * near);
            let puff = noise::fractal(x * 8.0 / (0.4 + near), y * 16.0, seed, 3);
            let bright = mix([1.0, 1.0, 1.0], light.disc, 0.4);
            let tone = light.on(bright, 1.0 - down * 0.75 + puff * 0.35);
            with_alpha(light.through(tone, 0.55 * (1.0 - near)), 1.0)
        });
        stage.add(path, colours, Role::Cloud, 0.8 - near * 0.6);
    }
}
