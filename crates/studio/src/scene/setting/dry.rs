//! Dry country: dunes and canyons.

use crate::paint::colour::{hex, mix, scale, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Role, polygon};
use crate::scene::stage::{Stage, field};
use crate::scene::terrain;
use crate::scene::terrain::Hills;

pub(crate) fn desert(stage: &mut Stage) {
    let h = stage.horizon;
    let sand = [hex(0xe5b46c), hex(0xd99a5b), hex(0xe8c48a)][stage.dice.pick("sand", 3)];
    if stage.dice.pick("mesa", 2) == 0 {
        mesas(stage, 0.08, 0.8, 0.5);
    }
    for (name, crest, swing, depth) in [
        ("dune 4", h - 0.01, 0.05, 0.72),
        ("dune 3", h + 0.04, 0.06, 0.5),
        ("dune 2", h + 0.12, 0.07, 0.28),
        ("dune 1", h + 0.2, 0.05, 0.12),
    ] {
        let pitch = 1.0 + depth * 1.2;
        terrain::dunes(
            stage,
            Hills {
                name,
                crest,
                swing,
                pitch,
                depth,
                colour: sand,
            },
        );
    }
}

/// Red walls and strata.
pub(crate) fn canyon(stage: &mut Stage) {
    let h = stage.horizon;
    mesas(stage, 0.22, 0.84, 0.34);
    mesas(stage, 0.32, 0.62, 0.5);
    terrain::plain(stage, h + 0.03, hex(0xc98a55), 1.3);
    mesas(stage, 0.5, 0.3, 0.95);
    terrain::dunes(
        stage,
        Hills {
            name: "canyon floor",
            crest: h + 0.2,
            swing: 0.03,
            pitch: 1.6,
            depth: 0.12,
            colour: hex(0xc07d4a),
        },
    );
}

/// Flat-topped rocks with bands.
fn mesas(stage: &mut Stage, height: f32, depth: f32, spacing: f32) {
    let (dice, h) = (stage.dice, stage.horizon + 0.04 * (1.0 - depth));
    let name = if depth > 0.8 {
        "mesa far"
    } else if depth > 0.5 {
        "mesa mid"
    } else {
        "mesa near"
    };
    let foot = h + 0.05 * (1.0 - depth);
    for i in stage.cells(spacing, 0.5) {
        let x = (i as f32 + 0.2 + 0.6 * dice.cell(name, i, 0)) * spacing;
        if depth < 0.4 && x.abs() < 0.3 {
            continue;
        }
        let tall = height * (0.45 + 0.55 * dice.cell(name, i, 1));
        let wide = spacing * (0.18 + 0.22 * dice.cell(name, i, 2));
        let seed = noise::hash(i, 0, dice.noise(name));
        let mut points = Vec::new();
        for step in 0..=30 {
            let t = step as f32 / 15.0 - 1.0;
            let rough = 0.05 * noise::line(t * 6.0, seed, 3);
            let wall = noise::smooth(1.0, 0.78, t.abs());
            let ledge = noise::smooth(1.0, 0.92, t.abs()) * 0.25;
            points.push((
                x + t * wide * 1.35,
                foot - tall * ((wall * 0.75 + ledge) * (1.0 + rough)).min(1.0),
            ));
        }
        let light = stage.light.clone();
        let colours = field(move |px, py| {
            let band = noise::value(4.0, (py + 0.008 * noise::line(px * 7.0, 9, 2)) * 70.0, 21);
            let rock = mix(hex(0xb4552f), hex(0xe3a06a), band);
            let crack = noise::fractal(px * 40.0, py * 7.0, seed, 3);
            let facing = 0.5 + (px - x) / wide * light.side(x) * 0.35 + crack * 0.5;
            with_alpha(
                light.through(
                    light.on(scale(rock, 1.0 + crack * 0.1), facing),
                    depth * 0.75,
                ),
                1.0,
            )
        });
        stage.add(polygon(&points), colours, Role::Far, depth);
    }
}
